package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// each runs a test with a QP of each type that nobody acknowledges.
func each(t *testing.T, s abi.QPState, f func(t *testing.T, x *Context)) {
	for _, typ := range unackedTypes {
		t.Run(typ.String(), func(t *testing.T) { f(t, ofType(typ, s)) })
	}
}

// leaving is a QP with n packets of as many WQEs described from PSN first on.
func (c *Context) leaving(first roce.PSN, n uint16) {
	c.Requester.Una, c.Requester.Asked = first, first
	c.SQ = SQ{PI: n, Exec: n, Entered: n, Next: first.Add(uint32(n)), EnteredPSN: first.Add(uint32(n)), Top: first.Add(uint32(n)), Messages: n}
}

func TestServiceOfEachType(t *testing.T) {
	e := env
	e.Reg.MTU = 2048
	for _, c := range []struct {
		typ abi.QPType
		mtu uint16
	}{{abi.QPTypeUC, 1024}, {abi.QPTypeUD, 2048}, {abi.QPTypeRaw, 4096}} {
		x := ofType(c.typ, abi.QPRTS)
		psn := x.SQ.Next
		x.SQ.PI = 7
		require.Equal(t, port.SQCtx{
			QPN: 3, Type: c.typ, State: abi.QPRTS, Run: true, PD: 7, MTU: c.mtu, SQBase: 0x10000, SQLog: 6, PI: 7,
			NextPSN: psn, EnteredPSN: psn, Window: 0xffff, Idle: true, Messages: 128, Credits: 0xffff, SendCQN: 11,
		}, x.get(&port.SQGet{QPN: 3, Packets: 16}, &e))
		require.Equal(t, uint32(16), x.SQ.Granted)
	}
}

// What is in flight has no limit but that 2^16 packets more fit into 2^23 PSNs.
func TestWindowWithoutAcknowledgements(t *testing.T) {
	each(t, abi.QPRTS, func(t *testing.T, x *Context) {
		for flight, want := range map[uint32]uint16{0: 0xffff, 1: 0xffff, 1<<23 - 1<<16 - 1: 0xffff, 1<<23 - 1<<16: 0, 1<<23 - 1: 0} {
			x.SQ = SQ{PI: 1, Next: roce.PSN(0xfffff0).Add(flight)}
			x.Requester.Una = 0xfffff0
			got := x.get(&port.SQGet{Packets: 16}, &env)
			require.Equal(t, want, got.Window, "%#x", flight)
			require.Equal(t, flight == 0, got.Idle)
			require.True(t, got.Run)
		}
	})
}

func TestWhatHasLeft(t *testing.T) {
	each(t, abi.QPRTS, func(t *testing.T, x *Context) {
		x.leaving(0xfffffe, 4)
		done := func(una roce.PSN, n uint8) {
			x.retire(&port.Retire{Kind: port.RetireDone, QPN: 1, Messages: n, Una: una})
		}
		done(0xffffff, 1)
		require.Equal(t, roce.PSN(0xffffff), x.Requester.Una)
		done(1, 0)
		require.Equal(t, roce.PSN(1), x.Requester.Una, "with no message too")
		done(0xffffff, 1)
		require.Equal(t, roce.PSN(1), x.Requester.Una, "not back")
		done(3, 0)
		require.Equal(t, roce.PSN(1), x.Requester.Una, "not beyond what was described")
		require.Equal(t, uint16(2), x.SQ.Messages)
		done(2, 2)
		x.SQ.PI++
		require.True(t, x.get(&port.SQGet{Packets: 16}, &env).Idle)
		done(2+16, 0)
		require.Equal(t, roce.PSN(2+16), x.Requester.Una, "what the open service may describe")
		x.put(&port.SQPut{ExecIdx: 5, Entered: 5, NextPSN: 2 + 16, EnteredPSN: 2 + 16})
		require.Equal(t, abi.QPRTS, x.Common.State)
		require.Zero(t, x.Common.Pending)
	})
}

