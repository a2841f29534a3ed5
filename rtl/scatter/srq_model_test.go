package scatter_test

import (
	"slices"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl/hdltest"
	"rnic/rtl/port"
)

// srq is a shared receive queue: a list of entries, of which each is in any slot and names
// the slot of the next.
type srq struct {
	n             port.SRQN
	base          port.BusAddr
	logStride     uint8
	log           uint8
	first         uint16 // number of the first entry ever
	taken, posted uint16 // numbers of the next to take and to post
	tail          uint16 // slot of the next to post
	free          []uint16
	slots         map[uint16]uint16 // by number
	wqes          map[uint16]wqe
}

func newSRQ(n port.SRQN, base port.BusAddr, logStride, log uint8, first uint16) *srq {
	s := &srq{
		n: n, base: base, logStride: logStride, log: log, first: first, taken: first, posted: first,
		slots: map[uint16]uint16{}, wqes: map[uint16]wqe{},
	}
	for slot := uint16(1); slot < 1<<log; slot++ {
		s.free = append(s.free, slot)
	}
	return s
}

// take takes the next entry.
func (s *srq) take() (number uint16, first bool) {
	s.taken++
	return s.taken - 1, s.taken-1 == s.first
}

func (s *srq) describe(i uint16, v *port.RxVerdict) {
	v.SRQ, v.SRQN, v.RQIdx = true, s.n, i
	v.RQAddr, v.RQStride, v.RQNext, v.RQLog = s.base, 1<<s.logStride, s.posted-s.taken, s.log
}

// release gives a slot back when its entry is complete.
func (s *srq) release(t hdltest.T, slot uint16) {
	require.Less(t, slot, uint16(1)<<s.log)
	require.NotContains(t, s.free, slot, "a receive WQE completes twice")
	require.NotEqual(t, s.tail, slot)
	s.free = append(s.free, slot)
}

// postShared fills some of the room of a shared queue, in any order of slots.
func (x *traffic) postShared(s *srq) {
	for n := 1 + x.rng.IntN(1<<s.log); n > 0 && len(s.free) > 0; n-- {
		w := x.newWQE(min(port.MaxSGE, 1<<s.logStride/16-1), 0)
		w.wrong = abi.VendorNone
		for i := range w.list.SGE {
			w.list.SGE[i].Key |= recvKey
		}
		i := x.rng.IntN(len(s.free))
		next := s.free[i]
		s.free = slices.Delete(s.free, i, i+1)
		b := make([]byte, 1<<s.logStride)
		abi.RWQEControlLayout.Encode(&abi.RWQEControl{NumSGE: w.list.Num, Index: s.posted, Next: next}, b)
		x.elements(&w, b[abi.RWQEDataOffset:])
		x.b.host.write(s.base+port.BusAddr(s.tail)<<s.logStride, b)
		s.wqes[s.posted], s.slots[s.posted] = w, s.tail
		s.posted++
		s.tail = next
	}
}

// empty tells whether the QP has no receive WQE to take.
func (q *qp) empty() bool {
	if q.srq != nil {
		return q.srq.taken == q.srq.posted
	}
	return q.ci == q.pi
}

// wqe is a receive WQE of the QP or of its shared queue.
func (q *qp) wqe(i uint16) wqe {
	if q.srq != nil {
		return q.srq.wqes[i]
	}
	return q.wqes[i]
}

// unit is what the completion of a receive WQE calls it.
func (q *qp) unit(i uint16) uint16 {
	if q.srq != nil {
		return q.srq.slots[i]
	}
	return i
}

// broken ends the receive WQE of a shared queue whose message will not be completed, before
// anything else that the verdict asks for.
func (m *model) broken(q *qp, v *port.RxVerdict, s abi.WCStatus, e abi.VendorErr) {
	q.srq.describe(q.held, v)
	v.HasBroken, v.Broken, v.BrokenStatus, v.BrokenVendor = true, q.held, s, e
	q.active = false
	m.ended++
	if q.poison || s == abi.StatusWRFlush {
		m.flushed(q, q.held)
		return
	}
	if q.last != int(q.held) {
		m.wqeFails(q, v, s, e)
	}
}
