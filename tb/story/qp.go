package story

import (
	"fmt"

	"rnic/abi"
	"rnic/roce"
)

// qp is a queue pair while it runs.
type qp struct {
	QP
	sqPI, rqPI uint16 // of the last doorbells
	entered    uint16 // unit index behind the last WQE in the outstanding table
	open       []*wr  // of the send queue, not retired, in order
	recvs      []*wr  // of the receive queue, without a CQE, in order
	top        roce.PSN
	any        bool // top is of something
	count      int64
	retry      cause
	answers    []answer // the last packets that came for the responder
	ackPs      int64
	blocked    *Wait // of the WQE that is next
	blockedWR  *wr
	rnr        *cause // an RNR NAK whose wait is not over
	placing    []placed
	receiving  *wr // receive of the message that is coming in
	tries      map[roce.PSN]int
	skipped    []description // requests that pkt_tx was asked for and that did not leave in their turn
}

// cause is why requests are sent again.
type cause struct {
	name    string
	because int
	why     []Event
}

// limits of what a QP remembers.
const (
	mostAnswers = 512
	mostEvents  = 4096
	mostPoints  = 8192
)

// qp is the state of a QP, which begins when it is first heard of.
func (s *side) qp(n uint32) *qp {
	q := s.qps[n]
	if q == nil {
		c := s.context(n)
		q = &qp{retry: cause{name: Unknown, because: -1}}
		q.QP = QP{Host: s.name, QPN: n, Transport: c.Common.Type.String(), Events: []Event{}, Outstanding: [][2]int64{}, SQDepth: [][2]int64{}}
		q.tries = map[roce.PSN]int{}
		s.qps[n] = q
		s.order = append(s.order, q)
	}
	return q
}

// event notes something in the life of a QP.
func (s *side) event(q *qp, a At, format string, args ...any) {
	if len(q.Events) >= mostEvents {
		q.Events = append(q.Events[:0], q.Events[mostEvents/2:]...)
		s.forgot.Events += mostEvents / 2
	}
	q.Events = append(q.Events, Event{a, fmt.Sprintf(format, args...)})
}

// point adds to a series; of those of one time the last counts.
func point(l [][2]int64, ps, n int64) [][2]int64 {
	if k := len(l); k > 0 {
		switch {
		case l[k-1][0] == ps:
			l[k-1][1] = n
			return l
		case l[k-1][1] == n:
			return l
		case k >= mostPoints: // every other one, so that the shape stays
			for i := range k / 2 {
				l[i] = l[2*i+1]
			}
			l = l[:k/2]
		}
	}
	return append(l, [2]int64{ps, n})
}

// admin takes a command of the driver on a QP.
func (s *side) admin(t *tap, cycle uint64) {
	n := uint32(t.u("qpn"))
	switch op := t.name("op"); op {
	case "SRQ_CREATE":
		s.srqs[n] = nil
	case "CREATE":
		if old := s.qps[n]; old != nil {
			s.abandon(old)
		}
		q := s.qp(n)
		q.Transport = t.name("attr.type")
		s.event(q, t.at(cycle, "op"), "created")
	case "MODIFY":
		q := s.qp(n)
		if t.u("attr.attr_mask")&uint64(abi.AttrDestQPN) != 0 {
			s.peer(q, uint32(t.u("attr.dest_qpn")))
		}
		if t.u("attr.attr_mask")&uint64(abi.AttrState) != 0 {
			s.event(q, t.at(cycle, "attr.state"), "the driver takes it to %s", t.name("attr.state"))
			if abi.QPState(t.u("attr.state")) == abi.QPReset {
				s.abandon(q)
			}
		}
	case "DESTROY":
		s.event(s.qp(n), t.at(cycle, "op"), "destroyed")
	}
}

func (s *side) peer(q *qp, n uint32) {
	if q.Peer == n && n != 0 {
		return
	}
	old := s.byPeer[q.Peer]
	for i := range old {
		if old[i] == q {
			s.byPeer[q.Peer] = append(old[:i:i], old[i+1:]...)
			break
		}
	}
	q.Peer = n
	s.byPeer[n] = append(s.byPeer[n], q)
}

// abandon begins a new life of the QP: its queues are empty.
func (s *side) abandon(q *qp) {
	q.sqPI, q.rqPI, q.entered, q.open, q.recvs = 0, 0, 0, nil, nil
	q.placing, q.skipped = nil, nil
	q.any, q.count, q.answers, q.receiving, q.rnr, q.blocked, q.blockedWR = false, 0, nil, nil, nil, nil, nil
	q.retry = cause{name: Unknown, because: -1}
	clear(q.tries)
}
