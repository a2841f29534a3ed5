package rqfetch_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
	rqfetch "rnic/rtl/rq_fetch"
)

// sq is a send queue in host memory whose WQEs are all READs and atomics.
type sq struct {
	qpn  port.QPN
	base port.BusAddr
	log  uint8
	pi   uint16     // next unit
	open []*sendWQE // that may not be overwritten, in order
	next int        // of them, the first whose responses are to come
}

// sendWQE is one of them.
type sendWQE struct {
	idx    uint16
	units  int
	left   int // responses
	answer port.RQWQE
}

// post writes a WQE. What lies beyond its elements is garbage, and so are the
// elements of an atomic behind the first.
func (q *sq) post(m memory, rng *rand.Rand, op abi.WQEOp, sges int) *sendWQE {
	w := &sendWQE{idx: q.pi, left: 1, units: abi.WQEUnits(sges, 0)}
	w.answer.Num = uint8(sges)
	ctrl := abi.WQEControl{Op: op, Index: w.idx, Units: uint8(w.units), NumSGE: uint8(sges), QPN: uint32(q.qpn)}
	data := make([]byte, w.units*abi.UnitSize)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	abi.WQEControlLayout.Encode(&ctrl, data)
	for i := range sges {
		s := abi.SGE{Addr: rng.Uint64(), Length: rng.Uint32(), LKey: abi.Key(rng.Uint32())}
		abi.SGELayout.Encode(&s, data[abi.WQEDataOffset+abi.SGESize*i:])
		w.answer.SGE[i] = port.SGE{VA: port.VA(s.Addr), Len: s.Length, Key: port.Key(s.LKey)}
	}
	q.write(m, q.pi, data)
	q.pi += uint16(w.units)
	return w
}

// write puts bytes into the ring from unit idx on, which may wrap.
func (q *sq) write(m memory, idx uint16, data []byte) {
	for i := 0; i < len(data); i += 16 {
		at := (int(idx)<<6 + i) & (1<<(q.log+6) - 1)
		m[q.base+port.BusAddr(at)] = [16]byte(data[i:])
	}
}

func (q *sq) ahead(w *sendWQE) port.SQAhead {
	return port.SQAhead{QPN: q.qpn, Base: q.base, Log: q.log, Idx: w.idx, Units: uint8(w.units)}
}

func (q *sq) get(w *sendWQE, last bool) port.RQGet {
	return port.RQGet{SQ: true, QPN: q.qpn, Done: last, Ref: port.SQRef{Base: q.base, Log: q.log, Idx: w.idx, Last: last}}
}

// sendQueues gives each QP of the traffic one.
func (x *traffic) sendQueues() {
	x.sqs = map[*ring]*sq{}
	base := port.BusAddr(0x8000_0000)
	for _, r := range x.rings {
		q := &sq{qpn: r.qpn, base: base, log: uint8(3 + x.rng.IntN(4)), pi: uint16(x.rng.Uint32())}
		base += 64<<q.log + 64
		x.sqs[r] = q
	}
}

// response asks for a send WQE, of the oldest or of a new request.
func (x *traffic) response(r *ring, q *sq) {
	if used := q.used(); len(q.open)-q.next < 4 && used+abi.MaxUnits <= 1<<q.log && x.rng.IntN(2) == 0 {
		op, sges := abi.OpRead, x.rng.IntN(abi.MaxSGE+1)
		if x.rng.IntN(3) == 0 {
			op, sges = abi.OpFetchAdd, 1
		}
		w := q.post(x.b.mem, x.rng, op, sges)
		w.left = 1 + x.rng.IntN(3)
		q.open = append(q.open, w)
		if x.rng.IntN(4) > 0 {
			x.b.Ahead.Push(q.ahead(w))
		}
		return
	}
	if q.next == len(q.open) {
		return
	}
	w := q.open[q.next]
	w.left--
	x.b.Get.Push(q.get(w, w.left == 0))
	x.queue = append(x.queue, asked{r: r, send: w, done: w.left == 0})
	x.left--
	if w.left == 0 {
		q.next++
	}
}

