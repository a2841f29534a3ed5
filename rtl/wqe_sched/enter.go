package wqesched

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// noReads tells whether the QP may never have a READ or atomic outstanding.
func noReads(c *port.SQCtx) bool { return c.Reads == 0 && !c.Reading }

// kindOf is the kind of a WQE on its QP: where none may have a READ or atomic
// outstanding, that is a fault.
func kindOf(c *port.SQCtx, w *wqe) wqeKind {
	if w.Kind == kindRead && noReads(c) {
		return kindFault
	}
	return w.Kind
}

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
	case (long(c, w) || w.Kind == kindMemory) && !at.alone(c):
	case w.Kind == kindMemory && at.Reading:
	default:
		return false
	}
	at.Stop, at.Outcome = true, idle
	return true
}

// long tells a message that takes nearly all PSNs that may be outstanding, and has no
// window that opens bit by bit: a READ, and what nobody answers.
func long(c *port.SQCtx, w *wqe) bool {
	return (w.Kind == kindRead || w.Kind == kindSend && unacked(c.Type)) && packetsOf(w.Len, mtuShift(c)) > maxReadAhead
}

// onWire tells whether a WQE takes PSNs.
func onWire(c *port.SQCtx, w *wqe) bool {
	kind := kindOf(c, w)
	return kind == kindSend || kind == kindRead
}

// mayEnter tells whether a WQE may be started now; else the service is stopped.
func (x *Exec) mayEnter(s *service, w *wqe, at *progress) bool {
	switch {
	case x.blocked(s, w, at):
		return false
	case onWire(&s.Ctx, w) && at.shut():
		at.noPacket()
		return false
	case at.Entries == 0:
		x.noEntry(s, at)
		return false
	}
	return true
}

// enter puts a WQE into the outstanding table, if it may be started now.
func (x *Exec) enter(s *service, w *wqe, at *progress) bool {
	c := &s.Ctx
	if !x.mayEnter(s, w, at) {
		return false
	}
	e := x.Sent.Next()
	*e = port.Sent{
		QPN:      c.QPN,
		Gen:      c.Gen,
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
	if unacked(c.Type) {
		e.Arm = 0
	}
	at.Entries--
	at.Used++
	at.Entered += uint16(w.Units)
	switch {
	case onWire(c, w):
		x.enterWire(s, w, at, e)
	case w.Kind == kindMemory:
		e.Status, e.Vendor = at.Mem.Status, at.Mem.Vendor
	case w.Kind == kindRead:
		e.Status, e.Vendor = abi.StatusLocQPOp, abi.VendorWQEOp
	}
	return true
}

// enterWire enters a WQE that takes PSNs. Of a READ or atomic qpc is told too, and
// of one that data comes back for, rq_fetch.
func (x *Exec) enterWire(s *service, w *wqe, at *progress, e *port.Sent) {
	c := &s.Ctx
	n := packetsOf(w.Len, mtuShift(c))
	e.Kind, e.LastPSN = port.SentWire, at.PSN.Add(n-1)
	at.EnteredPSN = at.PSN.Add(n)
	at.Requests++
	if w.Takes {
		at.Credited++
		if at.Credits != unlimited {
			at.Credits--
		}
	}
	if w.Kind != kindRead {
		return
	}
	x.ReadPost.Put(port.ReadPost{QPN: c.QPN, Op: w.Op, UnitIdx: at.Idx, FirstPSN: at.PSN, LastPSN: e.LastPSN, Len: w.Len})
	if w.Len > 0 {
		x.Ahead.Put(port.SQAhead{QPN: c.QPN, Base: c.SQBase, Log: c.SQLog, Idx: at.Idx, Units: w.Units})
	}
	at.Reads--
	at.Reading = true
}

// maxReadAhead is the longest READ, in PSNs, or message that nobody answers, that may be
// started while anything is in flight: less than the 2^16 packets of a window are, and 2^23 PSNs may be.
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
