package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// retire takes what retrans and cq_writer report. A timeout is always answered by
// an event, since the timer waits for one.
func (c *Context) retire(r *port.Retire) Bank {
	if !c.Common.Exists {
		return 0
	}
	switch r.Kind {
	case port.RetireDone:
		c.SQ.Messages -= uint16(r.Messages)
		c.SQ.Oldest = r.Oldest
		c.tellDrained()
		c.retireReads(r.Una)
		return InSQ | InRequester
	case port.RetireTimeout:
		return c.timeout(r.Una)
	case port.RetireFatal:
		return c.fatal()
	}
	return 0
}

// timeout ends the WQE of the oldest PSN in flight: with no retries the first
// timeout is the last. One that an acknowledgement has overtaken ends nothing: of
// everything, or one that retrans, which knows of PSNs before known, has not got yet.
func (c *Context) timeout(known roce.PSN) Bank {
	if !c.sends() {
		return 0
	}
	c.note(NoteEvent)
	if una := c.Requester.Una; una != c.limit() && !una.After(known) {
		c.fault(c.Requester.Una, abi.StatusRetryExc, abi.VendorTimeout)
	}
	return InCommon | InRequester
}

// fatal takes a QP to ERR whose completions can no longer be told.
func (c *Context) fatal() Bank {
	if !c.responds() && c.Common.State != abi.QPInit {
		return 0
	}
	c.flush(abi.StatusFatal, abi.VendorCQOverrun)
	c.note(NoteFatal)
	return InCommon | InRequester
}

// sqFault takes a local fault that pkt_tx met at a PSN.
func (c *Context) sqFault(f *port.SQFault) Bank {
	if !c.sends() || !c.fault(f.PSN, f.Status, f.Vendor) {
		return 0
	}
	return InCommon | InRequester
}

// sends tells whether the send queue is at work, or was when the QP failed.
func (c *Context) sends() bool {
	switch c.Common.State {
	case abi.QPRTS, abi.QPSQD, abi.QPErr:
		return true
	}
	return false
}
