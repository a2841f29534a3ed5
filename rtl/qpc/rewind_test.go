package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// An acknowledgement of what was sent before the rewind may go beyond where the queue
// is: it goes forward, and that is no retry.
func TestLateAcknowledgement(t *testing.T) {
	for _, base := range bases {
		x := flying(base, 10, 1)
		x.judge(ackOf(base.Add(2), 0x60))
		x.back(base, base.Add(2))
		x.Common.Pending = 0
		v, w := x.judge(ackOf(base.Add(5), 31))
		require.Equal(t, rewindAt(base.Add(6), 2), v.Event)
		require.Equal(t, InSQ|InRequester, w)
		require.Zero(t, x.Requester.Tries)
		require.Equal(t, uint8(2), x.Requester.Gen)
		x.back(base, base.Add(6))
		require.Equal(t, []any{uint16(6), base.Add(6)}, []any{x.SQ.Exec, x.SQ.Next})

		// Within what was sent again nothing is to be done.
		x.again()
		v, _ = x.judge(ackOf(base.Add(7), 31))
		require.False(t, v.Event.Rewind)

		// Of all: no question is needed.
		x.judge(ackOf(base.Add(8), 0x60))
		x.back(base, base.Add(8))
		v, _ = x.judge(ackOf(base.Add(9), 31))
		require.False(t, v.Event.Rewind)
		require.Equal(t, []any{uint16(10), base.Add(10)}, []any{x.SQ.Exec, x.SQ.Next})
		require.False(t, x.SQ.Rewinding)
		ignored(t, x, ackOf(base.Add(10), 31), "beyond what was ever described")
	}
}

// A service that sends again ends in vain when an acknowledgement overtakes its
// beginning: the host may overwrite the WQEs. One that sends what is new does not.
func TestLateAcknowledgementDuringAService(t *testing.T) {
	x := flying(0xfffffe, 10, 1)
	x.judge(ackOf(0, 0x60))
	x.back(0xfffffe, 0)
	x.get(&port.SQGet{Packets: 16}, &env)
	v, _ := x.judge(ackOf(1, 31))
	require.Equal(t, rewindAt(2, 2), v.Event)
	x.put(&port.SQPut{ExecIdx: 5, NextPSN: 3, Entered: 10, EnteredPSN: 8})
	require.True(t, x.SQ.Rewinding)
	require.Equal(t, uint16(2), x.SQ.Exec, "that does not count")
	x.back(0xfffffe, 2)
	require.Equal(t, []any{uint16(4), roce.PSN(2)}, []any{x.SQ.Exec, x.SQ.Next})

	x = flying(0xfffffe, 10, 1)
	x.judge(ackOf(0, 0x60))
	x.back(0xfffffe, 0)
	x.get(&port.SQGet{Packets: 16}, &env)
	head(x, port.TxHdrReq{Gen: 0, LastPSN: 7})
	for psn := range roce.PSN(3) {
		require.False(t, head(x, port.TxHdrReq{Gen: 1, LastPSN: psn}).Drop)
	}
	v, _ = x.judge(ackOf(1, 31))
	require.False(t, v.Event.Rewind, "the service has come as far")
	v, _ = x.judge(ackOf(2, 31))
	require.False(t, v.Event.Rewind, "just as far")
	v, _ = x.judge(ackOf(3, 31))
	require.Equal(t, rewindAt(4, 2), v.Event, "beyond, from before the rewind")

	x = flying(0xfffffe, 10, 1)
	x.SQ.PI = 20
	x.get(&port.SQGet{Packets: 16}, &env)
	v, _ = x.judge(ackOf(10, 31))
	require.False(t, v.Event.Rewind)
	require.Equal(t, roce.PSN(11), x.Requester.Una, "granted")
	x.put(&port.SQPut{ExecIdx: 15, NextPSN: 13, Entered: 15, EnteredPSN: 13, Messages: 5})
	require.False(t, x.SQ.Rewinding)
}

