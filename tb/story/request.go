package story

import (
	"rnic/roce"
)

// description is a packet as wqe_sched or responder gave it to pkt_tx, that has not left.
type description struct {
	q       *qp
	op      roce.Opcode
	psn     roce.PSN
	payload int
	resp    bool
	again   bool
	wr      *wr // of a request
	at      At
	retry   cause // of its queue then: the last one may have come while its frame was leaving
}

// mostAsked is more than pkt_tx holds.
const mostAsked = 1024

func (s *side) watchRequests() {
	s.service = s.hub.stream("nic.wqe_sched.exec.service", s.closes, "verdict", "ctx.qpn", "ctx.exec_idx", "ctx.window", "ctx.messages", "entries", "ctx.reads", "ctx.reading", "ctx.credits")
	s.wqe = s.hub.tap("nic.wqe_sched.exec.wqe", ".head.", "op", "kind")
	s.exec = s.hub.tap("nic.wqe_sched.exec", ".", "open", "at.idx", "at.window", "at.budget", "at.entries", "at.reads", "at.reading", "at.credits")
	s.hub.stream("nic.qpc.put", s.closed, "qpn", "exec_idx", "fault")
	s.hub.stream("nic.retrans.sent", s.enters, "qpn", "kind", "unit_idx", "op", "signaled", "first_psn", "last_psn", "byte_len", "status", "vendor")
	fields := []string{"purge", "qpn", "resp", "again", "opcode", "psn", "len", "wqe_idx", "num_pieces"}
	s.hub.stream("nic.pkt_tx.ask.req", s.asks, fields...)
	s.hub.stream("nic.pkt_tx.ask.resp", s.asks, fields...)
}

// executing is the index of the WQE that wqe_sched has at the head.
func (s *side) executing() uint16 {
	if s.exec.is("open") {
		return uint16(s.exec.u("at.idx"))
	}
	return uint16(s.service.u("ctx.exec_idx"))
}

// after looks at the WQE that is to be executed in a cycle.
func (s *side) after(cycle uint64) {
	if s.stats.fresh {
		s.stats.fresh = false
		s.counted(cycle)
	}
	if !s.wqe.valid || !s.service.valid || s.service.name("verdict") != "RUN" || s.wqe.name("kind") == "END" {
		return
	}
	q := s.qps[uint32(s.service.u("ctx.qpn"))]
	if q == nil || len(q.open) == 0 {
		return
	}
	if w := q.find(s.executing()); w != nil && w.at(WQERead) == nil {
		w.stage(WQERead, s.wqe.at(cycle, "op"))
		if d := w.at(Doorbell); d != nil && !w.pushed {
			w.wait(d.Ps, int64(cycle)*periodPs, ForPCIe, s.wqe.at(cycle, "op"))
		}
	}
}

// find is the open WR of a WQE.
func (q *qp) find(index uint16) *wr {
	for _, w := range q.open {
		if w.Index == index {
			return w
		}
	}
	return nil
}

// enters takes a WQE into the outstanding table.
func (s *side) enters(t *tap, cycle uint64) {
	q := s.qp(uint32(t.u("qpn")))
	w := q.find(uint16(t.u("unit_idx")))
	if w == nil {
		return
	}
	w.entered, w.wire = true, t.name("kind") == "WIRE"
	w.first, w.last = roce.PSN(t.u("first_psn")), roce.PSN(t.u("last_psn"))
	w.Op, w.Bytes, w.Signalled = t.name("op"), t.u("byte_len"), t.is("signaled")
	if w.wire {
		w.Needs = int(uint32(w.last-w.first)&0xffffff) + 1
		if w.read {
			w.Needs = 1
		}
	}
	shows := "first_psn"
	if !w.wire {
		w.Vendor = t.name("vendor")
		shows = "status"
	}
	a := t.at(cycle, shows)
	w.stage(Entered, a)
	s.unblock(q, w, cycle)
	q.count++
	q.entered = w.Index + uint16(w.units)
	q.Outstanding = point(q.Outstanding, a.Ps, q.count)
	q.SQDepth = point(q.SQDepth, a.Ps, int64(q.sqPI-q.entered))
}

