package rqfetch_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/port"
	rqfetch "rnic/rtl/rq_fetch"
)

// sharedTraffic is traffic with shared queues besides.
func sharedTraffic(t hdltest.T, b *bench, seed uint64, qps, srqs, gets int) *traffic {
	x := newTraffic(t, b, seed, qps, 0)
	x.left = gets
	base := port.BusAddr(0x4000_0000)
	for i := range srqs {
		log, stride := uint8(1+x.rng.IntN(8)), uint8(4+x.rng.IntN(6))
		x.srqs = append(x.srqs, newSRQ(x, port.SRQN(i*37%64), base, log, stride, order(x.rng.IntN(4)), 1+x.rng.IntN(12)))
		x.srqs[i].fault = x.rng.IntN(2) == 0
		for j := range x.srqs[i].qps { // queues have numbers of QPs too
			x.srqs[i].qps[j].qpn = port.QPN(512 + 40*i + j)
		}
		base += 1<<(log+stride) + port.BusAddr(64*x.rng.IntN(4))
	}
	return x
}

// TestShared: shared queues between receive queues and send queues, with rings and strides
// of all sizes and slots that come back in all orders.
func TestShared(t *testing.T) {
	for _, c := range []struct {
		name      string
		p         rqfetch.Params
		qps, srqs int
		throttle  uint64
	}{
		{"default", rqfetch.Params{}, 10, 5, 0},
		{"throttled", rqfetch.Params{}, 10, 5, 5},
		{"many", rqfetch.Params{Lines: 16}, 40, 12, 9},
		{"least", rqfetch.Params{Lines: 2, Gets: 2}, 3, 3, 13},
		{"alone", rqfetch.Params{}, 0, 1, 17},
	} {
		t.Run(c.name, func(t *testing.T) {
			hdltest.Identical(t, hdl.Options{Seed: 1}, func(o hdl.Options) (hdltest.Digester, int) {
				b := newBench(t, c.p, o, c.throttle)
				x := sharedTraffic(t, b, 3, c.qps, c.srqs, 2000)
				x.purge, x.fault = true, true
				x.sendQueues()
				x.more()
				require.NoError(t, b.k.Run(1_000_000))
				require.Zero(t, x.left)
				x.skipped()
				require.Empty(t, x.queue, "requests without an answer")
				return b.k, len(b.WQE.Got)
			})
		})
	}
}

// TestSharedAnySize is one shared queue of any kind.
func TestSharedAnySize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rqfetch.Params{Lines: rapid.SampledFrom([]int{2, 3, 8, 64}).Draw(t, "lines"), Gets: rapid.IntRange(2, 8).Draw(t, "gets")}
		b := newBench(t, p, hdl.Options{}, rapid.Uint64Range(0, 3).Draw(t, "throttle"))
		x := newTraffic(t, b, rapid.Uint64().Draw(t, "seed"), 0, 0)
		x.left = 300
		log, stride := uint8(rapid.IntRange(1, 9).Draw(t, "log")), uint8(rapid.IntRange(4, 9).Draw(t, "stride"))
		q := newSRQ(x, 9, 0x10000, log, stride, order(rapid.IntRange(0, 3).Draw(t, "order")), rapid.IntRange(1, 20).Draw(t, "qps"))
		q.fault = rapid.Bool().Draw(t, "fault")
		x.srqs = append(x.srqs, q)
		x.more()
		require.NoError(t, b.k.Run(1_000_000))
		require.Zero(t, x.left)
		require.Empty(t, x.queue, "requests without an answer")
	})
}

