package story

import (
	"rnic/abi"
	"rnic/roce"
)

// cq is a completion queue: the WRs whose CQEs are in it, in order.
type cq struct {
	next uint16 // index of the first of them
	list []*wr  // nil: of none that is known
}

// mostCQEs is more than a CQ holds.
const mostCQEs = 1 << 16

func (s *side) watchEnds() {
	fields := []string{"qpn", "una", "fail", "fail_psn", "flush", "status", "vendor", "rewind", "at", "wait"}
	s.hub.stream("nic.retrans.ack", s.acknowledged, fields...)
	s.hub.stream("nic.retrans.event", s.acknowledged, fields...)
	s.hub.stream("nic.qpc.retire", s.retired, "kind", "qpn", "messages", "una")
	fields = []string{"purge", "cqn", "qpn", "unit_idx", "opcode", "status", "vendor", "byte_len"}
	s.hub.stream("nic.cq_writer.send", s.completes, fields...)
	s.hub.stream("nic.cq_writer.recv", s.completes, fields...)
	s.hub.stream("nic.cq_writer.bell", s.polls, "eq", "cqn", "ci")
	s.hub.stream("nic.cq_writer.admin", func(t *tap, cycle uint64) {
		if t.name("op") == "CQ_CREATE" {
			s.cqs[uint32(t.u("number"))] = &cq{}
		}
	}, "op", "number")
	s.hub.stream("nic.cq_writer.async", s.async, "type", "number", "syndrome")
	s.hub.stream("nic.dma.write_2.data", s.cqe, "data", "len")
}

// acknowledged takes an event of a send queue.
func (s *side) acknowledged(t *tap, cycle uint64) {
	q := s.qps[uint32(t.u("qpn"))]
	if q == nil {
		return
	}
	una := roce.PSN(t.u("una"))
	ps := int64(cycle) * periodPs
	for _, w := range q.open {
		if !w.entered || w.wire && !w.last.Before(una) {
			break
		}
		if w.wire && w.at(Acknowledged) == nil {
			w.stage(Acknowledged, t.at(cycle, "una"))
			from := max(w.sentPs, q.ackPs)
			if w.sentPs > 0 {
				w.wait(w.sentPs, ps, ForAck, t.at(cycle, "una"))
				s.spans.wait(ForAck, from, ps)
			}
			q.forget(w)
		}
	}
	q.ackPs = ps
	switch {
	case t.is("fail"):
		s.event(q, t.at(cycle, "status"), "the send queue fails at PSN 0x%x: %s, %s", t.u("fail_psn"), t.name("status"), t.name("vendor"))
	case t.is("flush"):
		s.event(q, t.at(cycle, "flush"), "what is left of the send queue is flushed")
	case t.is("rewind") && t.u("wait") > 0:
		s.event(q, t.at(cycle, "wait"), "waits %d cycles before it sends again from PSN 0x%x", t.u("wait"), t.u("at"))
	case t.is("rewind"):
		s.event(q, t.at(cycle, "at"), "is to send again from PSN 0x%x", t.u("at"))
	}
}

// forget drops the tries of a WR whose packets are acknowledged.
func (q *qp) forget(w *wr) {
	for psn := range q.tries {
		if !psn.Before(w.first) && !psn.After(w.last) {
			delete(q.tries, psn)
		}
	}
}

// retired takes what retrans tells qpc.
func (s *side) retired(t *tap, cycle uint64) {
	q := s.qps[uint32(t.u("qpn"))]
	if q == nil {
		return
	}
	ps := int64(cycle) * periodPs
	switch t.name("kind") {
	case "DONE":
		for range t.u("messages") {
			if len(q.open) == 0 {
				break
			}
			w := q.open[0]
			q.open = q.open[1:]
			q.count--
			s.spans.open(w, ps)
			if w.Status == "" && !w.Signalled {
				w.Status = abi.StatusSuccess.String()
				s.tell(w)
			}
		}
		q.Outstanding = point(q.Outstanding, ps, max(0, q.count))
	case "TIMEOUT":
		c := s.context(q.QPN)
		r := &c.Requester
		again, ends := c.SQ.Rewinding && r.Implied && !r.Obeyed, r.Fail != 0 && r.Status == abi.StatusRetryExc
		if !again && !ends {
			return // an acknowledgement, or a NAK, has overtaken it
		}
		why := Event{t.at(cycle, "kind"), "the ACK timer has expired"}
		q.retry = cause{AfterTimeout, -1, []Event{why}}
		s.event(q, why.At, "the ACK timer has expired: PSN 0x%x is not answered", t.u("una"))
		s.timed(q, ForRetryTimer, ps, why.At)
	case "REWIND":
		s.event(q, t.at(cycle, "kind"), "knows where to go on")
		if q.rnr != nil {
			s.timed(q, ForRNRTimer, ps, t.at(cycle, "kind"))
			q.rnr = nil
		}
	case "FATAL":
		s.event(q, t.at(cycle, "kind"), "its CQ has failed")
	}
}

