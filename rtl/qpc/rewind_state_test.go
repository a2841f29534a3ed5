package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// SQD: what is entered is sent again, nothing else, and the queue has drained when all
// of it has retired.
func TestRewindInSQD(t *testing.T) {
	x := flying(0xfffffe, 4, 7)
	x.SQ.PI = 9
	require.True(t, x.modify(&abi.QPMailbox{State: abi.QPSQD, SQDAsyncNotify: true, AttrMask: abi.AttrState | abi.AttrSQDAsyncNotify}, &env).ok())
	require.False(t, x.get(&port.SQGet{Packets: 16}, &env).Run)
	x.judge(ackOf(0, 0x60))
	x.retire(&port.Retire{Kind: port.RetireDone, Messages: 2, Oldest: 2, Una: 0})
	x.back(0xfffffe, 0)
	require.Equal(t, NoteActivate, x.Common.Pending)
	got := x.get(&port.SQGet{Packets: 16}, &env)
	require.True(t, got.Run)
	require.Zero(t, got.Messages)
	x.put(&port.SQPut{ExecIdx: 4, NextPSN: 2, Entered: 4, EnteredPSN: 2})
	require.False(t, x.get(&port.SQGet{Packets: 16}, &env).Run)
	x.judge(ackOf(1, 31))
	require.False(t, x.drained())
	x.retire(&port.Retire{Kind: port.RetireDone, Messages: 2, Una: 2})
	require.Equal(t, NoteActivate|NoteSQDrained, x.Common.Pending)

	// All retired before the answer: that one tells.
	x = flying(0xfffffe, 4, 7)
	x.judge(ackOf(0, 0x60))
	x.Common.State, x.SQ.Notify = abi.QPSQD, true
	x.judge(ackOf(1, 31))
	x.retire(&port.Retire{Kind: port.RetireDone, Messages: 4, Una: 2})
	require.Zero(t, x.Common.Pending)
	x.retire(&port.Retire{Kind: port.RetireRewind, Gen: 1})
	require.Equal(t, NoteSQDrained, x.Common.Pending)
}

// A failure ends a rewind: what it was to send again is flushed, from Entered on anew.
func TestFailureWhileRewinding(t *testing.T) {
	x, p := inService(0xfffffc)
	x.retire(&port.Retire{Kind: port.RetireTimeout, Una: 0xfffffc})
	require.True(t, x.modify(&abi.QPMailbox{State: abi.QPErr, AttrMask: abi.AttrState}, &env).ok())
	told := x.tell(1, &env)
	require.True(t, told.Event.Fail)
	require.False(t, told.Event.Rewind)
	require.Zero(t, x.back(0xfffffc, 0xfffffc))
	x.put(&p)
	got := x.get(&port.SQGet{Packets: 16}, &env)
	require.True(t, got.Flush)
	require.Equal(t, []any{uint16(15), uint32(0), roce.PSN(11)}, []any{got.ExecIdx, got.Offset, got.NextPSN})

	// The question had not been told yet.
	x = flying(0xfffffc, 10, 7)
	x.retire(&port.Retire{Kind: port.RetireTimeout, Una: 0xfffffc})
	x.retire(&port.Retire{Kind: port.RetireFatal})
	require.NotZero(t, x.Common.Pending&NoteRewind)
	require.False(t, x.tell(1, &env).Event.Rewind)
	require.Zero(t, x.Common.Pending&NoteRewind)

	// The data of a response before it could not be placed.
	x = flying(0xfffffc, 10, 7)
	x.judge(ackOf(2, 0x60))
	v, _ := x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, Send: true, PSN: 0, Status: abi.StatusLocProt}, &env)
	require.Equal(t, []any{roce.PSN(0), true, roce.PSN(0), false}, []any{v.Event.Una, v.Event.Fail, v.Event.FailPSN, v.Event.Rewind})
}

// A reset in the midst of a rewind: the next life begins with no trace of it but the
// generation.
func TestResetWhileRewinding(t *testing.T) {
	x, p := inService(0xfffffc)
	x.retire(&port.Retire{Kind: port.RetireTimeout, Una: 0xfffffc})
	require.True(t, x.modify(&abi.QPMailbox{State: abi.QPReset, AttrMask: abi.AttrState}, &env).ok())
	require.Zero(t, x.Common.Pending)
	require.Zero(t, x.back(0xfffffc, 0xfffffc))
	x.put(&p)
	x.admin(&port.QPAdmin{Op: port.QPClear}, true, &env)
	want := inState(abi.QPReset)
	want.Requester.Gen = 1
	require.Equal(t, want, x)
	a := connected()
	for _, m := range toRTS {
		a.State, a.AttrMask = m.to, m.mask|abi.AttrState
		require.True(t, x.modify(&a, &env).ok())
	}
	require.Zero(t, x.back(0xfffffc, 0xfffffc), "an answer of the old life")
	require.Equal(t, uint8(1), x.get(&port.SQGet{}, &env).Gen)
	res, _ := x.admin(&port.QPAdmin{Op: port.QPDestroy}, true, &env)
	require.True(t, res.Quiesce)
	x.admin(&port.QPAdmin{Op: port.QPFree}, true, &env)
	x.admin(&port.QPAdmin{Op: port.QPCreate, Attr: connected()}, true, &env)
	require.Equal(t, uint8(1), x.Requester.Gen)
}
