package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

func TestFaultOfAPlacement(t *testing.T) {
	for _, c := range []struct {
		status   abi.WCStatus
		syndrome uint8
		vendor   abi.VendorErr
		count    abi.Counter
		note     Note
	}{
		{abi.StatusLocLen, 0x61, abi.VendorRecvTooLong, abi.RespLocalLengthError, 0},
		{abi.StatusLocProt, 0x63, abi.VendorLKeyUnknown, abi.RespLocalProtectionErrors, 0},
		{abi.StatusLocQPOp, 0x63, abi.VendorWQEFormat, 0, 0},
		{abi.StatusRemAccess, 0x62, abi.VendorRKeyUnknown, abi.RespRemoteAccessErrors, NoteAccessErr},
		{abi.StatusLocAccess, 0x62, abi.VendorRKeyUnknown, abi.RespRemoteAccessErrors, 0}, // the receive WQE tells
		{abi.StatusRemOp, 0x63, abi.VendorDMARead, 0, NoteReqErr},
	} {
		for _, given := range []abi.VendorErr{abi.VendorNone, abi.VendorRKeyBounds} {
			x := ready(abi.QPRTS, 2)
			x.SQ.PI = 1
			x.Responder.Incoming = IncomingSend // scatter completes what it has got
			vendor := c.vendor
			if given != abi.VendorNone {
				vendor = given
			}
			v, w := x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, PSN: 0x1234, MSN: 5, Status: c.status, Vendor: given}, &env)
			require.Equal(t, port.RxVerdict{
				Action: port.RxFailed, Kind: port.RxFault, QPN: 1, PD: 7, RecvCQN: 12, SrcQPN: 0x22,
				Drop: c.count, Status: c.status, Vendor: vendor,
				Ack: port.AckReq{Send: true, QPN: 1, PSN: 0x1234, Syndrome: c.syndrome, MSN: 5},
			}, v)
			require.Equal(t, InCommon|InRequester|InResponder, w)
			require.Equal(t, abi.QPErr, x.Common.State)
			require.Equal(t, NoteEvent|NoteActivate|NoteFlushRQ|c.note, x.Common.Pending)
			require.Equal(t, IncomingNone, x.Responder.Incoming)
			require.Equal(t, c.status, x.Requester.Status)
			require.Equal(t, vendor, x.Requester.Vendor)
		}
	}
}

// A key that can't be invalidated: no NAK, and the receive WQE tells.
func TestSilentFault(t *testing.T) {
	x := ready(abi.QPRTS, 2)
	v, _ := x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, PSN: 7, Silent: true, Status: abi.StatusMWBind}, &env)
	require.Equal(t, port.RxFailed, v.Action)
	require.Zero(t, v.Ack)
	require.Zero(t, v.Drop)
	require.Equal(t, abi.VendorInvalidate, v.Vendor)
	require.Equal(t, abi.QPErr, x.Common.State)
	require.Equal(t, NoteEvent|NoteFlushRQ, x.Common.Pending)
}

// A READ response that could not be read: the NAK has the MSN of now, and a message
// that is coming in keeps its receive WQE to be flushed.
func TestFaultOfAReadResponse(t *testing.T) {
	for status, syndrome := range map[abi.WCStatus]uint8{abi.StatusRemAccess: 0x62, abi.StatusRemOp: 0x63} {
		x := ready(abi.QPRTS, 2)
		x.Responder.MSN, x.Responder.Incoming, x.Responder.Held = 9, IncomingSend, 13
		v, _ := x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, PSN: 7, Resp: true, Status: status}, &env)
		require.Equal(t, port.AckReq{Send: true, QPN: 1, PSN: 7, Syndrome: syndrome, MSN: 9}, v.Ack)
		v, _ = x.receive(&port.RxOp{Kind: port.RxFlushRQ, QPN: 1}, &env)
		require.Equal(t, uint16(13), v.RQIdx)
	}
}

// The peer gets the NAK of the oldest fault, and none after it.
func TestOldestFaultIsAnswered(t *testing.T) {
	x := ready(abi.QPRTS, 2)
	fault := func(psn roce.PSN) port.RxVerdict {
		v, _ := x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, PSN: psn, Status: abi.StatusRemAccess}, &env)
		require.Equal(t, port.RxFailed, v.Action)
		return v
	}
	v, _ := x.judge(from2(0x15, 0xfffffe))
	require.Equal(t, uint8(0x61), v.Ack.Syndrome)
	require.True(t, fault(0xfffffa).Ack.Send, "an older one of scatter")
	x.Common.Pending = 0
	for _, psn := range []roce.PSN{0xfffffa, 0xfffffb, 2} {
		v := fault(psn)
		require.False(t, v.Ack.Send, "%v", psn)
		require.Zero(t, v.Drop)
		require.Zero(t, x.Common.Pending&NoteAccessErr)
	}
	require.True(t, fault(0xfffff0).Ack.Send)
}