// A fault takes the send queue alone to SQE: what is before it is done, it ends with its
// status, what is behind it is flushed, and so is what is posted later.
func TestSendFault(t *testing.T) {
	each(t, abi.QPRTS, func(t *testing.T, x *Context) {
		x.Responder.PI, x.Requester.Gen = 3, 9
		x.leaving(0xfffffe, 4)
		require.Equal(t, InCommon|InRequester, x.sqFault(&port.SQFault{PSN: 0, Gen: 9, Status: abi.StatusLocProt, Vendor: abi.VendorLKeyPD}))
		require.Equal(t, abi.QPSQE, x.Common.State)
		require.Equal(t, NoteEvent, x.Common.Pending, "no receive WQE is flushed")
		require.Equal(t, port.AckEvent{
			QPN: 1, Una: 0xfffffe, Fail: true, FailPSN: 0, Status: abi.StatusLocProt, Vendor: abi.VendorLKeyPD, Gen: 9,
		}, x.event(1, &env))
		require.True(t, head(x, port.TxHdrReq{Gen: 9}).Drop)
		x.retire(&port.Retire{Kind: port.RetireDone, Messages: 2, Una: 0})
		x.retire(&port.Retire{Kind: port.RetireDone, Una: 1})
		require.Equal(t, roce.PSN(0), x.Requester.Una, "not beyond the fault")
		require.Zero(t, x.sqFault(&port.SQFault{PSN: 1, Gen: 9, Status: abi.StatusLocLen}), "a later one")
		require.Zero(t, x.sqFault(&port.SQFault{PSN: 0, Gen: 8, Status: abi.StatusLocLen}), "an older one")
		b := x.ring(&port.QPDoorbell{Index: 6, Page: 5})
		require.True(t, b.Activate)
		got := x.get(&port.SQGet{Packets: 16}, &env)
		require.True(t, got.Flush && !got.Run && !got.Idle)
		require.Equal(t, abi.QPSQE, got.State)
		require.Equal(t, uint16(4), got.ExecIdx)
		require.Equal(t, roce.PSN(2), got.NextPSN)
	})
}

// A WQE that can't be executed ends by itself, behind what is before it, which is sent.
func TestWQEThatCantBeSent(t *testing.T) {
	each(t, abi.QPRTS, func(t *testing.T, x *Context) {
		x.SQ.PI, x.Responder.PI = 5, 3
		psn := x.SQ.Next
		x.get(&port.SQGet{Packets: 16}, &env)
		x.put(&port.SQPut{ExecIdx: 3, Entered: 3, NextPSN: psn.Add(2), EnteredPSN: psn.Add(2), Messages: 3, Fault: true})
		require.Equal(t, abi.QPSQE, x.Common.State)
		require.Equal(t, NoteActivate, x.Common.Pending)
		require.False(t, head(x, port.TxHdrReq{LastPSN: psn}).Drop, "what is before it")
		require.False(t, x.event(1, &env).Fail)
		x.sqFault(&port.SQFault{PSN: psn.Add(1), Status: abi.StatusLocProt})
		require.True(t, head(x, port.TxHdrReq{LastPSN: psn}).Drop, "one before it has failed")
		require.True(t, x.event(1, &env).Fail)
		require.Equal(t, abi.QPSQE, x.Common.State)
	})
}

