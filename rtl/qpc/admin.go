package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// Limits of what CREATE_QP takes, besides those of abi.DefaultLimits0.
const (
	minStrideLog = 5  // one control segment and one element
	maxStrideLog = 12 // far above what the device's elements need
	ringAlign    = 64 // bytes
)

// result is how an admin operation ends.
type result struct {
	status   abi.AdminStatus
	syndrome abi.AdminSyndrome
}

func (r result) ok() bool { return r.status == abi.AdminOK }

func badParam(s abi.AdminSyndrome) result { return result{abi.AdminBadParam, s} }

func notSupported(s abi.AdminSyndrome) result { return result{abi.AdminNotSupported, s} }

// admin executes an operation on a QP. What fails changes nothing. known tells
// whether the number is one of the device's.
func (c *Context) admin(a *port.QPAdmin, known bool, e *Env) (res port.QPAdminRes, w Bank) {
	var r result
	switch {
	case !known || a.Op != port.QPCreate && !c.Common.Exists:
		r = result{abi.AdminBadObject, abi.SynObject}
	case a.Op == port.QPCreate:
		if r = c.create(&a.Attr); r.ok() {
			w = InAll
		}
	case a.Op == port.QPModify:
		if r = c.modify(&a.Attr, e); r.ok() {
			res.Quiesce = c.Common.State == abi.QPReset
			w = InAll &^ InLists
		}
	case a.Op == port.QPQuery:
		c.query(&res.Attr)
	case a.Op == port.QPDestroy:
		c.query(&res.Attr)
		res.Quiesce = true
		c.stop()
		w = InCommon
	case a.Op == port.QPFree:
		*c = Context{Common: Common{Queued: c.Common.Queued}, Requester: c.outlives()}
		w = InAll
	case a.Op == port.QPClear:
		c.clear()
		w = InAll
	default:
		r = result{abi.AdminBadOpcode, abi.SynNone}
	}
	res.Status, res.Syndrome = r.status, uint8(r.syndrome)
	return res, w
}

// stop is the first phase of RESET and destruction: from now on every operation
// of the pipelines finds a QP that does nothing, and has nothing to tell.
func (c *Context) stop() {
	c.Common.State = abi.QPReset
	c.Common.Pending = 0
}

// outlives is what a QP number keeps from one life to the next: in pkt_tx a new QP
// must not be taken for one from before the last rewind of the old one.
func (c *Context) outlives() Requester { return Requester{Gen: c.Requester.Gen} }

// clear is the second phase of RESET: the QP is as it was created.
func (c *Context) clear() {
	old := c.Common
	*c = Context{Common: Common{
		Exists: true, Queued: old.Queued,
		Type: old.Type, Flags: old.Flags, Page: old.Page,
		SQLog: old.SQLog, RQLog: old.RQLog, StrideLog: old.StrideLog,
		SQMaxSGE: old.SQMaxSGE, RQMaxSGE: old.RQMaxSGE, SQMaxInline: old.SQMaxInline,
		PD: old.PD, SendCQN: old.SendCQN, RecvCQN: old.RecvCQN, SQBase: old.SQBase, RQBase: old.RQBase, SRQN: old.SRQN,
	}, Requester: c.outlives()}
}

// create makes a QP in RESET. That its CQs exist, admin has seen to. Shared is the SRQ
// that it names. With one the ring of a receive queue is not looked at.
func (c *Context) create(a *abi.QPMailbox) result {
	if c.Common.Exists {
		return result{abi.AdminExists, abi.SynObject}
	}
	if r := checkCreate(a, c.Shared.Exists); !r.ok() {
		return r
	}
	*c = Context{Common: Common{
		Exists: true, Queued: c.Common.Queued,
		Type: a.Type, Flags: a.Flags & (abi.QPSigAll | abi.QPHasSRQ), Page: uint8(a.UARPage),
		SQLog: a.SQLogUnits, RQLog: a.RQLogEntries, StrideLog: a.RQLogStride,
		SQMaxSGE: a.SQMaxSGE, RQMaxSGE: a.RQMaxSGE, SQMaxInline: a.SQMaxInline,
		PD: port.PD(a.PD), SendCQN: port.CQN(a.SendCQN), RecvCQN: port.CQN(a.RecvCQN),
		SQBase: port.BusAddr(a.SQBase), RQBase: port.BusAddr(a.RQBase),
	}, Requester: c.outlives()}
	if cm := &c.Common; c.hasSRQ() {
		cm.SRQN = port.SRQN(a.SRQN)
		cm.RQLog, cm.StrideLog, cm.RQMaxSGE, cm.RQBase = 0, 0, 0, 0
	}
	return result{}
}

