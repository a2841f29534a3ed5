package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// receive judges one operation of the receive pipeline and tells which banks it
// changed.
func (c *Context) receive(o *port.RxOp, e *Env) (v port.RxVerdict, w Bank) {
	v = port.RxVerdict{Kind: o.Kind, QPN: o.QPN, PD: c.Common.PD, RecvCQN: c.Common.RecvCQN, SrcQPN: c.Common.DestQPN}
	switch o.Kind {
	case port.RxPacket:
		w = c.packet(&o.Pkt, &v, e)
	case port.RxFault:
		w = c.placeFault(o, &v)
	case port.RxFlushRQ:
		w = c.flushRQ(&v)
	case port.RxPurge:
		v.Action = port.RxNothing
	}
	return v, w
}

// packet judges a packet.
func (c *Context) packet(p *port.RxPkt, v *port.RxVerdict, e *Env) Bank {
	if drop := c.foreign(p, e); drop != 0 {
		v.Drop = drop
		return 0
	}
	if p.Opcode.IsResponse() {
		return c.response(p, v, e)
	}
	return c.request(p, v)
}

// foreign tells under which counter a packet is dropped because it is not for
// this QP at all, 0 if it is: the silent checks, in the order of IBTA 9.6.
func (c *Context) foreign(p *port.RxPkt, e *Env) abi.Counter {
	cm := &c.Common
	switch {
	case !cm.Exists:
		return abi.RxDropBadQPN
	case p.Opcode == roce.CNP:
		return abi.RxDropOther
	case p.Opcode.Transport() != roce.RC:
		return abi.RxDropBadTransport
	case p.Opcode.IsResponse() && !c.expectsResponse(), !p.Opcode.IsResponse() && !c.responds():
		return abi.RxDropBadState
	case !roce.PKey(e.Reg.PKey).Match(roce.PKey(p.PKey)):
		return abi.RxDropBadPKey
	case p.V6 != cm.V6, p.SIP != cm.DGID, p.DIP != ownGID(cm.V6, &e.Reg):
		return abi.RxDropBadAddress
	}
	return 0
}

// ownGID is the port's address of the family that the QP uses.
func ownGID(v6 bool, r *port.PortReg) [16]byte {
	if v6 {
		return r.GID0
	}
	return roce.GIDFromIPv4(r.IPv4)
}

// placeFault executes scatter's report that a packet's receive WQE could not be
// used. The receive WQEs of packets judged before are completed by scatter, that
// of a message in progress too.
func (c *Context) placeFault(o *port.RxOp, v *port.RxVerdict) Bank {
	v.Action, v.Status = port.RxFailed, o.Status
	code := roce.NAKRemoteOperation
	switch o.Status {
	case abi.StatusLocLen:
		code, v.Vendor, v.Drop = roce.NAKInvalidRequest, abi.VendorRecvTooLong, abi.RespLocalLengthError
	case abi.StatusLocProt:
		v.Vendor, v.Drop = abi.VendorLKeyUnknown, abi.RespLocalProtectionErrors
	default:
		v.Vendor = abi.VendorWQEFormat
	}
	if !c.responds() && c.Common.State != abi.QPErr {
		v.Drop = 0
		return 0 // reset since: nobody waits for a NAK
	}
	v.Ack = port.AckReq{Send: true, QPN: o.QPN, PSN: o.PSN, Syndrome: uint8(roce.NAKSyndrome(code)), MSN: o.MSN}
	c.Responder.Active = false
	c.flush(v.Status, v.Vendor)
	return InCommon | InRequester | InResponder
}

// flushRQ takes the next receive WQE of a QP in ERR: the one held by a message in
// progress, then those posted.
func (c *Context) flushRQ(v *port.RxVerdict) Bank {
	r := &c.Responder
	if c.Common.State != abi.QPErr || !r.Active && r.CI == r.PI {
		v.Action = port.RxNothing
		return 0
	}
	v.Action = port.RxFlushed
	v.Status, v.Vendor = abi.StatusWRFlush, abi.VendorFlush
	v.EndsWQE = true
	if r.Active {
		r.Active = false
		c.describe(r.Held, v)
	} else {
		v.TakesWQE = true
		c.describe(r.CI, v)
		r.CI++
	}
	v.More = r.CI != r.PI
	v.RQNext = r.PI - r.CI
	return InResponder
}

// describe puts the place of a receive WQE into a verdict.
func (c *Context) describe(index uint16, v *port.RxVerdict) {
	cm := &c.Common
	v.RQIdx = index
	v.RQStride = 1 << cm.StrideLog
	v.RQLog = cm.RQLog
	v.RQAddr = cm.RQBase + port.BusAddr(abi.RingSlot(index, cm.RQLog))<<cm.StrideLog
	v.RQNext = c.Responder.PI - c.Responder.CI
}