func TestSQEToRTS(t *testing.T) {
	each(t, abi.QPRTS, func(t *testing.T, x *Context) {
		toRTS := &abi.QPMailbox{AttrMask: abi.AttrState, State: abi.QPRTS}
		x.Requester.Gen = 255
		x.leaving(0xfffffe, 4)
		x.sqFault(&port.SQFault{PSN: 0xffffff, Gen: 255, Status: abi.StatusLocProt})
		x.ring(&port.QPDoorbell{Index: 6, Page: 5})
		busy := func(why string) {
			before := *x
			require.Equal(t, result{abi.AdminBusy, abi.SynDraining}, x.modify(toRTS, &env), why)
			require.Equal(t, before, *x)
		}
		busy("not all is entered")
		x.get(&port.SQGet{Packets: 16}, &env)
		x.SQ.PI = 4
		busy("a service is open")
		x.SQ.PI = 6
		x.put(&port.SQPut{ExecIdx: 6, Entered: 6, NextPSN: 2, EnteredPSN: 2, Messages: 2})
		busy("not all has ended")
		x.retire(&port.Retire{Kind: port.RetireDone, Messages: 6, Una: 0xffffff})
		x.Common.Pending = 0
		require.Equal(t, result{}, x.modify(toRTS, &env))
		require.Equal(t, SQ{PI: 6, Exec: 6, Entered: 6, Next: 2, EnteredPSN: 2, Top: 2}, x.SQ)
		require.Equal(t, Requester{Una: 2, Asked: 2, Gen: 0}, x.Requester, "the next generation")
		require.Zero(t, x.Common.Pending)
		require.True(t, head(x, port.TxHdrReq{Gen: 255}).Stale)
		require.Zero(t, x.sqFault(&port.SQFault{PSN: 2, Gen: 255, Status: abi.StatusLocProt}))
		require.Equal(t, abi.QPRTS, x.Common.State)
		x.ring(&port.QPDoorbell{Index: 7, Page: 5})
		got := x.get(&port.SQGet{Packets: 16}, &env)
		require.True(t, got.Run && got.Idle)
		require.Equal(t, uint8(128), got.Messages)
	})
}

// A WQE that can't be executed holds nothing back after the restart.
func TestRestartAfterAFaultyWQE(t *testing.T) {
	x := ofType(abi.QPTypeUD, abi.QPRTS)
	x.SQ.PI = 1
	psn := x.SQ.Next
	x.get(&port.SQGet{Packets: 16}, &env)
	x.put(&port.SQPut{ExecIdx: 1, Entered: 1, NextPSN: psn, EnteredPSN: psn, Messages: 1, Fault: true})
	x.retire(&port.Retire{Kind: port.RetireDone, Messages: 1, Una: psn})
	require.Equal(t, result{}, x.modify(&abi.QPMailbox{AttrMask: abi.AttrState, State: abi.QPRTS}, &env))
	require.False(t, x.SQ.Faulty)
	require.Equal(t, FailNone, x.Requester.Fail)
	require.False(t, head(x, port.TxHdrReq{Gen: 1}).Drop)
}

// From SQE a QP goes to ERR as from RTS; a fault that has come to its turn keeps its status.
func TestSQEToErr(t *testing.T) {
	each(t, abi.QPRTS, func(t *testing.T, x *Context) {
		x.Responder.PI = 1
		x.leaving(0xfffffe, 4)
		x.sqFault(&port.SQFault{PSN: 0, Status: abi.StatusLocProt})
		require.Equal(t, result{}, x.modify(&abi.QPMailbox{AttrMask: abi.AttrState, State: abi.QPErr}, &env))
		require.Equal(t, abi.QPErr, x.Common.State)
		require.Equal(t, NoteEvent|NoteFlushRQ, x.Common.Pending)
		require.Equal(t, FailFlush, x.Requester.Fail)
		x.sqFault(&port.SQFault{PSN: 0xfffffe, Status: abi.StatusLocProt})
		require.Equal(t, abi.QPErr, x.Common.State)
	})
}

func TestRCStillFailsToErr(t *testing.T) {
	x := inFlight(4)
	x.fault(0xfffff0, abi.StatusLocProt, 0)
	require.Equal(t, abi.QPErr, x.Common.State)
}

// QUERY_QP gives back what was set.
func TestQueryOfEachType(t *testing.T) {
	for _, typ := range unackedTypes {
		x := ofType(typ, abi.QPRTS)
		var a abi.QPMailbox
		x.query(&a)
		require.Equal(t, typ, a.Type)
		require.Equal(t, map[bool]uint32{true: 0x80112233}[typ == abi.QPTypeUD], a.QKey)
		require.Equal(t, map[bool]abi.AV{true: connected().AV}[typ == abi.QPTypeUC], a.AV)
	}
	x := ofType(abi.QPTypeUC, abi.QPRTS)
	m := connected()
	m.AttrMask = abi.AttrAV
	m.AV.SGIDIndex, m.AV.DGID, m.AV.VLANValid, m.AV.VLAN = 3, roce.HostIPv6(9), true, 0x6123
	x.apply(&m, &env)
	var a abi.QPMailbox
	x.query(&a)
	require.Equal(t, m.AV, a.AV)
}
