package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/rtl/port"
)

func TestServiceByState(t *testing.T) {
	for _, c := range []struct {
		state      abi.QPState
		begun      bool // a message is in progress
		run, flush bool
		messages   uint8
	}{
		{abi.QPReset, false, false, false, 0},
		{abi.QPInit, false, false, false, 0},
		{abi.QPRTR, false, false, false, 0},
		{abi.QPRTS, false, true, false, 118},
		{abi.QPRTS, true, true, false, 118},
		{abi.QPSQD, false, false, false, 0},
		{abi.QPSQD, true, true, false, 0}, // finishes the message, starts none
		{abi.QPSQE, false, false, true, 118},
		{abi.QPErr, false, false, true, 118},
		{abi.QPErr, true, false, true, 118},
	} {
		x := inState(c.state)
		x.SQ.Exec, x.SQ.Entered, x.SQ.PI, x.SQ.Messages = 5, 5, 7, 10
		if c.begun {
			x.SQ.Entered = 6
		}
		got := x.get(&port.SQGet{QPN: 3, Packets: 16}, &env)
		require.Equal(t, c.run, got.Run, "%v", c.state)
		require.Equal(t, c.flush, got.Flush, "%v", c.state)
		require.Equal(t, c.state, got.State)
		require.Equal(t, c.run || c.flush, x.SQ.Busy, "%v", c.state)
		if x.SQ.Busy {
			require.Equal(t, c.messages, got.Messages, "%v", c.state)
		}
	}
}

func TestServiceSaysAll(t *testing.T) {
	x := inState(abi.QPRTS)
	x.Common.Flags = abi.QPSigAll
	x.SQ.Exec, x.SQ.PI, x.SQ.Offset, x.SQ.Entered, x.Requester.Gen = 5, 7, 4096, 6, 9
	x.SQ.Next, x.SQ.EnteredPSN = x.SQ.Next.Add(28), 0x11
	require.Equal(t, port.SQCtx{
		QPN: 3, Type: abi.QPTypeRC, State: abi.QPRTS, Run: true, PD: 7, MTU: 1024, SQBase: 0x10000, SQLog: 6, PI: 7, ExecIdx: 5,
		Offset: 4096, NextPSN: 0xc, Entered: 6, EnteredPSN: 0x11, Gen: 9, Window: 128 - 28, Messages: 128, Reads: 4, Credits: 1,
		Arm: 17 << 20, SendCQN: 11, SigAll: true,
	}, x.get(&port.SQGet{QPN: 3, Packets: 16}, &env))
	require.Equal(t, uint32(16), x.SQ.Granted)
}

func TestNothingToDo(t *testing.T) {
	x := inState(abi.QPRTS)
	before := *x
	got := x.get(&port.SQGet{QPN: 3, Packets: 16}, &env)
	require.False(t, got.Run || got.Flush)
	require.Equal(t, before, *x, "no service was opened")
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		mtu    abi.MTU
		log    uint8
		flight uint32
		want   uint16
	}{
		{abi.MTU256, 17, 0, 512}, {abi.MTU512, 17, 0, 256}, {abi.MTU1024, 17, 0, 128}, {abi.MTU2048, 17, 0, 64},
		{abi.MTU4096, 17, 0, 32}, {abi.MTU4096, 17, 31, 1}, {abi.MTU4096, 17, 32, 0}, {abi.MTU4096, 17, 33, 0},
		{abi.MTU256, 23, 0, 32768}, {abi.MTU256, 23, 32767, 1},
	} {
		x := inState(abi.QPRTS)
		x.Common.MTU = c.mtu
		x.SQ.Next = x.SQ.Next.Add(c.flight)
		require.Equal(t, c.want, x.window(&Env{Reg: reg, LogWindow: c.log}), "%+v", c)
	}
}

func TestArm(t *testing.T) {
	x := inState(abi.QPRTS)
	for timeout, want := range map[uint8]uint64{0: 0, 1: 2176, 14: 17 << 20, 31: 17 << 37} {
		x.Common.Timeout = timeout
		require.Equal(t, want, x.arm(&env))
	}
}

func TestMessagesAreCounted(t *testing.T) {
	x := inState(abi.QPRTS)
	x.SQ.PI = 10
	g := port.SQGet{Packets: 16}
	require.Equal(t, uint8(128), x.get(&g, &env).Messages)
	// One message is done before the service that sent it is closed.
	require.Equal(t, InSQ|InRequester, x.retire(&port.Retire{Kind: port.RetireDone, Messages: 1}))
	x.put(&port.SQPut{ExecIdx: 4, Entered: 4, NextPSN: 0xfffff4, EnteredPSN: 0xfffff4, Messages: 4})
	require.Equal(t, uint16(3), x.SQ.Messages)
	require.Equal(t, uint8(125), x.get(&g, &env).Messages)
	x.put(&port.SQPut{ExecIdx: 5, Entered: 5, NextPSN: 0xfffff5, EnteredPSN: 0xfffff5, Messages: 125})
	require.Equal(t, uint8(0), x.get(&g, &env).Messages)
}

