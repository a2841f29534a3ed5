package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// grhBytes is the room for the IP header at the beginning of a receive buffer of UD.
const grhBytes = 40

// datagram judges a packet that is a whole message and answered by nothing: of UD (IBTA
// 9.8.3), or a raw frame. Its PSN is not looked at.
func (c *Context) datagram(p *port.RxPkt, v *port.RxVerdict, e *Env) Bank {
	v.SrcQPN = p.SrcQPN
	switch {
	case !p.Raw && (!p.Opcode.Valid() || p.Len > e.Reg.MTU):
		v.Drop = abi.RxDropOther
		return 0
	case c.empty():
		v.Drop = abi.OutOfBuffer
		return 0
	}
	w := c.take(v)
	c.finishes(v, true)
	c.describe(c.Responder.Held, v)
	v.Action, v.Target, v.EndsWQE = port.RxPlace, port.TargetRecv, true
	if !p.Raw {
		v.GRH, v.V6, v.Offset = true, p.V6, grhBytes
	}
	return w
}

// holds tells whether an address is one of the port's.
func holds(g *port.GIDTable, a [16]byte) bool {
	for _, own := range g.GID {
		if own == a && own != [16]byte{} {
			return true
		}
	}
	return false
}