// asks takes a packet that pkt_tx is to send.
func (s *side) asks(t *tap, cycle uint64) {
	if t.is("purge") {
		return
	}
	d := description{
		q: s.qp(uint32(t.u("qpn"))), op: roce.Opcode(t.u("opcode")), psn: roce.PSN(t.u("psn")),
		payload: int(t.u("len")), resp: t.is("resp"), again: t.is("again"), at: t.at(cycle, "psn"),
	}
	d.retry = d.q.retry
	if !d.resp {
		d.wr = d.q.find(uint16(t.u("wqe_idx")))
		if w := d.wr; w != nil {
			s.unblock(d.q, w, cycle)
			if w.described == 0 {
				w.described, w.pieces = cycle, t.u("num_pieces") > 0
			}
		}
	}
	if s.asked = append(s.asked, d); len(s.asked) > mostAsked {
		s.asked = append(s.asked[:0], s.asked[mostAsked/2:]...)
	}
}

// left finds what a frame was described as, and forgets that and what was described of
// the same queue before: that has been dropped.
func (s *side) left(p *roce.Packet) (d description, ok bool) {
	b := &p.BTH
	for i := range s.asked {
		d = s.asked[i]
		switch {
		case d.op != b.Opcode || d.psn != b.PSN,
			b.Opcode.HasDETH() && d.q.QPN != uint32(p.DETH.SrcQP),
			!b.Opcode.HasDETH() && d.q.Peer != uint32(b.DestQP):
			continue
		}
		rest := s.asked[:0]
		for j, o := range s.asked {
			fast := o.resp && !o.op.IsReadResponse()
			if j > i || j < i && (o.q != d.q || o.resp != d.resp || fast != (d.resp && !d.op.IsReadResponse())) {
				rest = append(rest, o)
			} else if j < i {
				o.q.unsent(&o)
			}
		}
		s.asked = rest
		return d, true
	}
	return description{}, false
}

// closes takes the end of a service at wqe_sched, and notes why its WQE was not done.
func (s *side) closes(t *tap, cycle uint64) {
	q := s.qps[uint32(t.u("ctx.qpn"))]
	if q == nil || t.name("verdict") != "RUN" {
		return
	}
	w := q.find(s.executing())
	if w == nil || w.at(WQERead) == nil {
		return
	}
	open := s.exec.is("open")
	field := func(name string) (uint64, At) {
		if open {
			return s.exec.u("at." + name), s.exec.at(cycle, "at."+name)
		}
		in := "ctx." + name
		if name == "entries" {
			in = name
		}
		return t.u(in), t.at(cycle, in)
	}
	reading, a := field("reading")
	window, b := field("window")
	credits, c := field("credits")
	reads, d := field("reads")
	entries, e := field("entries")
	wait := Wait{FromPs: int64(cycle) * periodPs}
	switch {
	case !w.entered && w.fence && reading != 0:
		wait.For, wait.At = ForFence, a
	case !w.entered && w.takes && credits == 0:
		wait.For, wait.At = ForCredits, c
	case !w.entered && w.read && reads == 0:
		wait.For, wait.At = ForReadDepth, d
	case window == 0:
		wait.For, wait.At = ForWindow, b
	case !w.entered && entries == 0:
		wait.For, wait.At = ForEntry, e
	default:
		return
	}
	if q.blockedWR == w && q.blocked.For == wait.For {
		return // it still waits for the same
	}
	s.unblock(q, w, cycle)
	q.blocked, q.blockedWR = &wait, w
}

// closed forgets a wait of a WQE that the service has done after all.
func (s *side) closed(t *tap, cycle uint64) {
	q := s.qps[uint32(t.u("qpn"))]
	if q != nil && q.blocked != nil && q.blockedWR.Index != uint16(t.u("exec_idx")) {
		q.blocked, q.blockedWR = nil, nil
	}
}

// unblock ends the wait of a WR.
func (s *side) unblock(q *qp, w *wr, cycle uint64) {
	if q.blocked == nil || q.blockedWR != w {
		return
	}
	b := q.blocked
	w.wait(b.FromPs, int64(cycle)*periodPs, b.For, b.At)
	s.spans.wait(b.For, b.FromPs, int64(cycle)*periodPs)
	q.blocked, q.blockedWR = nil, nil
}