func TestPut(t *testing.T) {
	x := inState(abi.QPRTS)
	x.SQ.PI = 10
	require.Zero(t, x.put(&port.SQPut{ExecIdx: 9}), "no service is open")
	require.Zero(t, x.SQ.Exec)
	x.get(&port.SQGet{Packets: 16}, &env)
	x.put(&port.SQPut{ExecIdx: 3, Offset: 1024, NextPSN: 0xfffff3, Entered: 4, EnteredPSN: 0xfffff8, Messages: 2})
	require.Equal(t, SQ{PI: 10, Exec: 3, Offset: 1024, Next: 0xfffff3, Entered: 4, EnteredPSN: 0xfffff8, Top: 0xfffff3, Messages: 2}, x.SQ)
}

// What was sent before a faulty WQE goes on to be acknowledged; what is behind it
// is flushed.
func TestPutFault(t *testing.T) {
	x := inState(abi.QPRTS)
	x.SQ.PI, x.Responder.PI = 10, 2
	x.get(&port.SQGet{QPN: 1, Packets: 16}, &env)
	w := x.put(&port.SQPut{ExecIdx: 4, Entered: 4, NextPSN: 0xfffff4, EnteredPSN: 0xfffff4, Messages: 3, Fault: true})
	require.Equal(t, InCommon|InSQ|InRequester, w)
	require.Equal(t, abi.QPErr, x.Common.State)
	require.Equal(t, NoteActivate|NoteFlushRQ, x.Common.Pending)
	require.Equal(t, Requester{Una: 0xfffff0, Asked: 0xfffff0, Fail: FailLocal, Stop: 0xfffff4, Status: abi.StatusLocQPOp, Vendor: abi.VendorWQEFormat}, x.Requester)
	require.Equal(t, port.AckEvent{QPN: 1, Una: 0xfffff0, Arm: 17 << 20}, x.event(1, &env), "the entry has its own status")
	require.False(t, head(x, port.TxHdrReq{}).Drop, "packets before it are still to be sent")
	require.True(t, x.expectsResponse())
	got := x.get(&port.SQGet{Packets: 16}, &env)
	require.True(t, got.Flush && !got.Run)
}

func TestDrain(t *testing.T) {
	sqd := func(c *Context, notify bool) result {
		return c.modify(&abi.QPMailbox{State: abi.QPSQD, SQDAsyncNotify: notify, AttrMask: abi.AttrState | abi.AttrSQDAsyncNotify}, &env)
	}
	t.Run("at once", func(t *testing.T) {
		x := inState(abi.QPRTS)
		x.SQ.PI = 4
		require.True(t, sqd(x, true).ok())
		require.Equal(t, NoteSQDrained, x.Common.Pending, "nothing was begun")
		require.False(t, x.get(&port.SQGet{Packets: 16}, &env).Run)
	})
	t.Run("not asked to tell", func(t *testing.T) {
		x := inState(abi.QPRTS)
		require.True(t, sqd(x, false).ok())
		require.Zero(t, x.Common.Pending)
	})
	t.Run("service, message, acknowledgement", func(t *testing.T) {
		x := inState(abi.QPRTS)
		x.SQ.PI = 4
		x.get(&port.SQGet{Packets: 1}, &env)
		require.True(t, sqd(x, true).ok())
		x.put(&port.SQPut{ExecIdx: 0, Offset: 1024, NextPSN: 0xfffff1, Entered: 1, EnteredPSN: 0xfffff2, Messages: 1})
		require.Zero(t, x.Common.Pending)
		got := x.get(&port.SQGet{Packets: 1}, &env)
		require.True(t, got.Run)
		require.Zero(t, got.Messages)
		x.put(&port.SQPut{ExecIdx: 1, Entered: 1, NextPSN: 0xfffff2, EnteredPSN: 0xfffff2})
		require.Zero(t, x.Common.Pending, "not acknowledged yet")
		var a abi.QPMailbox
		x.query(&a)
		require.True(t, a.SQDraining)
		require.Equal(t, result{abi.AdminBadState, abi.SynDraining},
			x.modify(&abi.QPMailbox{State: abi.QPRTS, AttrMask: abi.AttrState}, &env))
		x.retire(&port.Retire{Kind: port.RetireDone, Messages: 1})
		require.Equal(t, NoteSQDrained, x.Common.Pending)
		x.Common.Pending = 0
		x.query(&a)
		require.False(t, a.SQDraining)
		require.True(t, x.modify(&abi.QPMailbox{State: abi.QPRTS, AttrMask: abi.AttrState}, &env).ok())
		require.Equal(t, NoteActivate, x.Common.Pending, "the WQEs behind go on")
	})
}