// Acknowledgements while retrans is asked: it may answer with what is acknowledged by
// now, and is asked again.
func TestAcknowledgementWhileAsking(t *testing.T) {
	for _, base := range bases {
		x := flying(base, 10, 1)
		x.judge(ackOf(base.Add(2), 0x60))
		v, _ := x.judge(ackOf(base.Add(4), 31))
		require.Equal(t, port.AckEvent{QPN: 1, Una: base.Add(5), Arm: 17 << 20}, v.Event)
		require.Zero(t, x.retire(&port.Retire{Kind: port.RetireRewind, Gen: 0, Any: true, First: base.Add(5), Last: base.Add(5)}), "of an older question")
		x.back(base, base.Add(4))
		require.Equal(t, rewindAt(base.Add(5), 2), x.tell(1, &env).Event)
		require.Zero(t, x.Requester.Tries)
		x.retire(&port.Retire{Kind: port.RetireDone, Messages: 5, Una: base.Add(5)})
		x.back(base, base.Add(5))
		require.Equal(t, []any{uint16(5), base.Add(5), false}, []any{x.SQ.Exec, x.SQ.Next, x.SQ.Rewinding})
		require.Zero(t, x.back(base, base.Add(5)), "answered")

		x = flying(base, 10, 1)
		x.judge(ackOf(base, 0x60))
		x.judge(ackOf(base.Add(9), 31))
		x.retire(&port.Retire{Kind: port.RetireRewind, Gen: 1})
		require.Equal(t, []any{uint16(10), base.Add(10), false}, []any{x.SQ.Exec, x.SQ.Next, x.SQ.Rewinding})
	}
}

// The middle of a message: the rest of it is sent.
func TestRewindIntoAMessage(t *testing.T) {
	for _, base := range bases {
		x := flying(base, 10, 7)
		x.judge(ackOf(base.Add(5), 0x60))
		x.retire(&port.Retire{Kind: port.RetireRewind, Gen: 1, Any: true, Oldest: 1, First: base.Add(2), Last: base.Add(8)})
		require.Equal(t, []any{uint16(1), base.Add(5), uint32(3 * 1024)}, []any{x.SQ.Exec, x.SQ.Next, x.SQ.Offset})
		v, _ := x.judge(ackOf(base.Add(6), 31))
		x.retire(&port.Retire{Kind: port.RetireRewind, Gen: v.Event.Gen, Any: true, Oldest: 1, First: base.Add(2), Last: base.Add(8)})
		require.Equal(t, []any{uint16(1), base.Add(7), uint32(5 * 1024)}, []any{x.SQ.Exec, x.SQ.Next, x.SQ.Offset})
	}
}

// inService is a QP with 10 SENDs in flight from base on and a service that enters 5
// more, when the first of the 10 is asked for again.
func inService(base roce.PSN) (x *Context, p port.SQPut) {
	x = flying(base, 10, 7)
	x.SQ.PI = 20
	x.get(&port.SQGet{Packets: 16}, &env)
	x.judge(ackOf(base, 0x60))
	return x, port.SQPut{ExecIdx: 15, NextPSN: base.Add(15), Entered: 15, EnteredPSN: base.Add(15), Messages: 5, Requests: 5, Credited: 5}
}

// The answer may come before the service is closed, or after: what was entered counts.
func TestRewindDuringAService(t *testing.T) {
	for _, base := range bases {
		for _, first := range []string{"answer", "put"} {
			x, p := inService(base)
			requests := x.SQ.Requests
			if first == "answer" {
				x.back(base, base)
				require.True(t, x.SQ.Resume.Has && x.SQ.Rewinding)
				require.Zero(t, x.Common.Pending)
				x.put(&p)
			} else {
				x.put(&p)
				require.True(t, x.SQ.Rewinding)
				require.Equal(t, uint16(10), x.SQ.Exec)
				require.Zero(t, x.Common.Pending)
				x.back(base, base)
			}
			require.Equal(t, NoteActivate, x.Common.Pending, "%s first", first)
			require.Equal(t, SQ{
				PI: 20, Exec: 0, Next: base, Entered: 15, EnteredPSN: base.Add(15), Top: base.Add(15), Messages: 15,
				Requests: requests + 5, Limit: x.SQ.Limit,
			}, x.SQ)
			v, _ := x.judge(ackOf(base.Add(14), 31))
			require.Equal(t, port.RxAck, v.Action, "what the service described is legal")
		}
	}
}