// checkCreate judges the part of the mailbox that CREATE_QP reads. srq tells whether the
// SRQ that it names exists.
func checkCreate(a *abi.QPMailbox, srq bool) result {
	lim, own := &abi.DefaultLimits0, a.Flags&abi.QPHasSRQ == 0
	switch {
	case a.Type < abi.QPTypeRC, a.Type > abi.QPTypeRaw:
		return badParam(abi.SynQPType)
	case !own && a.Type == abi.QPTypeRaw:
		return notSupported(abi.SynSRQ)
	case !own && !srq:
		return badParam(abi.SynSRQ)
	case a.UARPage >= abi.UARPages:
		return badParam(abi.SynUARPage)
	case a.SQMaxSGE > lim.MaxSGE, own && a.RQMaxSGE > lim.MaxSGE:
		return badParam(abi.SynMaxSGE)
	case a.SQMaxInline > lim.MaxInline:
		return badParam(abi.SynMaxInline)
	case a.SQLogUnits > abi.MaxLogRing, !ringFits(a.SQBase, abi.UnitSize<<a.SQLogUnits):
		return badParam(abi.SynSQ)
	case own && !ringOfRQ(a):
		return badParam(abi.SynRQ)
	}
	return result{}
}

// ringOfRQ tells whether the receive queue of a mailbox is good.
func ringOfRQ(a *abi.QPMailbox) bool {
	return a.RQLogEntries <= abi.MaxLogRing && a.RQLogStride >= minStrideLog && a.RQLogStride <= maxStrideLog &&
		1<<a.RQLogStride >= abi.SGESize*(1+uint32(a.RQMaxSGE)) && ringFits(a.RQBase, 1<<(a.RQLogEntries+a.RQLogStride))
}

// ringFits tells whether a ring is aligned and does not wrap the address space.
func ringFits(base, size uint64) bool {
	return base%ringAlign == 0 && base+(size-1) >= base
}

// query describes the QP. Indices and PSNs of an open service are those of
// before it.
func (c *Context) query(a *abi.QPMailbox) {
	cm, s, r, p := &c.Common, &c.SQ, &c.Requester, &c.Responder
	*a = abi.QPMailbox{
		Type: cm.Type, SQLogUnits: cm.SQLog, RQLogEntries: cm.RQLog, RQLogStride: cm.StrideLog,
		SQBase: uint64(cm.SQBase), RQBase: uint64(cm.RQBase), PD: uint32(cm.PD),
		SendCQN: uint32(cm.SendCQN), RecvCQN: uint32(cm.RecvCQN), SRQN: uint32(cm.SRQN), Flags: cm.Flags, UARPage: uint16(cm.Page),
		SQMaxSGE: cm.SQMaxSGE, RQMaxSGE: cm.RQMaxSGE, SQMaxInline: cm.SQMaxInline,

		State: cm.State, CurState: cm.State, AccessFlags: cm.Access, PathMTU: cm.MTU, QKey: cm.QKey,
		MaxRdAtomic: cm.MaxRd, MaxDestRdAtomic: cm.MaxDestRd, DestQPN: uint32(cm.DestQPN),
		Timeout: cm.Timeout, MinRNRTimer: cm.MinRNRTimer, RetryCnt: cm.RetryCnt, RNRRetry: cm.RNRRetry,
		SQDAsyncNotify: s.Notify, RQPSN: uint32(p.Expected), SQPSN: uint32(s.Next),
		AV: cm.Address.vector(),

		RetryLeft: left(cm.RetryCnt, r.Tries), RNRRetryLeft: left(cm.RNRRetry, r.RNRTries), LastStatus: r.Status, LastVendor: r.Vendor,
		SQProducer: s.PI, SQNext: s.Exec, SQConsumer: s.Entered,
		RQProducer: p.PI, RQConsumer: p.CI,
		NextPSN: uint32(s.Next), UnackedPSN: uint32(r.Una), ExpectedPSN: uint32(p.Expected), MSN: uint32(p.MSN),
	}
	if cm.State != abi.QPReset {
		a.Port = 1
	}
	if s.Messages != 0 {
		a.SQConsumer = s.Oldest
	}
	a.SQDraining = cm.State == abi.QPSQD && !c.drained()
}
