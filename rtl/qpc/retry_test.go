package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// bases are first PSNs with which runs of a few packets wrap, or do not.
var bases = []roce.PSN{0x100, 0xfffffa, 0xffffff, 0x7ffffe}

// flying is a QP with n SENDs of one packet in flight from psn on, WQEs 0 to n-1, and
// the same number of retries of both kinds.
func flying(psn roce.PSN, n, retries int) *Context {
	x := inState(abi.QPRTS)
	x.Common.RetryCnt, x.Common.RNRRetry = uint8(retries), uint8(retries)
	x.Requester.Una, x.Requester.Unlimited = psn, true
	x.SQ.Next = psn
	x.send(uint32(n))
	x.SQ.PI, x.SQ.Exec, x.SQ.Entered, x.SQ.Messages = uint16(n), uint16(n), uint16(n), uint16(n)
	return x
}

// rewindAt is the event that asks for a rewind.
func rewindAt(psn roce.PSN, gen uint8) port.AckEvent {
	return port.AckEvent{QPN: 1, Una: psn, Arm: 17 << 20, Rewind: true, At: psn, Gen: gen}
}

// back has retrans answer with the WQE of a PSN: WQE 0 is the one of base.
func (c *Context) back(base, psn roce.PSN) Bank {
	return c.retire(&port.Retire{
		Kind: port.RetireRewind, Gen: c.Requester.Gen, Any: true, Oldest: uint16(psn.Diff(base)), First: psn, Last: psn,
	})
}

// again has what was entered sent again, by one service.
func (c *Context) again() {
	s := &c.SQ
	c.get(&port.SQGet{Packets: 16}, &env)
	c.put(&port.SQPut{ExecIdx: s.Entered, NextPSN: s.EnteredPSN, Entered: s.Entered, EnteredPSN: s.EnteredPSN})
}

func TestSequenceNAK(t *testing.T) {
	for _, base := range bases {
		x := flying(base, 10, 7)
		at := base.Add(3)
		v, w := x.judge(ackOf(at, 0x60))
		require.Equal(t, port.RxAck, v.Action)
		require.Equal(t, abi.PacketSeqErr, v.Drop)
		require.Equal(t, rewindAt(at, 1), v.Event)
		require.Equal(t, InSQ|InRequester, w)
		require.Equal(t, Requester{Una: at, Gen: 1, Asked: at, Tries: 1, Obeyed: true, Implied: true, Unlimited: true}, x.Requester)
		require.Equal(t, abi.QPRTS, x.Common.State)
		require.Zero(t, x.Common.Pending, "the verdict asks")
		require.False(t, x.get(&port.SQGet{Packets: 16}, &env).Run, "nothing is sent before the answer")
		require.False(t, x.opens(&v))
		require.Equal(t, port.TxHdr{Drop: true, Stale: true}, dropOf(x, 0))
		require.Equal(t, port.TxHdr{}, dropOf(x, 1))

		require.NotZero(t, x.back(base, at))
		require.Equal(t, NoteActivate, x.Common.Pending)
		got := x.get(&port.SQGet{Packets: 16}, &env)
		require.True(t, got.Run)
		require.Equal(t, []any{uint16(3), uint32(0), at, uint16(10), base.Add(10), uint8(1), uint16(128), true},
			[]any{got.ExecIdx, got.Offset, got.NextPSN, got.Entered, got.EnteredPSN, got.Gen, got.Window, got.Idle})
	}
}

// dropOf is what becomes of a request of a generation.
func dropOf(c *Context, gen uint8) port.TxHdr {
	h := head(c, port.TxHdrReq{Gen: gen})
	return port.TxHdr{Drop: h.Drop, Stale: h.Stale}
}

// ignored checks that a packet changes nothing.
func ignored(t *testing.T, x *Context, p port.RxPkt, why string) {
	before := *x
	v, w := x.judge(p)
	require.Equal(t, port.RxDrop, v.Action, why)
	require.Equal(t, abi.RxDropOther, v.Drop, why)
	require.False(t, v.HasEvent, why)
	require.Zero(t, w, why)
	require.Equal(t, before, *x, why)
}

