package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// request judges a request packet by its PSN (IBTA 9.7.5): the expected one is
// executed, one before it is a duplicate, one behind it is a gap.
func (c *Context) request(p *port.RxPkt, v *port.RxVerdict, e *Env) Bank {
	r := &c.Responder
	switch p.PSN.Cmp(r.Expected) {
	case -1:
		return c.duplicate(p, v, e)
	case 1:
		if r.Nak != NakNone { // told before, or told to wait
			v.Drop = abi.OutOfSequence
			return 0
		}
		r.Nak = NakSequence
		c.reply(v, r.Expected, roce.NAKSyndrome(roce.NAKSequence), abi.OutOfSequence)
		return InResponder
	}
	r.Nak = NakNone
	if refused := c.refuse(p); refused.Vendor != abi.VendorNone {
		c.fatalNAK(p, &refused, v)
		return InCommon | InRequester | InResponder
	}
	w := Bank(0)
	if p.Opcode.TakesReceive() {
		if c.empty() {
			r.Nak = NakRNR
			c.reply(v, p.PSN, roce.RNRSyndrome(c.Common.MinRNRTimer), abi.OutOfBuffer)
			return InResponder
		}
		w = c.take(v)
	}
	if wrong := c.wrongLength(p); wrong.Vendor != abi.VendorNone {
		c.fatalNAK(p, &wrong, v)
		return InCommon | InRequester | InResponder | w
	}
	return w | c.place(p, v, e)
}

// reply makes v an acknowledgement without a payload to place.
func (c *Context) reply(v *port.RxVerdict, psn roce.PSN, s roce.Syndrome, count abi.Counter) {
	v.Action, v.Drop = port.RxReply, count
	v.Ack = port.AckReq{Send: true, QPN: v.QPN, PSN: psn, Syndrome: uint8(s), MSN: c.Responder.MSN}
}

// fatalNAK answers with NAK invalid request and takes the QP to ERR. A receive WQE
// that the message holds ends in error; without one an asynchronous event tells.
func (c *Context) fatalNAK(p *port.RxPkt, why *Refusal, v *port.RxVerdict) {
	r := &c.Responder
	c.fails(p.PSN)
	c.reply(v, p.PSN, roce.NAKSyndrome(roce.NAKInvalidRequest), abi.RespRemoteInvalidRequest)
	v.Status, v.Vendor = why.Status, why.Vendor
	if r.Incoming == IncomingSend || v.TakesWQE {
		v.Error, v.EndsWQE = true, true
		if !v.TakesWQE {
			v.Offset = r.Offset
		}
		c.describe(r.Held, v)
	} else {
		c.note(NoteReqErr)
	}
	r.Incoming = IncomingNone
	c.flush(why.Status, why.Vendor)
}