func TestFaultOfAPlacementInOtherStates(t *testing.T) {
	op := &port.RxOp{Kind: port.RxFault, QPN: 1, PSN: 7, Status: abi.StatusLocProt}
	for _, s := range states {
		x := ready(s, 0)
		v, _ := x.receive(op, &env)
		require.Equal(t, port.RxFailed, v.Action, "always answered")
		require.Equal(t, s >= abi.QPRTR, v.Ack.Send, "%v", s)
		if s < abi.QPRTR {
			require.Equal(t, s, x.Common.State)
			require.Zero(t, v.Drop)
		}
	}
	v, w := new(Context).receive(op, &env)
	require.Equal(t, port.RxFailed, v.Action)
	require.False(t, v.Ack.Send)
	require.Zero(t, w)
}

// The data of a response could not be placed: its WQE fails, whatever has been
// acknowledged here since, and whatever has failed behind it.
func TestFaultOfAnAnswer(t *testing.T) {
	since := map[string]func(x *Context){
		"nothing": func(*Context) {},
		"acknowledgement": func(x *Context) {
			x.judge(ackOf(una.Add(5), 31))
		},
		"NAK":     func(x *Context) { x.judge(ackOf(una.Add(5), 0x61)) },
		"flush":   func(x *Context) { x.flush(abi.StatusSuccess, abi.VendorNone) },
		"fault":   func(x *Context) { x.sqFault(&port.SQFault{PSN: una.Add(7), Status: abi.StatusLocProt}) },
		"timeout": func(x *Context) { x.retire(&port.Retire{Kind: port.RetireTimeout, Una: x.Requester.Una}) },
	}
	for name, do := range since {
		t.Run(name, func(t *testing.T) {
			x := reading(0, 2500, 0, 0, 0, 0) // READ: PSNs 1..3
			x.judge(answerOf(roce.RCReadRespFirst, una.Add(1), 1024))
			x.judge(answerOf(roce.RCReadRespMiddle, una.Add(2), 1024)) // can't be placed
			x.judge(answerOf(roce.RCReadRespLast, una.Add(3), 452))
			do(x)
			v, w := x.receive(&port.RxOp{
				Kind: port.RxFault, QPN: 1, PSN: una.Add(2), Send: true, Status: abi.StatusLocProt, Vendor: abi.VendorLKeyBounds,
			}, &env)
			require.Equal(t, port.RxVerdict{
				Action: port.RxFailed, Kind: port.RxFault, QPN: 1, PD: 7, RecvCQN: 12, SrcQPN: 0x22,
				Status: abi.StatusLocProt, Vendor: abi.VendorLKeyBounds,
				HasEvent: true, Event: port.AckEvent{
					QPN: 1, Una: una.Add(2), Fail: true, FailPSN: una.Add(2),
					Status: abi.StatusLocProt, Vendor: abi.VendorLKeyBounds, Arm: 17 << 20,
				},
			}, v)
			require.Equal(t, InCommon|InRequester, w)
			require.Equal(t, abi.QPErr, x.Common.State)
			require.False(t, x.expectsResponse())
			require.Equal(t, una.Add(1), x.early(1, &env).Una, "the READ is not done")
			require.Zero(t, x.Common.Pending&NoteEvent, "the event goes with the verdict")
			require.False(t, x.Responder.Failed)
		})
	}
}

// A failure before the READ keeps its turn.
func TestFaultOfAnAnswerBehindAFailure(t *testing.T) {
	x := reading(0, 0, 100)
	x.sqFault(&port.SQFault{PSN: una.Add(1), Status: abi.StatusLocQPOp})
	v, _ := x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, PSN: una.Add(2), Send: true, Status: abi.StatusLocProt}, &env)
	require.Equal(t, una.Add(1), v.Event.FailPSN)
	require.Equal(t, abi.StatusLocQPOp, v.Event.Status)
	require.Equal(t, una, v.Event.Una)
}

func TestFaultOfAnAnswerOfAQPThatDoesNotSend(t *testing.T) {
	for _, s := range []abi.QPState{abi.QPReset, abi.QPInit, abi.QPRTR} {
		x := inState(s)
		before := *x
		v, w := x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, Send: true, Status: abi.StatusLocProt}, &env)
		require.Equal(t, port.RxFailed, v.Action)
		require.True(t, v.HasEvent)
		require.False(t, v.Event.Fail)
		require.Zero(t, w)
		require.Equal(t, before, *x)
	}
}
