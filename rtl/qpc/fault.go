package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// placement is what a fault behind the verdict leads to: the NAK, the counter, the
// event if no receive WQE tells, and why, unless the report says more.
type placement struct {
	code   roce.NAKCode
	count  abi.Counter
	note   Note
	vendor abi.VendorErr
}

// placementOf is that of a status: of the receive WQE's, if there is one that tells.
func placementOf(s abi.WCStatus) placement {
	switch s {
	case abi.StatusLocLen:
		return placement{roce.NAKInvalidRequest, abi.RespLocalLengthError, 0, abi.VendorRecvTooLong}
	case abi.StatusLocProt:
		return placement{roce.NAKRemoteOperation, abi.RespLocalProtectionErrors, 0, abi.VendorLKeyUnknown}
	case abi.StatusLocAccess:
		return placement{roce.NAKRemoteAccess, abi.RespRemoteAccessErrors, 0, abi.VendorRKeyUnknown}
	case abi.StatusRemAccess:
		return placement{roce.NAKRemoteAccess, abi.RespRemoteAccessErrors, NoteAccessErr, abi.VendorRKeyUnknown}
	case abi.StatusRemOp:
		return placement{roce.NAKRemoteOperation, 0, NoteReqErr, abi.VendorDMARead}
	case abi.StatusMWBind:
		return placement{roce.NAKRemoteOperation, 0, 0, abi.VendorInvalidate}
	}
	return placement{roce.NAKRemoteOperation, 0, 0, abi.VendorWQEFormat}
}

// placeFault takes the report that a packet could not be placed, or that a READ
// response could not be read. The receive WQEs of packets judged before are
// completed by scatter, that of a message in progress too.
func (c *Context) placeFault(o *port.RxOp, v *port.RxVerdict, e *Env) Bank {
	f := placementOf(o.Status)
	if o.Vendor != abi.VendorNone {
		f.vendor = o.Vendor
	}
	v.Action, v.Status, v.Vendor = port.RxFailed, o.Status, f.vendor
	if o.Send {
		return c.sendFault(o, v, e)
	}
	w := c.unreadable(o, v)
	if !c.responds() && c.Common.State != abi.QPErr {
		return w // reset since: nobody waits for a NAK
	}
	if c.unacked() && peersFault(o.Status) {
		v.Drop = f.count
		return w | c.takeBack(o)
	}
	r := &c.Responder
	if c.fails(o.PSN) {
		v.Drop = f.count
		c.note(f.note)
		if !o.Silent && !c.unacked() {
			msn := o.MSN
			if o.Resp {
				msn = r.MSN
			}
			v.Ack = port.AckReq{Send: true, QPN: o.QPN, PSN: o.PSN, Syndrome: uint8(roce.NAKSyndrome(f.code)), MSN: msn}
		}
	}
	if !o.Resp { // scatter has nothing to do with a response
		r.Incoming = IncomingNone
	}
	c.flush(v.Status, v.Vendor)
	return w | InCommon | InRequester | InResponder
}

// peersFault tells whether a fault is the peer's: a QP that acknowledges nothing has dropped
// the message, and that is all.
func peersFault(s abi.WCStatus) bool {
	return s == abi.StatusLocLen || s == abi.StatusRemAccess || s == abi.StatusLocAccess
}

// takeBack is what a dropped message leads to: all that scatter got of the QP behind it
// was dropped too, and the receive WQEs that this took, or had flushed, are to be taken
// again. Those of an SRQ have ended.
func (c *Context) takeBack(o *port.RxOp) Bank {
	r := &c.Responder
	r.Incoming = IncomingNone
	if c.hasSRQ() {
		return InResponder
	}
	r.CI = o.RQIdx
	if c.Common.State == abi.QPErr && r.CI != r.PI {
		c.note(NoteFlushRQ)
	}
	return InResponder
}

// unreadable notes that an entry of the SRQ could not be read: SRQ_ERR.
func (c *Context) unreadable(o *port.RxOp, v *port.RxVerdict) Bank {
	if !c.hasSRQ() || o.Resp || v.Vendor != abi.VendorWQERead && v.Vendor != abi.VendorWQEStale || !c.Shared.fail() {
		return 0
	}
	c.Shared.Failed = true
	return InShared
}

// fails notes a fatal fault of the responder at a PSN, and tells whether it is the
// oldest: the peer gets no other NAK after that of an older one.
func (c *Context) fails(psn roce.PSN) bool {
	r := &c.Responder
	if r.Failed && !psn.Before(r.FailedAt) {
		return false
	}
	r.Failed, r.FailedAt = true, psn
	return true
}

// sendFault takes scatter's report that a response could not be placed: the WQE
// whose answer it is fails. It, and what is behind it, may have been acknowledged
// here; but nothing of that has got to retrans.
func (c *Context) sendFault(o *port.RxOp, v *port.RxVerdict, e *Env) Bank {
	v.HasEvent = true
	if !c.sends() {
		v.Event = c.early(o.QPN, e)
		return 0
	}
	if o.PSN.Before(c.Requester.Una) {
		c.Requester.Una = o.PSN
	}
	c.fault(o.PSN, v.Status, v.Vendor)
	c.Common.Pending &^= NoteEvent // the verdict carries it
	v.Event = c.event(o.QPN, e)
	return InCommon | InRequester
}
