package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// env is that of host 1 with default sizes.
var env = Env{Reg: reg, GIDs: gids, LogWindow: 17, Messages: 128}

// move is a MODIFY_QP.
type move struct {
	to   abi.QPState
	mask abi.QPAttr
}

// toRTS are the moves from RESET to RTS.
var toRTS = []move{
	{abi.QPInit, abi.AttrPKeyIndex | abi.AttrPort | abi.AttrAccessFlags},
	{abi.QPRTR, abi.AttrAV | abi.AttrPathMTU | abi.AttrDestQPN | abi.AttrRQPSN | abi.AttrMaxDestRdAtomic | abi.AttrMinRNRTimer},
	{abi.QPRTS, abi.AttrTimeout | abi.AttrRetryCnt | abi.AttrRNRRetry | abi.AttrSQPSN | abi.AttrMaxRdAtomic},
}

// connected is a mailbox for creation and all moves to RTS, with QP 0x22 of host 2.
func connected() abi.QPMailbox {
	return abi.QPMailbox{
		Type: abi.QPTypeRC, SQLogUnits: 6, RQLogEntries: 4, RQLogStride: 6, SQBase: 0x10000, RQBase: 0x20000,
		PD: 7, SQMaxSGE: 4, RQMaxSGE: 3, SendCQN: 11, RecvCQN: 12, UARPage: 5, SQMaxInline: 64,
		Port: 1, AccessFlags: abi.AccessRemoteWrite, PathMTU: abi.MTU1024, MaxRdAtomic: 4, MaxDestRdAtomic: 4,
		DestQPN: 0x22, RQPSN: 0xfffffe, SQPSN: 0xfffff0, Timeout: 14, MinRNRTimer: 12,
		AV: abi.AV{DMAC: roce.HostMAC(2), SGIDIndex: 1, HopLimit: 64, DGID: roce.GIDFromIPv4(roce.HostIPv4(2)),
			FlowLabel: 0x12345, TrafficClass: 2, UDPSPort: 0xc123},
	}
}

// inState is a QP that was taken to a state the regular way.
func inState(s abi.QPState) *Context {
	a := connected()
	c := &Context{}
	res, _ := c.admin(&port.QPAdmin{Op: port.QPCreate, Attr: a}, true, &env)
	last := s
	if s > abi.QPRTS {
		last = abi.QPRTS
	}
	for _, m := range toRTS[:last] {
		a.State, a.AttrMask = m.to, m.mask|abi.AttrState
		if r := c.modify(&a, &env); !r.ok() {
			panic(r.syndrome)
		}
	}
	if s > abi.QPRTS {
		c.Common.State = s // SQD and SQE with nothing begun, ERR as after flush
	}
	if s == abi.QPErr {
		c.Requester.Fail, c.Requester.Stop = FailFlush, c.Requester.Una
	}
	if res.Status != abi.AdminOK {
		panic(res.Syndrome)
	}
	return c
}

// ofType is a QP of a type that was taken to a state the regular way.
func ofType(typ abi.QPType, s abi.QPState) *Context { return made(typ, s, nil) }

// made is one that uses an SRQ besides.
func made(typ abi.QPType, s abi.QPState, srq *SRQ) *Context {
	a := connected()
	a.Type, a.QKey, a.SRQN = typ, 0x80112233, 3
	c := &Context{}
	if srq != nil {
		a.Flags = abi.QPHasSRQ
		c.Shared.SRQ = *srq
	}
	res, _ := c.admin(&port.QPAdmin{Op: port.QPCreate, Attr: a}, true, &env)
	if res.Status != abi.AdminOK {
		panic(res.Syndrome)
	}
	for last := min(s, abi.QPRTS); c.Common.State != last; {
		from := c.Common.State
		required, _, _ := abi.Transition(typ, from, from+1)
		a.State, a.AttrMask = from+1, required|abi.AttrState
		if r := c.modify(&a, &env); !r.ok() {
			panic(r.syndrome)
		}
	}
	c.Common.State = s
	if srq != nil {
		c.Shared.SRQ = *srq
	}
	return c
}

// unackedTypes are those whose packets nobody acknowledges.
var unackedTypes = []abi.QPType{abi.QPTypeUC, abi.QPTypeUD, abi.QPTypeRaw}

// states are all states of a QP.
var states = []abi.QPState{abi.QPReset, abi.QPInit, abi.QPRTR, abi.QPRTS, abi.QPSQD, abi.QPSQE, abi.QPErr}
