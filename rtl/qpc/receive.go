package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// receive judges one operation of the receive pipeline and tells which banks it
// changed.
func (c *Context) receive(o *port.RxOp, e *Env) (v port.RxVerdict, w Bank) {
	cm := &c.Common
	v = port.RxVerdict{Kind: o.Kind, QPN: o.QPN, PD: cm.PD, RecvCQN: cm.RecvCQN, SrcQPN: cm.DestQPN, Quiet: cm.Exists && c.unacked()}
	switch o.Kind {
	case port.RxPacket:
		w = c.packet(&o.Pkt, &v, e)
	case port.RxFault:
		w = c.placeFault(o, &v, e)
	case port.RxFlushRQ:
		w = c.flushRQ(&v)
	case port.RxPurge:
		w = c.purge(&v)
	}
	return v, w
}

// packet judges a packet.
func (c *Context) packet(p *port.RxPkt, v *port.RxVerdict, e *Env) Bank {
	if drop := c.foreign(p, e); drop != 0 {
		v.Drop = drop
		return 0
	}
	switch c.Common.Type {
	case abi.QPTypeUC:
		return c.ucRequest(p, v)
	case abi.QPTypeUD, abi.QPTypeRaw:
		return c.datagram(p, v, e)
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
	case p.Raw != (cm.Type == abi.QPTypeRaw):
		return abi.RxDropBadTransport
	case p.Raw:
		if !c.responds() {
			return abi.RxDropBadState
		}
		return 0
	case p.Opcode == roce.CNP:
		return abi.RxDropOther
	case p.Opcode.Transport() != transport(cm.Type):
		return abi.RxDropBadTransport
	case p.Opcode.IsResponse() && !c.expectsResponse(), !p.Opcode.IsResponse() && !c.responds():
		return abi.RxDropBadState
	case !roce.PKey(e.Reg.PKey).Match(roce.PKey(p.PKey)):
		return abi.RxDropBadPKey
	case cm.Type == abi.QPTypeUD:
		switch {
		case !holds(&e.GIDs, p.DIP):
			return abi.RxDropBadAddress
		case p.QKey != cm.QKey:
			return abi.RxDropBadQKey
		}
	case !cm.Address.from(p):
		return abi.RxDropBadAddress
	}
	return 0
}

// transport is that of a type of QPs; raw ones have none.
func transport(t abi.QPType) roce.Transport {
	switch t {
	case abi.QPTypeUC:
		return roce.UC
	case abi.QPTypeUD:
		return roce.UD
	}
	return roce.RC
}
