package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// Bell is what came of a doorbell.
type Bell struct {
	Write     Bank
	BadPage   bool
	BadNumber bool // no such QP, not in a state for it, or an index that can't be
	Activate  bool
	Refuse    bool // of the pushed WQE
}

// ring takes the producer index of a doorbell. One of the send queue is legal
// from RTS on, one of the receive queue from INIT on, in ERR too: what they
// announce is flushed then.
//
// A pushed WQE is taken when it is the next and only unit that the doorbell
// announces, and refused otherwise; the doorbell counts in both cases. A refusal
// activates nothing, so what the doorbell gave to do is told on its own.
func (c *Context) ring(d *port.QPDoorbell) (b Bell) {
	cm := &c.Common
	b.Refuse = d.Push
	b.Activate = d.Push
	switch {
	case !cm.Exists:
		b.BadNumber = true
	case d.Page != cm.Page:
		b.BadPage = true
	case d.RQ:
		if !c.ringRQ(d.Index) {
			b.BadNumber = true
			return b
		}
		b.Write = InResponder
		if cm.State == abi.QPErr && c.Responder.PI != c.Responder.CI {
			c.note(NoteFlushRQ)
		}
	case !c.legalSQ(d.Index):
		b.BadNumber = true
	default:
		next := d.Index-c.SQ.PI == 1
		b.Refuse = d.Push && !(next && cm.State == abi.QPRTS)
		c.SQ.PI = d.Index
		b.Write = InSQ
		b.Activate = d.Push || c.backlog()
		if b.Refuse && c.backlog() {
			c.note(NoteActivate)
		}
	}
	return b
}

// legalSQ tells whether index can be the send queue's new producer index: not
// before the present one, and at most a ring ahead of what was entered. While a
// service is open nobody here knows how far it has come.
func (c *Context) legalSQ(index uint16) bool {
	switch c.Common.State {
	case abi.QPRTS, abi.QPSQD, abi.QPSQE, abi.QPErr:
	default:
		return false
	}
	size := uint16(1) << c.Common.SQLog
	return index-c.SQ.PI <= size && (c.SQ.Busy || index-c.SQ.Entered <= size)
}

// ringRQ moves the receive queue's producer index, forward and at most a ring
// ahead of what was taken. A QP with an SRQ has none.
func (c *Context) ringRQ(index uint16) bool {
	r := &c.Responder
	ahead := index - r.CI
	if c.Common.State == abi.QPReset || c.hasSRQ() || ahead > 1<<c.Common.RQLog || ahead < r.PI-r.CI {
		return false
	}
	r.PI = index
	return true
}