// The answer was made before the entries of the service had come to retrans.
func TestRewindDuringAServiceWithNothingElse(t *testing.T) {
	for _, base := range append(bases, 0xfffff0, 0) {
		x, p := inService(base)
		x.judge(ackOf(base.Add(9), 31)) // all 10
		x.retire(&port.Retire{Kind: port.RetireRewind, Gen: 1})
		x.put(&p)
		require.True(t, x.SQ.Rewinding, "the 5 are not sent")
		require.Equal(t, rewindAt(base.Add(10), 2), x.tell(1, &env).Event)
		x.retire(&port.Retire{Kind: port.RetireRewind, Gen: 2, Any: true, Oldest: 10, First: base.Add(10), Last: base.Add(10)})
		require.Equal(t, []any{uint16(10), base.Add(10)}, []any{x.SQ.Exec, x.SQ.Next})
	}
}

// What was described before a rewind may be acknowledged after it, however little of
// it has been sent again.
func TestTopStays(t *testing.T) {
	for _, base := range bases {
		x := flying(base, 10, 7)
		x.judge(ackOf(base, 0x60))
		x.back(base, base)
		x.get(&port.SQGet{Packets: 16}, &env)
		x.put(&port.SQPut{ExecIdx: 2, NextPSN: base.Add(2), Entered: 10, EnteredPSN: base.Add(10)})
		ignored(t, x, ackOf(base.Add(10), 31), "never described")
		v, _ := x.judge(ackOf(base.Add(9), 31))
		require.Equal(t, port.RxAck, v.Action)
		require.Equal(t, base.Add(10), x.Requester.Una)
	}
}

// A service was granted PSNs that it did not describe, and the peer acknowledges them:
// the QP fails, since nothing would ever bring it on.
func TestAcknowledgementOfWhatWasNotSent(t *testing.T) {
	for _, rewound := range []bool{false, true} {
		x := flying(0xfffffe, 10, 7)
		x.SQ.PI = 20
		x.get(&port.SQGet{Packets: 16}, &env)
		if rewound {
			x.judge(ackOf(1, 0x60))
		}
		x.judge(ackOf(20, 31))
		x.put(&port.SQPut{ExecIdx: 12, NextPSN: 10, Entered: 12, EnteredPSN: 10, Messages: 2})
		require.Equal(t, abi.QPErr, x.Common.State)
		require.Equal(t, abi.StatusBadResp, x.Requester.Status)
		require.NotZero(t, x.Common.Pending&NoteEvent)
		require.True(t, x.get(&port.SQGet{Packets: 16}, &env).Flush)
	}
}

// The service that ends in vain met a WQE that can't be executed: it has its turn
// when all before it are sent again, or are acknowledged.
func TestRewindDuringAServiceWithAFault(t *testing.T) {
	faulty := func() *Context {
		x, p := inService(0xfffffc)
		p.Fault, p.Requests = true, 4
		p.NextPSN, p.EnteredPSN = 10, 10
		x.put(&p)
		require.Equal(t, abi.QPRTS, x.Common.State)
		require.True(t, x.SQ.Faulty)
		return x
	}
	failed := func(x *Context) {
		require.Equal(t, abi.QPErr, x.Common.State)
		require.Equal(t, FailLocal, x.Requester.Fail)
		require.Equal(t, roce.PSN(10), x.Requester.Stop)
		require.NotZero(t, x.Common.Pending&NoteActivate)
		got := x.get(&port.SQGet{Packets: 16}, &env)
		require.True(t, got.Flush)
		require.Equal(t, uint16(15), got.ExecIdx)
		require.NotZero(t, got.Messages)
	}
	x := faulty()
	x.back(0xfffffc, 0xfffffc)
	got := x.get(&port.SQGet{Packets: 16}, &env)
	require.True(t, got.Run)
	require.Zero(t, got.Messages, "nothing is entered behind it")
	x.put(&port.SQPut{ExecIdx: 12, NextPSN: 8, Entered: 15, EnteredPSN: 10})
	require.Equal(t, abi.QPRTS, x.Common.State)
	x.get(&port.SQGet{Packets: 16}, &env)
	x.put(&port.SQPut{ExecIdx: 15, NextPSN: 10, Entered: 15, EnteredPSN: 10, Fault: true})
	failed(x)

	x = faulty()
	x.judge(ackOf(9, 31))
	x.retire(&port.Retire{Kind: port.RetireRewind, Gen: 1})
	failed(x)

	x = faulty()
	x.back(0xfffffc, 0xfffffc)
	x.judge(ackOf(9, 31)) // before it is sent again
	failed(x)

	// One of a WQE sent again says nothing while rewinding: it may be overwritten.
	x = flying(0xfffffc, 10, 7)
	x.judge(ackOf(0, 0x60))
	x.back(0xfffffc, 0)
	x.get(&port.SQGet{Packets: 16}, &env)
	x.judge(ackOf(4, 31))
	x.put(&port.SQPut{ExecIdx: 10, NextPSN: 6, Entered: 10, EnteredPSN: 6, Fault: true})
	require.False(t, x.SQ.Faulty)
	require.Equal(t, abi.QPRTS, x.Common.State)
}