func TestRepeatedNAK(t *testing.T) {
	for _, base := range bases {
		x := flying(base, 10, 7)
		nak := ackOf(base.Add(3), 0x60)
		x.judge(nak)
		ignored(t, x, nak, "before the answer")
		x.back(base, base.Add(3))
		ignored(t, x, nak, "after it")
		require.Equal(t, uint8(1), x.Requester.Tries)

		// After a timeout it is obeyed again, once the rewind of that is done.
		x.retire(&port.Retire{Kind: port.RetireTimeout, Una: base.Add(3)})
		ignored(t, x, nak, "the rewind of the timeout is under way")
		x.tell(1, &env)
		x.back(base, base.Add(3))
		v, _ := x.judge(nak)
		require.Equal(t, rewindAt(base.Add(3), 3), v.Event)
		require.Equal(t, uint8(3), x.Requester.Tries)
		x.back(base, base.Add(3))
		x.again()

		// And after progress, with all retries there again.
		x.judge(ackOf(base.Add(4), 31))
		require.Zero(t, x.Requester.Tries)
		v, _ = x.judge(ackOf(base.Add(6), 0x60))
		require.True(t, v.Event.Rewind)
		require.Equal(t, uint8(1), x.Requester.Tries)
	}
}

// A NAK that acknowledges something while a rewind is under way needs no other: that
// one goes on from there.
func TestNAKWithProgressWhileRewinding(t *testing.T) {
	x := flying(0xfffffe, 10, 7)
	x.judge(ackOf(0xfffffe, 0x60))
	v, _ := x.judge(ackOf(3, 0x60))
	require.Equal(t, port.AckEvent{QPN: 1, Una: 3, Arm: 17 << 20}, v.Event, "one question at a time")
	require.Equal(t, abi.PacketSeqErr, v.Drop)
	require.Equal(t, uint8(1), x.Requester.Tries, "counted from the progress on")
	ignored(t, x, ackOf(3, 0x60), "repeated")
	x.back(0xfffffe, 0) // older than what is acknowledged
	require.True(t, x.SQ.Rewinding)
	require.Equal(t, rewindAt(3, 2), x.tell(1, &env).Event, "asked again")
	x.back(0xfffffe, 3)
	require.Equal(t, roce.PSN(3), x.SQ.Next)
	require.Equal(t, uint16(5), x.SQ.Exec)
	require.Equal(t, uint8(1), x.Requester.Tries)
}

// retry_cnt n is n retries, of NAKs, implied NAKs and timeouts together.
func TestRetriesAreCounted(t *testing.T) {
	for _, retries := range []int{0, 1, 2, 7} {
		for _, last := range []string{"NAK", "timeout", "implied NAK"} {
			x := flying(0xffffff, 10, retries)
			x.Common.RNRRetry = 0
			x.post(&port.ReadPost{FirstPSN: 0xffffff, LastPSN: 0xffffff, Len: 8})
			timeout := func() { x.retire(&port.Retire{Kind: port.RetireTimeout, Una: x.Requester.Una}) }
			for n := range retries {
				require.Equal(t, uint8(n), x.Requester.Tries)
				require.Equal(t, uint8(retries-n), left(x.Common.RetryCnt, x.Requester.Tries))
				timeout()
				require.Equal(t, rewindAt(0xffffff, uint8(n+1)), x.tell(1, &env).Event)
				x.back(0xffffff, 0xffffff)
			}
			require.Equal(t, abi.QPRTS, x.Common.State)
			vendor := abi.VendorNAKSequence
			switch last {
			case "NAK":
				x.judge(ackOf(0xffffff, 0x60))
			case "implied NAK":
				if retries == 0 {
					x.judge(ackOf(4, 31))
					break
				}
				ignored(t, x, ackOf(4, 31), "from before the timeout, for all that is known")
				fallthrough
			default:
				timeout()
				vendor = abi.VendorTimeout
			}
			require.Equal(t, abi.QPErr, x.Common.State, "%d, %s", retries, last)
			require.Equal(t, port.AckEvent{
				QPN: 1, Una: 0xffffff, Arm: 17 << 20, Fail: true, FailPSN: 0xffffff, Status: abi.StatusRetryExc, Vendor: vendor, Gen: x.Requester.Gen,
			}, x.event(1, &env))
		}
	}
}