// runShared has QPs take n entries of a queue, each for the last time. All slots are posted
// anew as soon as they are free, or as long as not deep entries are, and all in the end.
func runShared(t *testing.T, o order, logStride, log uint8, n, deep int) (cycles float64, b *bench) {
	b = newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
	if b.latency = 125; deep != 0 {
		b.latency = 5
	}
	x := newTraffic(t, b, 1, 0, 0)
	q := newSRQ(x, 1, 0x10000, log, logStride, o, 64)
	x.srqs = append(x.srqs, q)
	asked := 0
	more := func() {
		if deep == 0 || asked > n-100 || int(q.pi-q.ci) < deep {
			q.post(x, max(deep, 1))
		}
		for deep == 0 && len(q.free) > 0 {
			q.post(x, 1)
		}
		for asked < n && len(x.queue) < 24 && q.ci != q.pi {
			p := &q.qps[asked%len(q.qps)]
			p.holds, p.num = true, q.ci
			q.ci++
			a := &sharedGet{q: q, qp: p, num: p.num, done: true, want: q.entries[p.num].list}
			b.Get.Push(port.RQGet{
				SRQ: true, Take: true, First: q.first, SRQN: q.srqn, QPN: p.qpn, Idx: p.num, Addr: q.base,
				Stride: 1 << logStride, Log: log, Next: q.pi - q.ci, Done: true,
			})
			x.queue = append(x.queue, askedOf(a))
			q.open, q.first = q.open+1, false
			asked++
		}
	}
	b.WQE.OnTake = func(w port.RQWQE) {
		a := x.queue[0]
		x.queue = x.queue[1:]
		a.shared.check(x, w)
		more()
	}
	more()
	require.NoError(t, b.k.Run(2_000_000))
	require.Equal(t, n, len(b.WQE.Got))
	from := n / 4
	return float64(b.WQE.At[n-1]-b.WQE.At[from]) / float64(n-1-from), b
}

func askedOf(a *sharedGet) asked { return asked{done: a.done, shared: a} }

// TestSharedRate: a shared queue whose slots are used in order gives an entry every 4
// cycles at least.
func TestSharedRate(t *testing.T) {
	for _, c := range []struct {
		name        string
		order       order
		stride, log uint8
		most        float64
	}{
		{"in order, 32 bytes", inOrder, 5, 9, 4},
		{"in order, 64 bytes", inOrder, 6, 9, 4},
		{"in order, 64 bytes, much larger than the pool", inOrder, 6, 12, 4},
		{"in order, 128 bytes", inOrder, 7, 9, 4},
		{"in order, 512 bytes", inOrder, 9, 9, 20},
		{"nearly in order, 64 bytes", nearby, 6, 9, 4},
		{"nearly in order, 64 bytes, much larger than the pool", nearby, 6, 12, 4},
		{"any order, 64 bytes", anyOrder, 6, 9, 25},
		{"any order, 64 bytes, much larger than the pool", anyOrder, 6, 12, 150},
		{"the last freed first, 64 bytes", lastIn, 6, 9, 25},
		{"the last freed first, 64 bytes, much larger than the pool", lastIn, 6, 12, 150},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n = 4000
			per, b := runShared(t, c.order, c.stride, c.log, n, 0)
			t.Logf("%.2f cycles an entry, %.2f reads", per, float64(len(b.Read.Got))/n)
			require.LessOrEqual(t, per, c.most)
			if c.order == inOrder {
				require.LessOrEqual(t, len(b.Read.Got), n>>(9-c.stride)+16, "every line is read once")
			}
		})
	}
}

// TestSharedUnreadable: what can't be read ends the list, and not what is held already.
func TestSharedUnreadable(t *testing.T) {
	b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
	const base, stride, log = 0x10000, 9, 3
	for i := range uint16(7) {
		b.mem.put(base+port.BusAddr(i)<<stride, stride, abi.RWQEControl{Index: i, Next: i + 1, NumSGE: 1}, port.RQWQE{Num: 1})
	}
	b.bad[base+2<<stride] = true
	get := func(q port.QPN, take bool, i uint16) {
		b.Get.Push(port.RQGet{
			SRQ: true, SRQN: 4, Take: take, First: take && i == 0, QPN: q, Idx: i, Addr: base, Stride: 1 << stride, Log: log, Next: 6 - i,
		})
	}
	get(1, true, 0)
	get(2, true, 1)
	get(3, true, 2)
	get(4, true, 3)
	get(1, false, 0)
	get(3, false, 2)
	get(4, false, 3)
	b.Get.Push(port.RQGet{Purge: true, QPN: 4})
	get(4, true, 0) // a new life of the queue
	require.NoError(t, b.k.Run(10_000))
	ok := func(slot uint16) port.RQWQE { return port.RQWQE{Slot: slot, Num: 1} }
	bad := func(slot uint16) port.RQWQE { return port.RQWQE{Slot: slot, Err: true, Vendor: abi.VendorWQERead} }
	require.Equal(t, []port.RQWQE{
		ok(0), ok(1), bad(2), bad(rqfetch.NoSlot), ok(0), bad(2), bad(rqfetch.NoSlot), {}, ok(0),
	}, b.WQE.Got)
}

