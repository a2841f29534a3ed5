package qpc

import (
	"rnic/roce"
	"rnic/rtl/port"
)

// data takes a packet with the answer of a READ or atomic. It is the next response
// of the oldest one that is not answered, or not in its place: then the WQE that
// it claims to answer fails.
func (c *Context) data(p *port.RxPkt, v *port.RxVerdict) Bank {
	r := &c.Requester
	h, next, ok := c.head()
	if !ok || p.PSN != next || !h.fits(p, r.Again) {
		return c.refused(p.PSN, &badOpcode, v)
	}
	offset := p.PSN.Diff(h.First) << (7 + uint(c.Common.MTU))
	if !h.long(p, offset, c.Common.MTU.Bytes()) {
		return c.refused(p.PSN, &badLength, v)
	}
	if p.Opcode.HasAETH() {
		c.grant(roce.Syndrome(p.Syndrome), p.MSN)
	}
	last := p.Opcode.Ends()
	c.progress(p.PSN.Add(1))
	if last {
		r.Answered++
	}
	if h.Len == 0 && !h.Atomic {
		v.Action = port.RxAck
		return InRequester
	}
	v.Action, v.Target, v.Offset = port.RxPlace, port.TargetSend, offset
	v.SQ = port.SQRef{Base: c.Common.SQBase, Log: c.Common.SQLog, Idx: h.UnitIdx, Last: last}
	return InRequester
}

// fits tells whether a packet has the opcode and syndrome of the next response. At
// the PSN where the rest of the answer was asked for, again, a response may start the
// answer to that, or go on with the one before.
func (h *Read) fits(p *port.RxPkt, again roce.PSN) bool {
	op := p.Opcode
	switch {
	case op.HasAETH() && roce.Syndrome(p.Syndrome).Kind() != roce.KindACK, op.HasAtomicAckETH() != h.Atomic:
		return false
	}
	return op.Starts() == (p.PSN == h.First) || op.Starts() && p.PSN == again
}

// long tells whether a packet at offset of the answer has the length that it must
// have: all but the last one are full, without pad, and not the end; the last one
// is the rest. The answer of an atomic is no payload.
func (h *Read) long(p *port.RxPkt, offset, mtu uint32) bool {
	size, rest := uint32(p.Len), h.Len-offset
	switch {
	case h.Atomic:
		return size == 0
	case p.Opcode.Ends():
		return size == rest && size <= mtu
	}
	return size == mtu && p.Pad == 0 && size < rest
}
