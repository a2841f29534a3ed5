package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// retire takes what retrans and cq_writer report.
func (c *Context) retire(r *port.Retire) Bank {
	if !c.Common.Exists {
		return 0
	}
	switch r.Kind {
	case port.RetireDone:
		c.SQ.Messages -= uint16(r.Messages)
		c.SQ.Oldest = r.Oldest
		c.tellDrained()
		if c.unacked() {
			c.sent(r.Una)
		} else {
			c.retireReads(r.Una)
		}
		return InSQ | InRequester
	case port.RetireTimeout:
		return c.timeout(r.Una)
	case port.RetireFatal:
		return c.fatal()
	}
	return c.rewound(r)
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

// sqFault takes a local fault that pkt_tx met at a PSN. One of a request that is not
// needed any more, since it is from before a rewind or was acknowledged meanwhile, says
// nothing: its memory may have gone rightly.
func (c *Context) sqFault(f *port.SQFault) Bank {
	r := &c.Requester
	if !c.sends() || f.Gen != r.Gen || f.PSN.Before(r.Una) || !c.fault(f.PSN, f.Status, f.Vendor) {
		return 0
	}
	return InCommon | InRequester
}

// sends tells whether the send queue is at work, or was when the QP failed.
func (c *Context) sends() bool {
	switch c.Common.State {
	case abi.QPRTS, abi.QPSQD, abi.QPSQE, abi.QPErr:
		return true
	}
	return false
}
