package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// modify executes MODIFY_QP: a transition with the attributes that it needs and
// allows (IBTA 11.2.5.2). Without STATE the QP stays in its state.
func (c *Context) modify(a *abi.QPMailbox, e *Env) result {
	cm := &c.Common
	from, to := cm.State, cm.State
	if a.AttrMask&abi.AttrState != 0 {
		to = a.State
	}
	if r := c.checkModify(a, from, to, e); !r.ok() {
		return r
	}
	c.apply(a, e)
	switch {
	case to == abi.QPReset:
		c.stop()
	case to == abi.QPErr:
		// In ERR too: a failure may wait for acknowledgements that never come.
		if r := &c.Requester; from != abi.QPErr || r.Fail != FailFlush && r.Una != r.Stop {
			c.flush(abi.StatusSuccess, abi.VendorNone)
		}
	case to == abi.QPSQD && from == abi.QPRTS:
		cm.State = to
		c.SQ.Notify = a.AttrMask&abi.AttrSQDAsyncNotify != 0 && a.SQDAsyncNotify
		c.tellDrained()
	default:
		if from == abi.QPSQE {
			c.restart()
		}
		cm.State = to
		if to == abi.QPRTS && c.backlog() {
			c.note(NoteActivate)
		}
	}
	return result{}
}

// checkModify judges mask and transition, then the values.
func (c *Context) checkModify(a *abi.QPMailbox, from, to abi.QPState, e *Env) result {
	mask := a.AttrMask
	if to > abi.QPErr {
		return badParam(abi.SynState)
	}
	required, optional, ok := abi.Transition(c.Common.Type, from, to)
	if !ok {
		return result{abi.AdminBadState, abi.SynTransition}
	}
	if missing := required &^ mask; missing != 0 {
		return badParam(missing.Syndrome())
	}
	if extra := mask &^ (required | optional | abi.AttrState); extra != 0 {
		return badParam(extra.Syndrome())
	}
	if mask&abi.AttrCurState != 0 && a.CurState != from {
		return badParam(abi.SynCurState)
	}
	if from == abi.QPSQD && to != abi.QPErr && to != abi.QPReset && !c.drained() {
		return result{abi.AdminBadState, abi.SynDraining}
	}
	if from == abi.QPSQE && to == abi.QPRTS && !c.flushed() {
		return result{abi.AdminBusy, abi.SynDraining}
	}
	return checkValues(a, e)
}

// checkValues judges the attributes that the mask names; fields of fewer bits
// than a byte, as those of retries, can't be out of range.
func checkValues(a *abi.QPMailbox, e *Env) result {
	has := func(m abi.QPAttr) bool { return a.AttrMask&m != 0 }
	const access = abi.AccessLocalWrite | abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic | abi.AccessMWBind
	depth := abi.DefaultLimits1.MaxRdAtomic
	switch {
	case has(abi.AttrAccessFlags) && a.AccessFlags&^access != 0:
		return badParam(abi.SynAccessFlags)
	case has(abi.AttrPKeyIndex) && a.PKeyIndex != 0:
		return badParam(abi.SynPKeyIndex)
	case has(abi.AttrPort) && a.Port != 1:
		return badParam(abi.SynPort)
	case has(abi.AttrPathMTU) && (a.PathMTU.Bytes() == 0 || a.PathMTU.Bytes() > uint32(e.Reg.MTU)):
		return badParam(abi.SynPathMTU)
	case has(abi.AttrMaxRdAtomic) && a.MaxRdAtomic > depth:
		return badParam(abi.SynMaxRdAtomic)
	case has(abi.AttrMaxDestRdAtomic) && a.MaxDestRdAtomic > depth:
		return badParam(abi.SynMaxDestRdAtomic)
	case has(abi.AttrAV) && !validAV(&a.AV, &e.GIDs):
		return badParam(abi.SynAV)
	}
	return result{}
}

// apply stores the attributes that the mask names.
func (c *Context) apply(a *abi.QPMailbox, e *Env) {
	cm := &c.Common
	has := func(m abi.QPAttr) bool { return a.AttrMask&m != 0 }
	if has(abi.AttrAccessFlags) {
		cm.Access = a.AccessFlags
	}
	if has(abi.AttrPathMTU) {
		cm.MTU = a.PathMTU
	}
	if has(abi.AttrDestQPN) {
		cm.DestQPN = port.QPN(a.DestQPN)
	}
	if has(abi.AttrRQPSN) {
		c.Responder.Expected = roce.PSN(a.RQPSN)
	}
	if has(abi.AttrSQPSN) {
		psn := roce.PSN(a.SQPSN)
		c.SQ.Next, c.SQ.EnteredPSN, c.SQ.Top = psn, psn, psn
		c.Requester.Una, c.Requester.Asked = psn, psn
	}
	if has(abi.AttrTimeout) {
		cm.Timeout = a.Timeout
	}
	if has(abi.AttrMinRNRTimer) {
		cm.MinRNRTimer = a.MinRNRTimer
	}
	if has(abi.AttrRetryCnt) {
		cm.RetryCnt = a.RetryCnt
	}
	if has(abi.AttrRNRRetry) {
		cm.RNRRetry = a.RNRRetry
	}
	if has(abi.AttrMaxRdAtomic) {
		cm.MaxRd = a.MaxRdAtomic
	}
	if has(abi.AttrMaxDestRdAtomic) {
		cm.MaxDestRd = a.MaxDestRdAtomic
	}
	if has(abi.AttrQKey) {
		cm.QKey = a.QKey
	}
	if has(abi.AttrAV) {
		cm.Address = addressOf(&a.AV, &e.GIDs)
	}
}
