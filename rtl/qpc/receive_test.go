package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/rtl/port"
)

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
		require.Equal(t, uint16(2-i), v.RQNext)
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