// A run of answers beyond a missing one is one retry.
func TestImpliedNAKsAreOneRetry(t *testing.T) {
	for _, base := range bases {
		x := flying(base, 10, 7)
		x.post(&port.ReadPost{Op: abi.OpRead, FirstPSN: base.Add(2), LastPSN: base.Add(4), Len: 3000})
		v, _ := x.judge(ackOf(base.Add(6), 31))
		require.Equal(t, abi.ImpliedNakSeqErr, v.Drop)
		require.Equal(t, rewindAt(base.Add(2), 1), v.Event, "what is before the READ is acknowledged")
		for _, p := range []port.RxPkt{
			ackOf(base.Add(7), 31), ackOf(base.Add(8), 0x60), ackOf(base.Add(8), 0x21), ackOf(base.Add(2), 31),
			answerOf(roce.RCReadRespMiddle, base.Add(3), 1024),
		} {
			ignored(t, x, p, "beyond what is missing")
		}
		x.back(base, base.Add(2))
		x.again()
		ignored(t, x, ackOf(base.Add(9), 31), "sent before the rewind")
		require.Equal(t, uint8(1), x.Requester.Tries)
		v, _ = x.judge(answerOf(roce.RCReadRespFirst, base.Add(2), 1024))
		require.Equal(t, port.RxPlace, v.Action)
		require.Zero(t, x.Requester.Tries)
		v, _ = x.judge(ackOf(base.Add(9), 31))
		require.True(t, v.Event.Rewind, "the next response is missing too")
	}
}

// The timer is always answered; only when it is right is anything sent again.
func TestTimeoutRaces(t *testing.T) {
	for _, base := range bases {
		at := func(n uint32) roce.PSN { return base.Add(n) }
		timeout := func(x *Context, una roce.PSN) port.AckEvent {
			counts := x.expires(una)
			defer func(gen uint8) { require.Equal(t, x.Requester.Gen != gen, counts) }(x.Requester.Gen)
			x.retire(&port.Retire{Kind: port.RetireTimeout, Una: una})
			told := x.tell(1, &env)
			require.Equal(t, NoteEvent, told.Notes&NoteEvent)
			return told.Event
		}
		plain := func(una roce.PSN) port.AckEvent { return port.AckEvent{QPN: 1, Una: una, Arm: 17 << 20} }

		x := flying(base, 10, 7)
		x.judge(ackOf(at(4), 31))
		require.Equal(t, plain(at(5)), timeout(x, at(3)), "an acknowledgement is on its way to retrans")
		require.Equal(t, rewindAt(at(5), 1), timeout(x, at(5)))
		require.Equal(t, plain(at(5)), timeout(x, at(5)), "while rewinding")
		x.back(base, at(5))
		x.judge(ackOf(at(9), 31))
		require.Equal(t, plain(at(10)), timeout(x, at(10)), "nothing is in flight")
		require.Zero(t, x.Requester.Tries)

		x = flying(base, 10, 7)
		x.judge(ackOf(at(2), 0x60)) // the verdict with the question is in scatter
		require.Equal(t, plain(at(2)), timeout(x, at(2)), "a NAK has overtaken it")
		require.Equal(t, uint8(1), x.Requester.Tries)
	}
}

// While a WQE that failed waits for those before it, nothing is sent again.
func TestNoRetryInErr(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      func(x *Context)
		status abi.WCStatus
	}{
		{"NAK", func(x *Context) { x.judge(ackOf(0xffffff, 0x60)) }, abi.StatusRetryExc},
		{"RNR NAK", func(x *Context) { x.judge(ackOf(0xffffff, 0x21)) }, abi.StatusRNRRetryExc},
		{"timeout", func(x *Context) { x.retire(&port.Retire{Kind: port.RetireTimeout, Una: 0xfffffe}) }, abi.StatusRetryExc},
	} {
		for _, local := range []bool{false, true} {
			x := flying(0xfffffe, 10, 7)
			if local {
				x.get(&port.SQGet{Packets: 16}, &env)
				x.SQ.Busy = true
				x.put(&port.SQPut{ExecIdx: 11, Entered: 11, NextPSN: 8, EnteredPSN: 8, Fault: true})
				require.Equal(t, FailLocal, x.Requester.Fail)
			} else {
				x.sqFault(&port.SQFault{PSN: 4, Status: abi.StatusLocProt})
			}
			c.f(x)
			require.Equal(t, FailAt, x.Requester.Fail, c.name)
			require.Equal(t, c.status, x.Requester.Status, c.name)
			require.Equal(t, x.Requester.Una, x.Requester.Stop, c.name)
			require.Zero(t, x.Requester.Gen, c.name)
		}
	}
}
