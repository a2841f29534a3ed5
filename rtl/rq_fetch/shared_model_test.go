package rqfetch_test

import (
	"slices"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/rtl/port"
	rqfetch "rnic/rtl/rq_fetch"
)

// order is in which order the slots of a shared queue come back into use.
type order int

const (
	inOrder  order = iota
	anyOrder       // at random
	lastIn         // the one freed last
	nearby         // one of the oldest few
	highest        // the one with the highest number
)

// srq is a shared receive queue in host memory: the driver's side, and the QPs that take
// its entries.
type srq struct {
	srqn           port.SRQN
	base           port.BusAddr
	log, logStride uint8
	order          order
	fault          bool // entries that can't be followed, now and then

	pi, ci  uint16 // numbers
	first   bool   // nothing has been taken yet
	dead    bool
	coming  uint16   // slot of the entry posted next
	free    []uint16 // other slots that are free, the one freed first in front
	entries map[uint16]*entry
	qps     []sharedQP
	open    int // requests without an answer
}

type entry struct {
	slot   uint16
	list   port.RQWQE
	vendor abi.VendorErr
}

// sharedQP may hold an entry.
type sharedQP struct {
	qpn    port.QPN
	holds  bool
	num    uint16
	ending bool // the last request for it is under way
}

// sharedGet is a request whose answer is due.
type sharedGet struct {
	q    *srq
	qp   *sharedQP
	want port.RQWQE
	num  uint16
	done bool
}

func newSRQ(x *traffic, n port.SRQN, base port.BusAddr, log, logStride uint8, o order, qps int) *srq {
	q := &srq{srqn: n, base: base, log: log, logStride: logStride, order: o}
	for i := range qps {
		q.qps = append(q.qps, sharedQP{qpn: port.QPN(512 + int(n)*40 + i)})
	}
	q.create(x)
	return q
}

// create begins a life.
func (q *srq) create(x *traffic) {
	q.ci = pick(x.rng, 0, uint16(x.rng.Uint32()))
	q.pi, q.first, q.dead, q.coming, q.free, q.entries = q.ci, true, false, 0, nil, map[uint16]*entry{}
	for s := uint16(1); s < 1<<q.log; s++ {
		q.free = append(q.free, s)
	}
	for i := range q.qps {
		q.qps[i].holds, q.qps[i].ending = false, false
	}
}

func (q *srq) addr(slot uint16) port.BusAddr { return q.base + port.BusAddr(slot)<<q.logStride }

// chosen takes a free slot.
func (q *srq) chosen(x *traffic) (slot uint16) {
	i := 0
	switch q.order {
	case anyOrder:
		i = x.rng.IntN(len(q.free))
	case lastIn:
		i = len(q.free) - 1
	case nearby:
		i = x.rng.IntN(min(len(q.free), 4))
	}
	if q.order == highest {
		i = slices.Index(q.free, slices.Max(q.free))
	}
	slot = q.free[i]
	q.free = append(q.free[:i:i], q.free[i+1:]...)
	return slot
}

// post posts up to n entries.
func (q *srq) post(x *traffic, n int) {
	for ; n > 0 && len(q.free) > 0 && !q.dead; n-- {
		e := &entry{slot: q.coming}
		q.coming = q.chosen(x)
		most := min(port.MaxSGE, 1<<q.logStride/16-1)
		e.list.Num, e.list.Slot = uint8(x.rng.IntN(most+1)), e.slot
		for i := range e.list.Num {
			e.list.SGE[i] = port.SGE{VA: port.VA(x.rng.Uint64()), Len: x.rng.Uint32(), Key: port.Key(x.rng.Uint32())}
		}
		ctrl := abi.RWQEControl{NumSGE: e.list.Num, Index: q.pi, Next: q.coming}
		if q.fault && x.rng.IntN(60) == 0 {
			if e.vendor = abi.VendorWQEFormat; x.rng.IntN(3) == 0 {
				e.vendor = abi.VendorWQEStale
				ctrl.Index += uint16(1 + x.rng.IntN(1<<16-1))
			} else {
				ctrl.NumSGE = uint8(most + 1)
			}
		}
		x.b.mem.put(q.addr(e.slot), q.logStride, ctrl, e.list)
		q.entries[q.pi] = e
		q.pi++
	}
}

// next makes the next request, if one is possible.
func (q *srq) next(x *traffic) bool {
	if q.dead && q.open == 0 && x.rng.IntN(4) == 0 {
		q.create(x)
	}
	if n := x.rng.IntN(1 << (q.log + 1)); x.rng.IntN(3) > 0 {
		q.post(x, pick(x.rng, 1, n))
	}
	p := &q.qps[x.rng.IntN(len(q.qps))]
	switch {
	case p.ending:
		return false
	case p.holds:
		q.ask(x, p, port.RQGet{})
		return true
	case q.ci == q.pi:
		return false
	}
	p.holds, p.num = true, q.ci
	q.ci++
	q.ask(x, p, port.RQGet{Take: true, First: q.first})
	q.first = false
	return true
}

// ask asks for the entry that a QP holds, for the last time maybe.
func (q *srq) ask(x *traffic, p *sharedQP, g port.RQGet) {
	g.SRQ, g.SRQN, g.QPN, g.Idx, g.Addr, g.Stride, g.Log, g.Next = true, q.srqn, p.qpn, p.num, q.base, 1<<q.logStride, q.log, q.pi-q.ci
	g.Done = x.rng.IntN(3) > 0
	a := &sharedGet{q: q, qp: p, num: p.num, done: g.Done}
	switch e := q.entries[p.num]; {
	case e == nil:
		a.want = port.RQWQE{Err: true, Vendor: abi.VendorWQERead, Slot: rqfetch.NoSlot}
	case e.vendor != abi.VendorNone:
		a.want = port.RQWQE{Err: true, Vendor: e.vendor, Slot: e.slot}
	default:
		a.want = e.list
	}
	if e := q.entries[p.num]; g.Take && e != nil && e.vendor == abi.VendorWQEStale {
		q.dead = true
		q.entries = map[uint16]*entry{} // nobody knows where the others are
		for i := range q.qps {
			if h := &q.qps[i]; h.holds && h.num != p.num {
				h.ending = true // no more requests of this life, but those under way
			}
		}
		q.entries[p.num] = e
	}
	p.ending = p.ending || g.Done
	q.open++
	x.b.Get.Push(g)
	x.queue = append(x.queue, asked{done: g.Done, shared: a})
	x.left--
}

// check checks an answer. A slot that is free has an entry that is not complete: that to
// be posted soon, as it seems.
func (a *sharedGet) check(x *traffic, w port.RQWQE) {
	q := a.q
	require.Equal(x.t, a.want, w, "SRQ %d entry %d", q.srqn, a.num)
	q.open--
	if !a.done {
		return
	}
	a.qp.holds, a.qp.ending = false, false
	if q.dead {
		return
	}
	slot := w.Slot
	delete(q.entries, a.num)
	q.free = append(q.free, slot)
	soon := q.pi + uint16(x.rng.IntN(1<<q.log))
	x.b.mem.put(q.addr(slot), q.logStride, abi.RWQEControl{Index: soon, Next: uint16(x.rng.IntN(1 << q.log))}, port.RQWQE{})
}

func pick[T any](r interface{ IntN(int) int }, v ...T) T { return v[r.IntN(len(v))] }
