package wqesched

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// noReads tells whether the QP may never have a READ or atomic outstanding.
func noReads(c *port.SQCtx) bool { return c.Reads == 0 && !c.Reading }

// unlimited stands for Credits when the peer gives none.
const unlimited = 0xffff

// blocked stops the service at a WQE that may not be started yet. An Activate
// follows when READs have retired, or credits have come.
func (x *Exec) blocked(s *service, w *wqe, at *progress) bool {
	c := &s.Ctx
	switch {
	case w.Fence && at.Reading:
	case w.Takes && w.Kind == kindSend && at.Credits == 0:
	case w.Kind == kindRead && at.Reads == 0 && !noReads(c):
	case w.Kind == kindRead && packetsOf(w.Len, mtuShift(c.MTU)) > maxReadAhead && !(c.Idle && at.PSN == c.NextPSN):
	default:
		return false
	}
	at.Stop, at.Outcome = true, idle
	return true
}

// enter puts a WQE into the outstanding table, and returns the entry of one that
// needs no answer.
func (x *Exec) enter(s *service, w *wqe, at *progress) *port.Sent {
	c := &s.Ctx
	e := x.Sent.Next()
	*e = port.Sent{
		QPN:      c.QPN,
		Kind:     port.SentLocal,
		UnitIdx:  at.Idx,
		Op:       w.Op,
		Signaled: w.Signaled || c.SigAll,
		SendCQN:  c.SendCQN,
		Arm:      c.Arm,
		FirstPSN: at.PSN,
		LastPSN:  at.PSN,
		ByteLen:  w.Len,
		Status:   w.Status,
		Vendor:   w.Vendor,
	}
	at.Entries--
	at.Used++
	return e
}

// enterLocal enters a WQE that needs no answer. A READ or atomic that comes here
// is one of a QP that may have none.
func (x *Exec) enterLocal(s *service, w *wqe, at *progress) {
	e := x.enter(s, w, at)
	switch w.Kind {
	case kindRead:
		e.Status, e.Vendor = abi.StatusLocQPOp, abi.VendorWQEOp
		at.Fault, at.Stop, at.Outcome = true, true, idle
	case kindFault:
		at.Fault = true
	}
}

// enterWire enters a WQE that takes n PSNs.
func (x *Exec) enterWire(s *service, w *wqe, at *progress, n uint32) {
	e := x.enter(s, w, at)
	e.Kind, e.LastPSN = port.SentWire, at.PSN.Add(n-1)
	at.Requests++
	if w.Takes {
		at.Credited++
		if at.Credits != unlimited {
			at.Credits--
		}
	}
}

// maxReadAhead is the longest READ, in PSNs, that may be started while anything is
// in flight: less than the 2^16 packets of a window are, and 2^23 PSNs may be.
const maxReadAhead = roce.MaxOutstanding - 1<<16

// noEntry stops the service: at the QP's limit there is nothing to do before an
// entry of its own ends; at the end of the table the QP waits for whichever entry
// comes back first.
func (x *Exec) noEntry(s *service, at *progress) {
	at.Stop, at.Outcome = true, starved
	if at.Used >= s.Ctx.Messages {
		at.Outcome = idle
	}
}
