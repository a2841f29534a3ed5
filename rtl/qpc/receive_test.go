package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/rtl/port"
)

func TestFaultOfScatter(t *testing.T) {
	for _, c := range []struct {
		status   abi.WCStatus
		syndrome uint8
		vendor   abi.VendorErr
		count    abi.Counter
	}{
		{abi.StatusLocLen, 0x61, abi.VendorRecvTooLong, abi.RespLocalLengthError},
		{abi.StatusLocProt, 0x63, abi.VendorLKeyUnknown, abi.RespLocalProtectionErrors},
		{abi.StatusLocQPOp, 0x63, abi.VendorWQEFormat, 0},
	} {
		x := ready(abi.QPRTS, 2)
		x.SQ.PI = 1
		x.Responder.Incoming = IncomingSend // scatter completes what it has got
		v, w := x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, PSN: 0x1234, MSN: 5, Status: c.status}, &env)
		require.Equal(t, port.RxVerdict{
			Action: port.RxFailed, Kind: port.RxFault, QPN: 1, PD: 7, RecvCQN: 12, SrcQPN: 0x22,
			Drop: c.count, Status: c.status, Vendor: c.vendor,
			Ack: port.AckReq{Send: true, QPN: 1, PSN: 0x1234, Syndrome: c.syndrome, MSN: 5},
		}, v)
		require.Equal(t, InCommon|InRequester|InResponder, w)
		require.Equal(t, abi.QPErr, x.Common.State)
		require.Equal(t, NoteEvent|NoteActivate|NoteFlushRQ, x.Common.Pending)
		require.Equal(t, IncomingNone, x.Responder.Incoming)
	}
}

func TestFaultOfScatterInOtherStates(t *testing.T) {
	op := &port.RxOp{Kind: port.RxFault, QPN: 1, PSN: 7, Status: abi.StatusLocProt}
	for _, s := range states {
		x := ready(s, 0)
		v, _ := x.receive(op, &env)
		require.Equal(t, port.RxFailed, v.Action, "always answered")
		require.Equal(t, s >= abi.QPRTR, v.Ack.Send, "%v", s)
		if s < abi.QPRTR {
			require.Equal(t, s, x.Common.State)
		}
	}
	v, w := new(Context).receive(op, &env)
	require.Equal(t, port.RxFailed, v.Action)
	require.False(t, v.Ack.Send)
	require.Zero(t, w)
}

func TestFlushOfReceiveQueue(t *testing.T) {
	x := ready(abi.QPRTS, 2)
	flush := &port.RxOp{Kind: port.RxFlushRQ, QPN: 1}
	v, w := x.receive(flush, &env)
	require.Equal(t, port.RxNothing, v.Action, "not in ERR")
	require.Zero(t, w)
	x.Responder.Incoming, x.Responder.Held = IncomingSend, 13
	x.flush(abi.StatusSuccess, abi.VendorNone)
	for i, more := range []bool{true, true, false} {
		v, w = x.receive(flush, &env)
		require.Equal(t, port.RxFlushed, v.Action)
		require.Equal(t, uint16(13+i), v.RQIdx)
		require.Equal(t, more, v.More)
		require.Equal(t, i > 0, v.TakesWQE)
		require.True(t, v.EndsWQE)
		require.Equal(t, abi.StatusWRFlush, v.Status)
		require.Equal(t, abi.VendorFlush, v.Vendor)
		require.Equal(t, port.CQN(12), v.RecvCQN)
		require.Equal(t, InResponder, w)
	}
	v, w = x.receive(flush, &env)
	require.Equal(t, port.RxNothing, v.Action)
	require.Zero(t, w)
}

func TestPurgeMarkerChangesNothing(t *testing.T) {
	x := ready(abi.QPRTS, 2)
	before := *x
	v, w := x.receive(&port.RxOp{Kind: port.RxPurge, QPN: 1}, &env)
	require.Equal(t, port.RxNothing, v.Action)
	require.Equal(t, port.RxPurge, v.Kind)
	require.Zero(t, w)
	require.Equal(t, before, *x)
}
