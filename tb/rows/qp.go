package rows

import (
	"fmt"
	"slices"

	"rnic/abi"
	"rnic/rtl/port"
	"rnic/waves"
)

// Lanes of a QP: work requests of which each has a row of its own, and one for the rest.
const (
	sendLanes = 9
	recvLanes = 3
)

// qps are the QPs of a host.
type qps struct {
	own    []*shown // from FirstQPN on
	others *shown
	all    map[int]*qp
}

// shown is the rows of a QP, or of all that have none of their own.
type shown struct {
	state, err *waves.Row
	send, recv *lanes
}

// qp is what is known of a QP.
type qp struct {
	n       int
	shown   *shown
	tag     string // names the QP where it has no rows of its own
	state   abi.QPState
	exists  bool
	pi      uint16
	rang    int64  // ps, when its last doorbell of the send queue was at qpc
	bell    bool   // rang is good
	open    []*wr  // in order
	entered uint64 // messages put into the outstanding table
	retired uint64 // of them, over
	recvs   []recv
}

func (s *side) queues() error {
	q := &s.qps
	q.all = map[int]*qp{}
	rows := func(name string) *shown {
		return &shown{
			state: s.row(name + ".state"), err: s.row(name + ".error"),
			send: s.lanes(name+".send", sendLanes), recv: s.lanes(name+".recv", recvLanes),
		}
	}
	for i := range s.o.QPs {
		q.own = append(q.own, rows(fmt.Sprintf("qp_%d", FirstQPN+i)))
	}
	q.others = rows("qp_others")
	n := s.h.NIC
	for _, err := range []error{
		follow(s, "nic.qpc.bell", &n.QPC.Bell, func(now int64, d *port.QPDoorbell) {
			if d != nil && !d.RQ && int(d.QPN) < n.QPC.Common.Depth() {
				x := s.qp(int(d.QPN))
				if !x.bell {
					x.rang, x.bell = now, true
				}
			}
		}),
		s.writes("nic.qpc.common", s.common),
		s.writes("nic.qpc.sq", s.posted),
		follow(s, "nic.retrans.sent", &n.Retrans.Sent, func(now int64, e *port.Sent) {
			if e != nil {
				s.entered(now, e)
			}
		}),
		follow(s, "nic.qpc.retire", &n.QPC.Retire, func(now int64, r *port.Retire) {
			if r != nil {
				s.retire(now, r)
			}
		}),
		follow(s, "nic.retrans.ack", &n.Retrans.Ack, s.rewound),
		follow(s, "nic.retrans.event", &n.Retrans.Event, s.rewound),
		follow(s, "nic.cq_writer.send", &n.CQWriter.Send, func(now int64, e *port.CQEReq) {
			if e != nil && !e.Purge {
				s.completed(now, e)
			}
		}),
		follow(s, "nic.dma.write_2.data", &n.Dma.Write[2].Data, s.written),
		follow(s, "nic.cq_writer.recv", &n.CQWriter.Recv, func(now int64, e *port.CQEReq) {
			if e != nil && !e.Purge {
				s.filled(now, e)
			}
		}),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// qp is what is known of a QP.
func (s *side) qp(n int) *qp {
	q := s.qps.all[n]
	if q == nil {
		q = &qp{n: n}
		if i := n - FirstQPN; i >= 0 && i < len(s.qps.own) {
			q.shown = s.qps.own[i]
		} else {
			q.shown, q.tag = s.qps.others, fmt.Sprintf("qp=%d ", n)
		}
		s.qps.all[n] = q
	}
	return q
}

// common looks at a context that was written.
func (s *side) common(now int64, n int) {
	c := s.h.NIC.QPC.Common.Peek(n)
	q := s.qp(n)
	if c.Exists == q.exists && c.State == q.state {
		return
	}
	q.exists, q.state = c.Exists, c.State
	text := ""
	if c.Exists {
		text = q.tag + c.State.String()
	}
	q.shown.state.Set(now, text)
	if !c.Exists || c.State == abi.QPReset {
		q.reset(now)
	}
}

// reset ends all that is under way.
func (q *qp) reset(now int64) {
	for _, w := range q.open {
		q.shown.send.close(w.lane, now)
	}
	for _, r := range q.recvs {
		q.shown.recv.close(r.lane, now)
	}
	q.open, q.recvs, q.entered, q.retired, q.pi, q.bell = nil, nil, 0, 0, 0, false
}

// failed shows a completion in error.
func (s *side) failed(now int64, q *qp, what string, e *port.CQEReq) {
	text := fmt.Sprintf("%s%s %v", q.tag, what, e.Status)
	if e.Vendor != 0 {
		text += fmt.Sprintf(" (%v)", e.Vendor)
	}
	s.pulses.show(q.shown.err, now, PulseCycles*s.period, text)
	if s.faulty = append(s.faulty, faulty{q.n, e.UnitIdx, e.Opcode & abi.WCRecv, what}); len(s.faulty) > mostFaulty {
		s.faulty = s.faulty[1:] // of a CQ that takes none
	}
}

// faulty is a completion in error on its way to its CQ.
type faulty struct {
	qpn   int
	index uint16
	recv  abi.WCOpcode // WCRecv or 0
	what  string
}

const mostFaulty = 4096

// written looks for the completion of a CQE that is written.
func (s *side) written(now int64, b *port.Beat) {
	var e abi.CQE
	if b == nil || len(s.faulty) == 0 || int(b.Len) != abi.CQESize || abi.CQELayout.Decode(b.Data[:b.Len], &e) != nil {
		return
	}
	for i, f := range s.faulty {
		if f.qpn == int(e.QPN) && f.index == e.Index && f.recv == e.Opcode&abi.WCRecv {
			s.event(CQEError, now, fmt.Sprintf("qp=%d %s %v", f.qpn, f.what, e.Status), uint32(e.QPN), 0)
			s.faulty = slices.Delete(s.faulty, i, i+1)
			return
		}
	}
}
