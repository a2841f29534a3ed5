package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// empty tells whether there is no receive WQE to take.
func (c *Context) empty() bool {
	if c.hasSRQ() {
		return c.Shared.left() == 0
	}
	r := &c.Responder
	return r.PI == r.CI
}

// take takes the next receive WQE for a message.
func (c *Context) take(v *port.RxVerdict) Bank {
	r := &c.Responder
	v.TakesWQE = true
	if !c.hasSRQ() {
		r.Held = r.CI
		r.CI++
		return InResponder
	}
	number, first, limit := c.Shared.take()
	r.Held, v.First = number, first
	c.Shared.Limited = c.Shared.Limited || limit
	return InResponder | InShared
}

// describe puts the place of a receive WQE into a verdict.
func (c *Context) describe(index uint16, v *port.RxVerdict) {
	cm := &c.Common
	if c.hasSRQ() {
		v.SRQN = cm.SRQN
		c.Shared.describe(index, v)
		return
	}
	v.RQIdx = index
	v.RQPD = cm.PD
	v.RQStride = 1 << cm.StrideLog
	v.RQLog = cm.RQLog
	v.RQAddr = cm.RQBase + port.BusAddr(abi.RingSlot(index, cm.RQLog))<<cm.StrideLog
	v.RQNext = c.Responder.PI - c.Responder.CI
}

// giveUp ends the message that is coming in, which will not be completed. Its receive
// WQE is the next to be taken again; one of an SRQ can't go back and ends in error.
func (c *Context) giveUp(why Refusal, v *port.RxVerdict) {
	r := &c.Responder
	if r.Incoming == IncomingSend {
		if c.hasSRQ() {
			c.describe(r.Held, v)
			v.HasBroken, v.Broken, v.BrokenStatus, v.BrokenVendor = true, r.Held, why.Status, why.Vendor
		} else {
			r.CI = r.Held
		}
	}
	r.Incoming = IncomingNone
}

// flushRQ takes the next receive WQE of a QP in ERR: the one held by a message in
// progress, then those posted. Those of an SRQ stay for others; so when its own is
// flushed, the last one is done, which is told once.
func (c *Context) flushRQ(v *port.RxVerdict) Bank {
	r := &c.Responder
	v.Action = port.RxNothing
	if c.Common.State != abi.QPErr {
		return 0
	}
	switch {
	case r.Incoming == IncomingSend:
		r.Incoming = IncomingNone
		c.describe(r.Held, v)
	case c.hasSRQ():
		v.LastWQE = !r.LastWQE
		r.LastWQE = true
		return InResponder
	case r.CI == r.PI:
		return 0
	default:
		v.TakesWQE = true
		c.describe(r.CI, v)
		r.CI++
		v.RQNext--
	}
	v.Action = port.RxFlushed
	v.Status, v.Vendor = abi.StatusWRFlush, abi.VendorFlush
	v.EndsWQE = true
	v.More = c.hasSRQ() || r.CI != r.PI
	return InResponder
}

// purge has the receive WQE of an SRQ that a QP in RESET holds end: its life is over,
// and its slot is free.
func (c *Context) purge(v *port.RxVerdict) Bank {
	v.Action = port.RxNothing
	if c.Common.State != abi.QPReset || !c.hasSRQ() || c.Responder.Incoming != IncomingSend {
		return 0
	}
	c.giveUp(Refusal{abi.StatusWRFlush, abi.VendorFlush}, v)
	return InResponder
}
