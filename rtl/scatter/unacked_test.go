package scatter_test

import (
	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// grhBytes is the room for the IP header before the data of a datagram.
const grhBytes = 40

// unacked tells whether the QP answers nothing.
func (q *qp) unacked() bool { return q.transport != roce.RC }

// peersFault tells whether a fault is none of the QP's own.
func peersFault(s abi.WCStatus) bool {
	return s == abi.StatusLocLen || s == abi.StatusRemAccess || s == abi.StatusLocAccess
}

// unacked judges a packet of UC or UD. What can't be executed is dropped with the rest of
// its message.
func (m *model) unacked(q *qp, s *sentPkt, v *port.RxVerdict) {
	p := &s.pkt
	drop := func(c abi.Counter, n *uint64) {
		v.Action, v.Drop = port.RxDrop, c
		*n++
		if n != &m.stats.DropOther {
			m.stats.DropOther++
		}
	}
	starts := p.Opcode.Starts()
	if s.fate == dropped || starts {
		m.giveUp(q, v)
	}
	switch {
	case s.fate == dropped:
		q.skip = true
		drop(abi.OutOfSequence, &m.stats.OutOfSequence)
	case q.skip && !starts:
		drop(abi.RxDropOther, &m.stats.DropOther)
	case p.Opcode.TakesReceive() && q.empty():
		q.skip = true
		drop(abi.OutOfBuffer, &m.stats.OutOfBuffer)
	default:
		m.accept(q, p, v)
	}
}

// giveUp ends a message that is not complete: its receive WQE takes another, or, of a
// shared queue, ends in error.
func (m *model) giveUp(q *qp, v *port.RxVerdict) {
	switch {
	case !q.active:
	case q.srq != nil:
		m.broken(q, v, abi.StatusLocQPOp, abi.VendorRecvSequence)
	default:
		q.active, q.ci = false, q.held
	}
}

// takeBack does what qpc does when a fault was the peer's alone: the QP goes on, from the
// receive WQE of the fault.
func (m *model) takeBack(q *qp, o *port.RxOp, v *port.RxVerdict) {
	require.True(m.b.t, q.unacked() && peersFault(o.Status))
	m.faults[4]++
	v.Drop = abi.RespRemoteAccessErrors
	n := &m.stats.RespRemoteAccess
	if o.Status == abi.StatusLocLen {
		v.Drop, n = abi.RespLocalLengthError, &m.stats.RespLocalLengthError
	}
	*n++
	q.active, q.skip, q.quiet, q.last = false, true, false, -1
	if q.srq != nil {
		return
	}
	q.ci = o.RQIdx
	if q.dead && q.ci != q.pi {
		m.b.QPErr.Push(port.QPError{QPN: q.n})
	}
}

// header places the IP header of a datagram, with which it shows whether all of it fits.
func (m *model) header(w *wqe, s *sentPkt) (abi.WCStatus, abi.VendorErr) {
	if w.wrong == abi.VendorNone && grhBytes+len(s.payload) > w.total {
		return abi.StatusLocLen, abi.VendorRecvTooLong
	}
	n := len(s.header)
	bytes, status, vendor := m.scattered(w, grhBytes-n, s.header)
	if status == abi.StatusSuccess {
		m.write(bytes)
	}
	return status, vendor
}

// unacked makes a packet of UC or UD.
func (x *traffic) unacked(q *qp, s *sentPkt) {
	r := x.rng
	defer func() { q.peer.psn = q.peer.psn.Add(1) }()
	if q.transport == roce.UD {
		s.pkt.Opcode, s.pkt.V6 = pick(r, roce.UDSendOnly, roce.UDSendOnlyImm), r.IntN(2) == 0
		s.header = make([]byte, 20)
		if s.pkt.V6 {
			s.header = make([]byte, grhBytes)
		}
		for i := range s.header {
			s.header[i] = byte(r.Uint32())
		}
		x.fill(s, pick(r, 0, 1, 64, r.IntN(64), r.IntN(x.mtu+1)))
		return
	}
	const ofUC = roce.UCSendOnly ^ roce.RCSendOnly
	if r.IntN(30) == 0 { // some before it are lost
		s.fate, s.pkt.Opcode = dropped, roce.UCSendMiddle
		x.fill(s, x.mtu)
		return
	}
	if x.trouble && r.IntN(20) == 0 { // the rest of a message is lost
		q.peer.req = message{}
	}
	x.request(q, s)
	switch s.pkt.Opcode {
	case roce.RCSendLastInv:
		s.pkt.Opcode = roce.RCSendLast
	case roce.RCSendOnlyInv:
		s.pkt.Opcode = roce.RCSendOnly
	}
	s.pkt.Opcode |= ofUC
	s.pkt.AckReq = false
}
