package rows

import (
	"fmt"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// wr is a work request of a send queue, from doorbell to CQE.
type wr struct {
	index    uint16
	signaled bool
	text     string
	in       bool // the outstanding table has it
	first    roce.PSN
	last     roce.PSN
	wire     bool // it takes PSNs
	tries    int
	number   uint64 // among the messages entered
	lane     int
}

// posted looks at a send queue that was written: where a doorbell has moved its
// producer index, the WQEs between are read from memory.
func (s *side) posted(now int64, n int) {
	q := s.qp(n)
	sq, c := s.h.NIC.QPC.SQ.Peek(n), s.h.NIC.QPC.Common.Peek(n)
	if sq.PI == q.pi || !c.Exists {
		return
	}
	begin := now
	if q.bell {
		begin, q.bell = max(q.rang, s.oldest()), false
	}
	if sq.PI-q.pi > 1<<c.SQLog { // a new life
		q.pi = sq.PI
		return
	}
	for q.pi != sq.PI {
		w, units := s.read(uint64(c.SQBase), c.SQLog, q.pi)
		w.signaled = w.signaled || c.Flags&abi.QPSigAll != 0
		w.lane = q.shown.send.open(begin, q.tag+w.text)
		q.open = append(q.open, w)
		q.pi += min(units, sq.PI-q.pi)
	}
}

// read reads a WQE.
func (s *side) read(base uint64, log uint8, index uint16) (w *wr, units uint16) {
	var b [abi.UnitSize]byte
	var c abi.WQEControl
	mem := s.h.Machine.Mem
	at := base + uint64(abi.RingSlot(index, log))*abi.UnitSize
	w = &wr{index: index, text: fmt.Sprintf("WQE #%d", index)}
	if mem.Read(at, b[:]) != nil || abi.WQEControlLayout.Decode(b[:], &c) != nil || c.Index != index {
		return w, 1
	}
	n := uint64(c.InlineLen)
	if c.Flags&abi.WQEInlined == 0 {
		n = 0
		ring := uint64(abi.UnitSize) << log
		for i := range min(int(c.NumSGE), abi.MaxSGE) {
			off := (uint64(index)*abi.UnitSize + abi.WQEDataOffset + uint64(i)*abi.SGESize) % ring
			var e abi.SGE
			if mem.Read(base+off, b[:abi.SGESize]) == nil && abi.SGELayout.Decode(b[:abi.SGESize], &e) == nil {
				n += uint64(e.Length)
			}
		}
	}
	w.signaled = c.Flags&abi.WQESignalled != 0
	w.text = fmt.Sprintf("%v #%d %dB", c.Op, index, n)
	return w, max(1, uint16(c.Units))
}

// find is the work request of a WQE that is open.
func (q *qp) find(index uint16) (i int) {
	for i, w := range q.open {
		if w.index == index {
			return i
		}
	}
	return -1
}

// entered tells of a message in the outstanding table.
func (s *side) entered(now int64, e *port.Sent) {
	q := s.qp(int(e.QPN))
	q.entered++
	i := q.find(e.UnitIdx)
	if i < 0 {
		return
	}
	w := q.open[i]
	w.in, w.first, w.last, w.wire, w.number = true, e.FirstPSN, e.LastPSN, e.Kind == port.SentWire, q.entered
	w.signaled = w.signaled || e.Signaled
	q.shown.send.update(w.lane, now, q.tag+w.String())
}

// String is the work request with what is known of it.
func (w *wr) String() string {
	t := w.text
	if w.wire {
		t += fmt.Sprintf(" psn=%#x", uint32(w.first))
		if w.last != w.first {
			t += fmt.Sprintf("..%#x", uint32(w.last))
		}
	}
	if w.tries > 0 {
		t += fmt.Sprintf(" retry %d", w.tries)
	}
	return t
}

// end ends the n oldest work requests.
func (q *qp) end(n int, now int64) {
	for _, w := range q.open[:n] {
		q.shown.send.close(w.lane, now)
	}
	q.open = append(q.open[:0], q.open[n:]...)
}

// retire tells of messages that are over: those that have a completion wait for it.
func (s *side) retire(now int64, r *port.Retire) {
	q := s.qp(int(r.QPN))
	if r.Kind == port.RetireTimeout {
		s.event(Timeout, now, fmt.Sprintf("ACK timer of qp=%d", r.QPN), uint32(r.QPN), r.Una)
	}
	if r.Kind != port.RetireDone {
		return
	}
	q.retired += uint64(r.Messages)
	n := 0
	for n < len(q.open) && q.open[n].in && !q.open[n].signaled && q.open[n].number <= q.retired {
		n++
	}
	q.end(n, now)
}

// completed tells of a completion: those before it that have none are over too.
func (s *side) completed(now int64, e *port.CQEReq) {
	q := s.qp(int(e.QPN))
	what := fmt.Sprintf("%v #%d", e.Opcode, e.UnitIdx)
	if i := q.find(e.UnitIdx); i >= 0 {
		what = q.open[i].String()
		q.end(i+1, now)
	}
	if e.Status != abi.StatusSuccess {
		s.failed(now, q, what, e)
	}
}

// rewound tells of a QP that sends again.
func (s *side) rewound(now int64, a *port.AckEvent) {
	if a == nil || !a.Rewind {
		return
	}
	q := s.qp(int(a.QPN))
	for _, w := range q.open {
		if w.wire && !w.last.Before(a.At) {
			w.tries++
			q.shown.send.update(w.lane, now, q.tag+w.String())
		}
	}
	s.event(Retry, now, fmt.Sprintf("qp=%d again from psn=%#x", a.QPN, uint32(a.At)), uint32(a.QPN), a.At)
}

// recv is a receive that is being filled.
type recv struct {
	index uint16
	text  string
	lane  int
}

// taken tells of a packet that takes a receive WQE.
func (s *side) taken(now int64, p *port.Place) {
	if !p.V.TakesWQE {
		return
	}
	q := s.qp(int(p.V.QPN))
	r := recv{index: p.V.RQIdx, text: fmt.Sprintf("RECV #%d %v psn=%#x", p.V.RQIdx, p.Opcode, uint32(p.PSN))}
	r.lane = q.shown.recv.open(now, q.tag+r.text)
	q.recvs = append(q.recvs, r)
}

// filled tells of the completion of a receive.
func (s *side) filled(now int64, e *port.CQEReq) {
	q := s.qp(int(e.QPN))
	what := fmt.Sprintf("RECV #%d", e.UnitIdx)
	for i, r := range q.recvs {
		if r.index == e.UnitIdx {
			what = r.text
			q.shown.recv.close(r.lane, now)
			q.recvs = append(q.recvs[:i], q.recvs[i+1:]...)
			break
		}
	}
	if e.Status != abi.StatusSuccess {
		s.failed(now, q, what, e)
	}
}