// TestSharedErrorAhead: a line that could not be read ahead is read again for the entry
// that is asked for.
func TestSharedErrorAhead(t *testing.T) {
	b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
	const base, stride, log = 0x10000, 8, 4
	for i := range uint16(15) {
		b.mem.put(base+port.BusAddr(i)<<stride, stride, abi.RWQEControl{Index: i, Next: i + 1, NumSGE: 1}, port.RQWQE{Num: 1})
		b.Get.Push(port.RQGet{
			SRQ: true, Take: true, First: i == 0, QPN: 1, Idx: i, Addr: base, Stride: 1 << stride, Log: log, Next: 14 - i,
		})
	}
	b.Get.NotBefore = func(n int) uint64 { return uint64(n) * 300 }
	b.bad[base+6<<stride] = true
	b.WQE.OnTake = func(port.RQWQE) { clear(b.bad) }
	require.NoError(t, b.k.Run(10_000))
	require.Len(t, b.WQE.Got, 15)
	for i, w := range b.WQE.Got {
		require.Equal(t, port.RQWQE{Slot: uint16(i), Num: 1}, w)
	}
}

// TestSharedOld: a line that was read so long ago that numbers have come round is none.
func TestSharedOld(t *testing.T) {
	_, b := runShared(t, highest, 6, 6, 1<<15+2000, 12)
	low := 99
	for _, w := range b.WQE.Got[1<<15:] {
		low = min(low, int(w.Slot))
	}
	require.LessOrEqual(t, low, 3, "a slot of the first line is used again")
}

// TestSharedErrorHeld: what a QP holds is read again if its line has gone bad meanwhile.
func TestSharedErrorHeld(t *testing.T) {
	b := newBench(t, rqfetch.Params{Lines: 2}, hdl.Options{}, 0)
	const base, stride, log = 0x10000, 6, 4
	for i := range uint16(15) {
		b.mem.put(base+port.BusAddr(i)<<stride, stride, abi.RWQEControl{Index: i, Next: i + 1, NumSGE: 1}, port.RQWQE{Num: 1})
	}
	get := func(take bool, q port.QPN, i uint16, posted uint16) {
		b.Get.Push(port.RQGet{
			SRQ: true, Take: take, First: take && i == 0, QPN: q, Idx: i, Addr: base, Stride: 1 << stride, Log: log, Next: posted - i,
		})
	}
	get(true, 1, 0, 1) // reads two entries
	get(true, 2, 1, 1)
	get(true, 3, 2, 14) // reads the line again
	get(false, 1, 0, 14)
	get(false, 1, 0, 14)
	b.Get.NotBefore = func(n int) uint64 { return uint64(n) * 300 }
	b.WQE.OnTake = func(port.RQWQE) {
		clear(b.bad)
		if len(b.WQE.Got) == 1 {
			b.bad[base] = true
		}
	}
	require.NoError(t, b.k.Run(10_000))
	require.Len(t, b.WQE.Got, 5)
	for i, w := range b.WQE.Got {
		require.Equal(t, port.RQWQE{Slot: [...]uint16{0, 1, 2, 0, 0}[i], Num: 1}, w, "answer %d", i)
	}
}
