package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// ucRequest judges a packet of UC (IBTA 9.8.2). Nobody is answered: what can't be
// executed is dropped with the rest of its message, and the QP stays as it is. A packet
// with another PSN than the expected one tells that some are missing: the message that
// they are of is given up. The first or only packet of a message is good with any PSN,
// also in the midst of another message, which is given up then.
func (c *Context) ucRequest(p *port.RxPkt, v *port.RxVerdict) Bank {
	r, op := &c.Responder, p.Opcode
	gap := p.PSN != r.Expected
	r.Expected = p.PSN.Add(1)
	if gap {
		r.Nak = NakSequence
	}
	if gap || op.Starts() {
		c.giveUp(Refusal{abi.StatusLocQPOp, abi.VendorRecvSequence}, v)
	}
	if op.Starts() {
		r.Nak = NakNone
	}
	if r.Incoming == IncomingNone && !op.Starts() { // the rest of a message that was given up
		v.Drop = abi.RxDropOther
		if r.Nak == NakSequence {
			v.Drop = abi.OutOfSequence
		}
		return InResponder
	}
	why := c.refuse(p)
	if why.Vendor == abi.VendorNone {
		why = c.wrongLength(p)
	}
	if why.Vendor != abi.VendorNone {
		v.Drop = abi.RxDropOther
		c.giveUp(why, v)
		return InResponder
	}
	w := InResponder
	if op.TakesReceive() {
		if c.empty() {
			v.Drop = abi.OutOfBuffer
			c.giveUp(Refusal{}, v) // a WRITE: it holds none
			return w
		}
		w |= c.take(v)
	}
	v.Action = port.RxPlace
	c.finishes(v, op.Ends())
	v.RQIdx = r.CI
	if op.IsSend() {
		c.placeSend(p, v)
	} else {
		c.placeWrite(p, v)
	}
	c.established()
	return w
}

// finishes counts a message, if it ends, for a verdict that is not answered.
func (c *Context) finishes(v *port.RxVerdict, ends bool) {
	r := &c.Responder
	if ends {
		r.MSN = r.MSN.Add(1)
	}
	v.Ack.MSN = r.MSN
}
