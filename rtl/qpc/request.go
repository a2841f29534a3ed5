package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// request judges a request packet by its PSN (IBTA 9.7.5): the expected one is
// executed, one before it is a duplicate, one behind it is a gap.
func (c *Context) request(p *port.RxPkt, v *port.RxVerdict) Bank {
	r := &c.Responder
	switch p.PSN.Cmp(r.Expected) {
	case -1:
		c.duplicate(p, v)
		return 0
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
	if p.Opcode.TakesReceive() && r.PI == r.CI {
		r.Nak = NakRNR
		c.reply(v, p.PSN, roce.RNRSyndrome(c.Common.MinRNRTimer), abi.OutOfBuffer)
		return InResponder
	}
	if wrong := wrongLength(p, r.Offset, c.Common.MTU); wrong.Vendor != abi.VendorNone {
		if p.Opcode.TakesReceive() {
			r.Held = r.CI
			r.CI++
			r.Active, r.Offset, v.TakesWQE = true, 0, true
		}
		c.fatalNAK(p, &wrong, v)
		return InCommon | InRequester | InResponder
	}
	return c.place(p, v)
}

// duplicate answers a SEND or WRITE that was executed before, if it asks for an
// answer, with where the responder is now. The others find nothing saved.
func (c *Context) duplicate(p *port.RxPkt, v *port.RxVerdict) {
	v.Drop = abi.DuplicateRequest
	if p.AckReq && (p.Opcode.IsSend() || p.Opcode.IsWrite()) {
		c.reply(v, c.Responder.Expected.Sub(1), roce.ACKSyndrome(roce.NoCredits), abi.DuplicateRequest)
	}
}

// reply makes v an acknowledgement without a payload to place.
func (c *Context) reply(v *port.RxVerdict, psn roce.PSN, s roce.Syndrome, count abi.Counter) {
	v.Action, v.Drop = port.RxReply, count
	v.Ack = port.AckReq{Send: true, QPN: v.QPN, PSN: psn, Syndrome: uint8(s), MSN: c.Responder.MSN}
}

// place executes a packet in order: scatter gets it, and the context moves on. No
// credits are given (31): a requester may always try, and is told RNR.
func (c *Context) place(p *port.RxPkt, v *port.RxVerdict) Bank {
	r := &c.Responder
	if p.Opcode.TakesReceive() {
		r.Held, r.Offset = r.CI, 0
		r.CI++
		v.TakesWQE = true
	}
	v.Action = port.RxPlace
	v.EndsWQE = p.Opcode.Ends()
	v.Offset = r.Offset
	c.describe(r.Held, v)
	r.Active = !v.EndsWQE
	r.Offset += uint32(p.Len)
	r.Expected = r.Expected.Add(1)
	if v.EndsWQE {
		r.MSN = r.MSN.Next()
	}
	v.Ack = port.AckReq{Send: p.AckReq, QPN: v.QPN, PSN: p.PSN, Syndrome: uint8(roce.ACKSyndrome(roce.NoCredits)), MSN: r.MSN}
	if c.Common.State == abi.QPRTR && !r.CommEst {
		r.CommEst = true
		c.note(NoteCommEst)
	}
	return InResponder
}

// Refusal is why a request in order gets a fatal NAK: what becomes of the receive
// WQE, if there is one. No Vendor: it gets none.
type Refusal struct {
	Status abi.WCStatus
	Vendor abi.VendorErr
}

// refuse makes the checks that come before the receive WQE: the sequence of
// opcodes in a message, and whether the operation is supported. SENDs are.
func (c *Context) refuse(p *port.RxPkt) Refusal {
	op := p.Opcode
	switch {
	case op.Valid() && op.Starts() == c.Responder.Active, // a new message in the midst of one, or the rest of none
		op.IsWrite() && c.Responder.Active: // a SEND that goes on as a WRITE
		return Refusal{abi.StatusLocQPOp, abi.VendorRecvSequence}
	case !op.IsSend() || op.HasIETH():
		return Refusal{abi.StatusLocQPOp, abi.VendorRecvOp}
	}
	return Refusal{}
}

// wrongLength checks the payload of a part of a SEND that begins at offset of its
// message: all but the last full and without pad, and not more than 2^31 in all.
func wrongLength(p *port.RxPkt, offset uint32, mtu abi.MTU) Refusal {
	size, op := uint32(p.Len), p.Opcode
	full := mtu.Bytes()
	wrong := false
	switch {
	case op.IsFirst():
		offset = 0
		wrong = size != full || p.Pad != 0
	case op.IsMiddle():
		wrong = size != full || p.Pad != 0
	case op.IsLast():
		wrong = size == 0 || size > full
	default:
		offset = 0
		wrong = size > full
	}
	switch {
	case wrong:
		return Refusal{abi.StatusLocQPOp, abi.VendorRecvLength}
	case offset+size > roce.MaxMessage:
		return Refusal{abi.StatusLocLen, abi.VendorRecvTooLong}
	}
	return Refusal{}
}

// fatalNAK answers with NAK invalid request and takes the QP to ERR. A receive WQE
// that the message holds ends in error; without one an asynchronous event tells.
func (c *Context) fatalNAK(p *port.RxPkt, why *Refusal, v *port.RxVerdict) {
	r := &c.Responder
	c.reply(v, p.PSN, roce.NAKSyndrome(roce.NAKInvalidRequest), abi.RespRemoteInvalidRequest)
	v.Status, v.Vendor = why.Status, why.Vendor
	if r.Active {
		r.Active = false
		v.Error, v.EndsWQE = true, true
		v.Offset = r.Offset
		c.describe(r.Held, v)
	} else {
		c.note(NoteReqErr)
	}
	c.flush(why.Status, why.Vendor)
}
