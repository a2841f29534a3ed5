package atomic_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/atomic"
	"rnic/rtl/port"
)

func add(n port.QPN, psn roce.PSN, addr port.BusAddr, v uint64) port.AtomicReq {
	return port.AtomicReq{QPN: n, PSN: psn, Addr: addr, Op: roce.RCFetchAdd, Swap: v}
}

func swap(n port.QPN, psn roce.PSN, addr port.BusAddr, compare, v uint64) port.AtomicReq {
	return port.AtomicReq{QPN: n, PSN: psn, Addr: addr, Op: roce.RCCmpSwap, Compare: compare, Swap: v}
}

func open(t *testing.T, p atomic.Params, latency uint64) *bench {
	b := newBench(t, hdl.Options{Strict: true}, p, 0, latency)
	t.Cleanup(b.k.Close)
	return b
}

// TestCounter has two QPs add to one word, each with one atomic outstanding.
func TestCounter(t *testing.T) {
	const adds = 10000
	b := newBench(t, hdl.Options{}, atomic.Params{}, 7, 30)
	defer b.k.Close()
	var sent [2]roce.PSN
	next := func(n port.QPN) {
		if sent[n] < adds/2 {
			b.Req.Push(add(n, sent[n], 0x1000, 1))
			sent[n]++
		}
	}
	b.Done.OnTake = func(d port.AtomicDone) { next(d.QPN) }
	next(0)
	next(1)
	b.settle(t, adds)
	require.EqualValues(t, adds, b.Mem.word[0x1000])
	seen := map[uint64]bool{}
	for _, r := range b.Res.Got {
		require.Less(t, r.Value, uint64(adds))
		seen[r.Value] = true
	}
	require.Len(t, seen, adds, "every value is returned once")
}

// TestProgram has random operations end as if done one after the other in the
// order of requests, on each word.
func TestProgram(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		throttle := rapid.Uint64Range(0, 1000).Draw(rt, "throttle")
		latency := rapid.Uint64Range(1, 40).Draw(rt, "latency")
		p := atomic.Params{Slots: rapid.IntRange(1, 8).Draw(rt, "slots")}
		words := rapid.IntRange(1, 10).Draw(rt, "words")
		start := rapid.SliceOfN(rapid.Uint64Range(0, 3), words, words).Draw(rt, "start")
		bad := rapid.IntRange(-4, words-1).Draw(rt, "bad")
		reqs := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) port.AtomicReq {
			return port.AtomicReq{
				QPN:     port.QPN(rapid.IntRange(0, 5).Draw(rt, "qp")),
				Addr:    port.BusAddr(8*rapid.IntRange(0, words-1).Draw(rt, "word") + rapid.IntRange(0, 7).Draw(rt, "low")),
				Op:      rapid.SampledFrom([]roce.Opcode{roce.RCCmpSwap, roce.RCFetchAdd}).Draw(rt, "op"),
				Swap:    rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64()).Draw(rt, "swap"),
				Compare: rapid.Uint64Range(0, 3).Draw(rt, "compare"),
			}
		}), 1, 80).Draw(rt, "reqs")
		for i := range reqs {
			reqs[i].PSN, reqs[i].Slot = roce.PSN(i), uint8(i%16)
		}
		got := hdltest.Identical(rt, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, outcome) {
			b := newBench(rt, o, p, throttle, latency)
			defer b.k.Close()
			for i, v := range start {
				b.Mem.word[port.BusAddr(8*i)] = v
				b.Mem.bad[port.BusAddr(8*i)] = i == bad
			}
			b.Req.Push(reqs...)
			b.settle(rt, len(reqs))
			require.NoError(rt, b.k.Run(b.k.Cycle()+200))
			require.Zero(rt, b.Mem.odd)
			require.LessOrEqual(rt, b.Mem.most, p.Slots)
			return b.k, outcome{b.Res.Got, b.Done.Got, b.Mem.word, b.Mem.written}
		})
		word, res, written := model(start, bad, reqs)
		require.Equal(rt, word, got.word)
		require.Equal(rt, written, got.written, "a compare that fails writes nothing")
		require.Len(rt, got.res, len(reqs))
		for i, r := range got.res {
			require.Equal(rt, res[r.PSN], r)
			require.Equal(rt, port.AtomicDone{QPN: r.QPN, Err: r.Err}, got.done[i])
			delete(res, r.PSN)
		}
	})
}

type outcome struct {
	res     []port.AtomicRes
	done    []port.AtomicDone
	word    map[port.BusAddr]uint64
	written int
}

// model does the requests one after the other.
func model(start []uint64, bad int, reqs []port.AtomicReq) (word map[port.BusAddr]uint64, res map[roce.PSN]port.AtomicRes, written int) {
	word, res = map[port.BusAddr]uint64{}, map[roce.PSN]port.AtomicRes{}
	for i, v := range start {
		word[port.BusAddr(8*i)] = v
	}
	for _, q := range reqs {
		i := q.Addr / 8
		if int(i) == bad {
			res[q.PSN] = port.AtomicRes{QPN: q.QPN, PSN: q.PSN, Slot: q.Slot, Err: true}
			continue
		}
		old := word[8*i]
		res[q.PSN] = port.AtomicRes{QPN: q.QPN, PSN: q.PSN, Slot: q.Slot, Value: old}
		switch {
		case q.Op == roce.RCFetchAdd:
			word[8*i] = old + q.Swap
			written++
		case old == q.Compare:
			word[8*i] = q.Swap
			written++
		}
	}
	return word, res, written
}

// TestOverlap has operations on eight words take hardly longer than one, and on
// one word one after the other.
func TestOverlap(t *testing.T) {
	cycles := func(slots, words int) uint64 {
		b := open(t, atomic.Params{Slots: slots}, 1)
		for i := range 8 {
			b.Req.Push(add(port.QPN(i), 0, port.BusAddr(8*(i%words)), 1))
		}
		b.settle(t, 8)
		return b.Res.At[7]
	}
	one, apart, same := cycles(8, 8), cycles(1, 8), cycles(8, 1)
	t.Logf("8 words %d cycles, 8 words with one slot %d, one word %d", one, apart, same)
	require.LessOrEqual(t, one, uint64(18))
	require.Equal(t, apart, same, "as if there were one slot")
	require.Greater(t, same, 8*one/3)
}

func TestLatency(t *testing.T) {
	b := open(t, atomic.Params{}, 1)
	b.Req.Push(add(1, 5, 0x40, 2))
	b.settle(t, 1)
	// Req is put in cycle 0 and at the head in 1, Read put in 1; the memory takes
	// it in 2 and answers in 3; Write is put in 4; taken in 5, done in 6; told in 7.
	require.Equal(t, []uint64{8}, b.Res.At)
	require.Equal(t, []uint64{8}, b.Done.At)
	require.Equal(t, map[port.BusAddr]uint64{0x40: 2}, maps.Clone(b.Mem.word))
}

// TestBlocked lets responder take nothing for long: what dma answers is taken all
// the same, and words are free for others.
func TestBlocked(t *testing.T) {
	b := open(t, atomic.Params{}, 1)
	b.Res.Shut = true
	for i := range 12 {
		b.Req.Push(swap(port.QPN(i), 0, 8, uint64(i), uint64(i+1)))
	}
	require.NoError(t, b.k.Run(300))
	require.Empty(t, b.Mem.reads)
	require.Empty(t, b.Mem.writes)
	require.EqualValues(t, 8+2, b.Mem.word[8], "two in the stream, eight in slots")
	b.Res.Shut = false
	b.settle(t, 12)
	require.EqualValues(t, 12, b.Mem.word[8])
}
