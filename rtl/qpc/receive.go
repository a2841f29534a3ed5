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
		w = c.placeFault(o, &v, e)
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
	return c.request(p, v, e)
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

// flushRQ takes the next receive WQE of a QP in ERR: the one held by a message in
// progress, then those posted.
func (c *Context) flushRQ(v *port.RxVerdict) Bank {
	r := &c.Responder
	if c.Common.State != abi.QPErr || r.Incoming != IncomingSend && r.CI == r.PI {
		v.Action = port.RxNothing
		return 0
	}
	v.Action = port.RxFlushed
	v.Status, v.Vendor = abi.StatusWRFlush, abi.VendorFlush
	v.EndsWQE = true
	if r.Incoming == IncomingSend {
		r.Incoming = IncomingNone
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
