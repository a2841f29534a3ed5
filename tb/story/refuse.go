package story

import (
	"fmt"

	"rnic/roce"
)

// placed is a packet that qpc let through, which scatter or responder may still refuse.
type placed struct {
	arrival
	last    roce.PSN // of a READ request: of its answer
	request bool
	ps      int64 // of the verdict
}

// passed notes a packet that is to be placed.
func (q *qp) passed(a *arrival, last roce.PSN, ps int64) {
	if q.placing = append(q.placing, placed{*a, last, a.p.Opcode.IsRequest(), ps}); len(q.placing) > mostAnswers {
		q.placing = append(q.placing[:0], q.placing[mostAnswers/2:]...)
	}
}

// refusedAt judges a packet that qpc itself answers with a fatal NAK.
func (l *landing) refusedAt(t *tap, drop string, syndrome roce.Syndrome) {
	why := drop
	if why == "" {
		why = t.name("vendor")
	}
	l.fate = Refused + why + " (" + syndrome.String() + ")"
}

// fault gives the packet of a fault its fate, and those that were dropped behind it until
// qpc has told of it. It gives the packet, nil if it is not known, and what led to the
// fault.
func (s *side) fault(q *qp, t *tap, psn roce.PSN, response bool, why Event, answer string) (of *placed, before []Event) {
	for i := len(q.placing) - 1; i >= 0; i-- {
		p := &q.placing[i]
		if p.request == response || psn.Before(p.p.PSN) || psn.After(p.last) {
			continue
		}
		name := t.name("vendor")
		if k := s.rx.refusal(q.QPN, p.ps); k != nil {
			before, name = k.why, k.name
		}
		if answer != "" {
			name += " (" + answer + ")"
		}
		if l := s.land(&p.arrival); l != nil {
			l.fate = Refused + name
			l.why = append(append(l.why, before...), why)
		}
		if t.name("status") == "REM_OP_ERR" {
			return p, before // responder's: scatter has nothing to do with it
		}
		for _, o := range q.placing[i+1:] {
			if l := s.land(&o.arrival); l != nil && o.request != response && l.fate == Delivered {
				l.fate = Refused + "it is behind one that was refused"
				l.why = append(l.why, Event{why.At, fmt.Sprintf("dropped behind PSN 0x%x, which was refused", uint32(p.p.PSN))})
			}
		}
		return p, before
	}
	return nil, nil
}