// used is the number of units that may not be written.
func (q *sq) used() int {
	if len(q.open) == 0 {
		return 0
	}
	return int(q.pi - q.open[0].idx)
}

// reborn starts a new life of a QP, with the same indices.
func (x *traffic) reborn(r *ring) {
	if q := x.sqs[r]; q != nil && len(q.open) > 0 {
		q.pi, q.next, q.open = q.open[0].idx, 0, nil
	}
}

// TestSendElements: any number of elements, anywhere in the ring, asked for ahead or
// not.
func TestSendElements(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		b := newBench(t, rqfetch.Params{}, hdl.Options{Strict: true}, 0)
		rng := rand.New(rand.NewPCG(3, 3))
		q := &sq{qpn: 7, base: 0x4_0000, log: 3, pi: 0xfff0}
		var want []port.RQWQE
		for i := range 100 {
			w := q.post(b.mem, rng, abi.OpRead, i%(abi.MaxSGE+1))
			if ahead {
				b.Ahead.Push(q.ahead(w))
			}
			require.NoError(t, b.k.Run(b.k.Cycle()+uint64(i)))
			b.Get.Push(q.get(w, true))
			want = append(want, w.answer)
			require.NoError(t, b.k.Run(b.k.Cycle()+150))
		}
		require.Equal(t, want, b.WQE.Got)
		for _, r := range b.Read.Got {
			require.True(t, r.Addr >= q.base && r.Addr+port.BusAddr(r.Len) <= q.base+8*64, "%+v reaches beyond the ring", r)
		}
	}
}

// TestSendLatency: a WQE that was asked for ahead is there, and is read once for all
// of its responses; its line is free after the last.
func TestSendLatency(t *testing.T) {
	for _, c := range []struct {
		sges   int
		cycles uint64
	}{{1, 3}, {6, 3}, {7, 4}, {14, 4}, {15, 5}, {16, 5}} {
		b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
		q := &sq{qpn: 7, base: 0x4_0000, log: 5}
		w := q.post(b.mem, rand.New(rand.NewPCG(3, 3)), abi.OpRead, c.sges)
		b.Ahead.Push(q.ahead(w))
		for i := range 3 {
			b.Get.Push(q.get(w, i == 2))
		}
		b.Get.NotBefore = func(n int) uint64 { return 200 + 50*uint64(n) }
		require.NoError(t, b.k.Run(1000))
		require.Len(t, b.WQE.Got, 3)
		for i, at := range b.WQE.At {
			require.Equal(t, 201+50*uint64(i)+c.cycles, at, "%d elements", c.sges)
			require.Equal(t, w.answer, b.WQE.Got[i])
		}
		require.Len(t, b.Read.Got, 1)
		require.Equal(t, uint32(w.units*64), b.Read.Got[0].Len)
		require.Zero(t, b.Fetch.Lookup.Q.Valid)
	}
}

// TestSendMalformed: what has changed in memory since the WQE was executed is no more
// than an error.
func TestSendMalformed(t *testing.T) {
	for _, c := range []struct {
		name   string
		op     abi.WQEOp
		index  uint16
		num    uint8
		units  int // asked for ahead
		bad    bool
		vendor abi.VendorErr
	}{
		{"stale", abi.OpRead, 5, 1, 1, false, abi.VendorWQEStale},
		{"17 elements", abi.OpRead, 4, 17, 8, false, abi.VendorWQEFormat},
		{"beyond what was read", abi.OpRead, 4, 3, 1, false, abi.VendorWQEFormat},
		{"atomic of two", abi.OpCompareSwap, 4, 2, 1, false, abi.VendorWQEFormat},
		{"unreadable", abi.OpRead, 4, 1, 2, true, abi.VendorWQERead},
		{"unreadable at the ring's beginning", abi.OpRead, 4, 1, 8, true, abi.VendorWQERead},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
			q := &sq{qpn: 7, base: 0x4_0000, log: 3}
			data := make([]byte, 64)
			abi.WQEControlLayout.Encode(&abi.WQEControl{Op: c.op, Index: c.index, NumSGE: c.num}, data)
			q.write(b.mem, 4, data)
			w := &sendWQE{idx: 4, units: c.units}
			if c.bad {
				b.bad[q.base+port.BusAddr((4+c.units-1)%8*64)] = true
			}
			b.Ahead.Push(q.ahead(w))
			b.Get.Push(q.get(w, true))
			b.Get.NotBefore = func(int) uint64 { return 10 }
			require.NoError(t, b.k.Run(1000))
			require.Equal(t, []port.RQWQE{{Err: true, Vendor: c.vendor}}, b.WQE.Got)
		})
	}
}

