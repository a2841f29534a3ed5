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
	c.apply(a)
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
	case has(abi.AttrAV) && !validAV(&a.AV):
		return badParam(abi.SynAV)
	case has(abi.AttrAV) && a.AV.VLANValid:
		return notSupported(abi.SynAV)
	}
	return result{}
}

// validAV tells whether an address vector is one of RoCEv2: a source address of
// the family of its destination, and a source port of the range for entropy.
func validAV(av *abi.AV) bool {
	_, v4 := roce.GID(av.DGID).IPv4()
	index := uint8(0)
	if v4 {
		index = 1
	}
	return av.SGIDIndex == index && av.UDPSPort >= 0xc000 && av.DGID != [16]byte{}
}

// apply stores the attributes that the mask names.
func (c *Context) apply(a *abi.QPMailbox) {
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
	if has(abi.AttrAV) {
		_, v4 := roce.GID(a.AV.DGID).IPv4()
		cm.V6, cm.DMAC, cm.DGID = !v4, a.AV.DMAC, a.AV.DGID
		cm.Flow, cm.SPort, cm.TOS, cm.TTL = a.AV.FlowLabel, a.AV.UDPSPort, a.AV.TrafficClass, a.AV.HopLimit
	}
}