// timed is the end of a timer that all requests that have left waited for.
func (s *side) timed(q *qp, what string, ps int64, a At) {
	first := int64(-1)
	for _, w := range q.open {
		from := w.sentPs
		if from == 0 || w.at(Acknowledged) != nil {
			continue
		}
		if what == ForRNRTimer {
			from = max(from, q.rnr.why[0].Ps)
		}
		w.wait(from, ps, what, a)
		if first < 0 {
			first = from
		}
	}
	if first >= 0 {
		s.spans.wait(what, first, ps)
	}
}

// nacked ends the wait for an answer of requests that have left: it asks for them again.
func (s *side) nacked(q *qp, a At) {
	for _, w := range q.open {
		if w.sentPs != 0 && w.at(Acknowledged) == nil {
			w.wait(w.sentPs, a.Ps, ForAck, a)
			s.spans.wait(ForAck, w.sentPs, a.Ps)
		}
	}
}

// completes takes a completion that is to be told.
func (s *side) completes(t *tap, cycle uint64) {
	if t.is("purge") {
		return
	}
	var w *wr
	n, index := uint32(t.u("qpn")), uint16(t.u("unit_idx"))
	if q := s.qps[n]; q != nil {
		if abi.WCOpcode(t.u("opcode"))&abi.WCRecv != 0 {
			if w = q.ended(index); w != nil {
				w.Bytes = t.u("byte_len")
			}
		} else if w = q.find(index); w == nil {
			w = s.recent(q, index)
		}
	}
	if w != nil {
		w.Status, w.Vendor = t.name("status"), t.name("vendor")
		w.Signalled = true
		if w.Status != abi.StatusSuccess.String() && w.Status != abi.StatusWRFlush.String() {
			s.event(s.qps[n], t.at(cycle, "status"), "%s", w.failed())
		}
	}
	k := s.cqs[uint32(t.u("cqn"))]
	if k == nil {
		k = &cq{}
		s.cqs[uint32(t.u("cqn"))] = k
	}
	if k.list = append(k.list, w); len(k.list) > mostCQEs {
		k.list, k.next = k.list[1:], k.next+1
	}
	if w != nil {
		w.index = index
		s.written = append(s.written, w)
	}
}

// recent is a WR of the send queue that has left the outstanding table.
func (s *side) recent(q *qp, index uint16) *wr {
	for i := len(s.wrs) - 1; i >= max(0, len(s.wrs)-4096); i-- {
		if w := s.wrs[i]; w.QPN == q.QPN && w.Queue == "sq" && w.Index == index {
			if w.Status == "" {
				return w
			}
			return nil
		}
	}
	return nil
}

// cqe takes a CQE as dma does.
func (s *side) cqe(t *tap, cycle uint64) {
	var e abi.CQE
	if t.u("len") != abi.CQESize || abi.CQELayout.Decode(t.bytes("data"), &e) != nil {
		return
	}
	for i, w := range s.written {
		if w.QPN == e.QPN && w.index == e.Index && (w.Queue != "sq") == (e.Opcode&abi.WCRecv != 0) {
			w.stage(CQEWritten, t.fired(cycle))
			s.written = append(s.written[:i:i], s.written[i+1:]...)
			break
		}
	}
	if len(s.written) > 4096 {
		s.written = append(s.written[:0], s.written[2048:]...)
	}
}

// polls takes the consumer index of a CQ.
func (s *side) polls(t *tap, cycle uint64) {
	k := s.cqs[uint32(t.u("cqn"))]
	if t.is("eq") || k == nil {
		return
	}
	ci := uint16(t.u("ci"))
	for len(k.list) > 0 && k.next != ci && ci-k.next <= 1<<15 {
		if w := k.list[0]; w != nil {
			w.stage(Polled, t.at(cycle, "ci"))
			s.tell(w)
		}
		k.list, k.next = k.list[1:], k.next+1
	}
}

// async takes an asynchronous event.
func (s *side) async(t *tap, cycle uint64) {
	if q := s.qps[uint32(t.u("number"))]; q != nil && ofQP(abi.EventType(t.u("type"))) {
		s.event(q, t.at(cycle, "type"), "event %s", t.name("type"))
	}
}

// ofQP tells events whose number is that of a QP.
func ofQP(e abi.EventType) bool {
	return e >= abi.EventQPFatal && e <= abi.EventSQDrained || e == abi.EventQPLastWQEReached
}