// A fault that pkt_tx met in what is not needed any more is none.
func TestFaultOfAStaleRequest(t *testing.T) {
	x := flying(0xfffffe, 10, 7)
	x.judge(ackOf(2, 0x60))
	x.back(0xfffffe, 2)
	before := *x
	require.Zero(t, x.sqFault(&port.SQFault{PSN: 3, Gen: 0, Status: abi.StatusLocProt}), "from before the rewind")
	require.Zero(t, x.sqFault(&port.SQFault{PSN: 1, Gen: 1, Status: abi.StatusLocProt}), "acknowledged")
	require.Equal(t, before, *x)
	require.NotZero(t, x.sqFault(&port.SQFault{PSN: 3, Gen: 1, Status: abi.StatusLocProt}))
}

// A WQE that was sent, and can't be read any more when it is sent again, fails. An
// acknowledgement of it, or of what is behind, acknowledges what is before.
func TestAcknowledgementBeyondAFault(t *testing.T) {
	for _, beyond := range []roce.PSN{4, 5, 7} {
		x := flying(0xfffffe, 10, 7)
		x.judge(ackOf(2, 0x60))
		x.back(0xfffffe, 2)
		x.again()
		x.sqFault(&port.SQFault{PSN: 4, Gen: 1, Status: abi.StatusLocProt})
		v, _ := x.judge(ackOf(beyond, 31))
		require.Equal(t, port.AckEvent{QPN: 1, Una: 4, Arm: 17 << 20, Fail: true, FailPSN: 4, Status: abi.StatusLocProt, Gen: 1}, v.Event)
		require.False(t, x.expectsResponse())
	}
	// A response too; but one that is missing before it has failed.
	for i := range 4 {
		before, beyond := i&1 != 0, i&2 != 0
		x := flying(0xfffffe, 10, 7)
		if before {
			x.post(&port.ReadPost{FirstPSN: 3, LastPSN: 3, Len: 8})
		}
		x.post(&port.ReadPost{FirstPSN: 5, LastPSN: 5, Len: 8})
		x.sqFault(&port.SQFault{PSN: 4, Status: abi.StatusLocProt})
		p := answerOf(roce.RCAtomicAck, 5, 0)
		if beyond {
			p = ackOf(6, 31)
		}
		v, _ := x.judge(p)
		require.Equal(t, port.RxAck, v.Action, "nothing is placed")
		if before {
			require.Equal(t, []any{roce.PSN(3), abi.StatusRetryExc}, []any{v.Event.FailPSN, v.Event.Status})
		} else {
			require.Equal(t, []any{roce.PSN(4), abi.StatusLocProt, roce.PSN(4)}, []any{v.Event.FailPSN, v.Event.Status, v.Event.Una})
		}
	}
}

// WQEs that are sent again take nothing away from the ring: the host may post as far
// as what was entered allows.
func TestDoorbellWhileRewound(t *testing.T) {
	x := flying(0xfffffe, 10, 7)
	x.judge(ackOf(0xfffffe, 0x60))
	x.back(0xfffffe, 0xfffffe)
	b := x.ring(&port.QPDoorbell{Page: 5, Index: 10 + 64})
	require.False(t, b.BadNumber)
	b = x.ring(&port.QPDoorbell{Page: 5, Index: 11 + 64})
	require.True(t, b.BadNumber)
}
