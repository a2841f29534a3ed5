package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// FailKind says how the send queue of a QP in ERR or SQE ends.
type FailKind uint8

// Ways to fail.
const (
	FailNone  FailKind = iota
	FailLocal          // the first PSN not sent is Stop; the faulty WQE is in the outstanding table with its own status
	FailAt             // the WQE of PSN Stop ends with Status, after all before it
	FailFlush          // all from PSN Stop on is flushed
)

// Width is 2 bits.
func (FailKind) Width() int { return 2 }

func (k FailKind) String() string { return [...]string{"NONE", "LOCAL", "AT", "FLUSH"}[k&3] }

// fault ends the send queue with status at the WQE that holds psn, and takes the
// QP to ERR or SQE. Of several faults the one of the oldest PSN counts, and none counts
// once everything is flushed. It tells whether this one did.
func (c *Context) fault(psn roce.PSN, status abi.WCStatus, vendor abi.VendorErr) bool {
	r := &c.Requester
	if r.Fail != FailNone && psn.Diff(r.Una) >= r.Stop.Diff(r.Una) {
		return false
	}
	r.Fail, r.Stop, r.Status, r.Vendor = FailAt, psn, status, vendor
	c.stopSending()
	c.note(NoteEvent)
	return true
}

// flush ends the send queue with nothing but flushes, and takes the QP to ERR. A
// failure that has come to its turn keeps its status; one that still waits for
// earlier WQEs is flushed with them. status and vendor are for QUERY_QP.
func (c *Context) flush(status abi.WCStatus, vendor abi.VendorErr) {
	r := &c.Requester
	if r.Fail != FailNone && r.Una == r.Stop {
		c.enterErr()
		return
	}
	if r.Fail == FailNone {
		r.Status, r.Vendor = status, vendor
	}
	r.Fail, r.Stop = FailFlush, r.Una // nothing more is acknowledged
	c.enterErr()
	c.note(NoteEvent)
}

// enterErr takes the QP to ERR: both queues are flushed.
func (c *Context) enterErr() {
	c.Common.State = abi.QPErr
	if c.backlog() {
		c.note(NoteActivate)
	}
	if r := &c.Responder; r.Incoming == IncomingSend || r.PI != r.CI || c.hasSRQ() && !r.LastWQE {
		c.note(NoteFlushRQ)
	}
}

// event is what retrans should know of the QP, when it has learned of everything
// before. A flush is a failure at the oldest PSN that is not acknowledged: WQEs
// before it, whose acknowledgements are on their way to retrans, still succeed.
func (c *Context) event(qpn port.QPN, e *Env) port.AckEvent {
	r := &c.Requester
	v := port.AckEvent{QPN: qpn, Una: r.Una, Arm: c.arm(e)}
	switch r.Fail {
	case FailAt:
		v.Fail, v.FailPSN, v.Status, v.Vendor, v.Gen = true, r.Stop, r.Status, r.Vendor, r.Gen
	case FailFlush:
		v.Fail, v.FailPSN, v.Status, v.Vendor, v.Gen = true, r.Stop, abi.StatusWRFlush, abi.VendorFlush, r.Gen
	}
	return v
}

// early is the same at any time: data that scatter may still hold is not
// acknowledged by it.
func (c *Context) early(qpn port.QPN, e *Env) port.AckEvent {
	v := c.event(qpn, e)
	v.Una = c.posted()
	return v
}

// limit is the PSN after the last one that may be acknowledged: the last one that
// was described, before a rewind too, or that the open service may describe.
func (c *Context) limit() roce.PSN {
	s := &c.SQ
	return s.Next.Add(max(s.Top.Diff(s.Next), s.Granted))
}

// unanswered tells whether anything that is not acknowledged yet still may be.
func (c *Context) unanswered() bool {
	r := &c.Requester
	if r.Fail != FailNone {
		return r.Una != r.Stop
	}
	return r.Una != c.limit()
}