// TestAheadOfOldLife: a read ahead that comes after the marker of a reset is not
// taken for the next life's.
func TestAheadOfOldLife(t *testing.T) {
	for _, delay := range []uint64{0, 1, 2, 3, 10, 39, 40, 41, 42, 43, 44, 45, 50, 200} {
		b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
		rng := rand.New(rand.NewPCG(3, 3))
		q := &sq{qpn: 7, base: 0x4_0000, log: 3}
		old := q.post(b.mem, rng, abi.OpRead, 2)
		b.Get.Push(port.RQGet{Purge: true, QPN: 7})
		b.Ahead.Push(q.ahead(old))
		b.Ahead.NotBefore = func(n int) uint64 { return 5 + uint64(n)*(delay+1) }
		require.NoError(t, b.k.Run(5+delay))
		q.pi = 0
		w := q.post(b.mem, rng, abi.OpRead, 2)
		b.Ahead.Push(q.ahead(w))
		require.NoError(t, b.k.Run(10+delay))
		b.Get.Push(q.get(w, true))
		require.NoError(t, b.k.Run(1000))
		require.Equal(t, []port.RQWQE{{}, w.answer}, b.WQE.Got, "delay %d", delay)
	}
}

// TestAheadOfAll: more is asked for ahead than there is room for. The receive queue
// keeps its part, and responses get theirs all the same.
func TestAheadOfAll(t *testing.T) {
	b := newBench(t, rqfetch.Params{Lines: 8}, hdl.Options{}, 0)
	rng := rand.New(rand.NewPCG(3, 3))
	q := &sq{qpn: 7, base: 0x4_0000, log: 7}
	var all []*sendWQE
	var want []port.RQWQE
	for range 50 {
		w := q.post(b.mem, rng, abi.OpRead, 2)
		b.Ahead.Push(q.ahead(w))
		all, want = append(all, w), append(want, w.answer)
	}
	require.NoError(t, b.k.Run(500))
	require.Len(t, b.Read.Got, 4, "half of the lines")
	for _, w := range all {
		b.Get.Push(q.get(w, true))
	}
	require.NoError(t, b.k.Run(5000))
	require.Equal(t, want, b.WQE.Got)
	require.Len(t, b.Read.Got, 50)
}

// TestSkipLap: receive WQEs are used up unread until the index comes around; the line
// of the first lap is no longer believed.
func TestSkipLap(t *testing.T) {
	b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
	r := &ring{qpn: 3, base: 0x4000, logStride: 6, log: 4}
	get := port.RQGet{QPN: 3, Addr: r.addr(0), Stride: 64, Log: 4, Done: true}
	b.mem.post(r, 0, abi.RWQEControl{NumSGE: r.wqe(0).Num})
	b.Get.Push(get)
	for i := 1; i < 1<<16; i++ {
		b.Get.Push(port.RQGet{Skip: true, QPN: 3, Idx: uint16(i), Addr: r.addr(uint16(i)), Stride: 64, Log: 4, Done: true})
	}
	require.NoError(t, b.k.Run(1<<16+1000))
	first := r.wqe(0)
	r.life++
	b.mem.post(r, 0, abi.RWQEControl{NumSGE: r.wqe(0).Num})
	b.Get.Push(get)
	require.NoError(t, b.k.Run(1<<16+2000))
	require.NotEqual(t, first, r.wqe(0))
	require.Equal(t, []port.RQWQE{first, r.wqe(0)}, b.WQE.Got)
}
