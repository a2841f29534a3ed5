package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// rnrTimers in units of 10 us, by code (IBTA table 45).
var rnrTimers = [32]uint64{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
}

func TestRNRWaits(t *testing.T) {
	for code, timer := range rnrTimers {
		for _, unit := range []uint32{1, 1024, 1023, 1<<32 - 1} {
			e := env
			e.Reg.TimeUnit = unit
			x := flying(0xfffffe, 10, 7)
			p := ackOf(1, roce.RNRSyndrome(uint8(code)))
			v, _ := x.receive(&port.RxOp{QPN: 1, Pkt: p}, &e)
			require.Equal(t, abi.RNRNakRetryErr, v.Drop)
			require.True(t, v.Event.Rewind)
			require.Equal(t, roce.PSN(1), v.Event.At)
			// timer * 10 us, with unit cycles for 4.096 us, rounded up.
			want := timer * 10000 * uint64(unit)
			require.GreaterOrEqual(t, v.Event.Wait*4096, want, "code %d", code)
			require.Less(t, (v.Event.Wait-1)*4096, want, "code %d", code)
			require.False(t, x.Requester.Delayed)
		}
	}
}

func TestRNRRetries(t *testing.T) {
	for _, retries := range []int{0, 1, 6} {
		x := flying(0xffffff, 4, retries)
		x.Common.RetryCnt = 0
		for n := range retries {
			v, _ := x.judge(ackOf(0xffffff, 0x21))
			require.True(t, v.Event.Rewind)
			require.Equal(t, uint8(n+1), x.Requester.RNRTries)
			require.Zero(t, x.Requester.Tries, "retry_cnt is not touched")
			x.back(0xffffff, 0xffffff)
		}
		v, _ := x.judge(ackOf(0xffffff, 0x21))
		require.Equal(t, port.AckEvent{
			QPN: 1, Una: 0xffffff, Arm: 17 << 20, Fail: true, FailPSN: 0xffffff, Status: abi.StatusRNRRetryExc, Vendor: abi.VendorRNRNAK,
			Gen: x.Requester.Gen,
		}, v.Event, "%d retries", retries)
		require.Equal(t, abi.RNRNakRetryErr, v.Drop)
	}
	x := flying(0xffffff, 4, 7)
	for range 1000 {
		v, _ := x.judge(ackOf(0xffffff, 0x21))
		require.True(t, v.Event.Rewind, "7 is for ever")
		x.back(0xffffff, 0xffffff)
	}
}

// During the wait NAKs for the same PSN are ignored and progress is taken. Only
// failure cuts it short.
func TestDuringAnRNRWait(t *testing.T) {
	for _, base := range bases {
		at := func(n uint32) roce.PSN { return base.Add(n) }
		waiting := func() *Context {
			x := flying(base, 10, 7)
			x.judge(ackOf(at(2), 0x21))
			return x
		}
		x := waiting()
		ignored(t, x, ackOf(at(2), 0x21), "RNR NAK")
		ignored(t, x, ackOf(at(2), 0x3f), "RNR NAK of another time")
		ignored(t, x, ackOf(at(2), 0x60), "sequence NAK")
		v, _ := x.judge(ackOf(at(3), 31))
		require.Equal(t, port.AckEvent{QPN: 1, Una: at(4), Arm: 17 << 20}, v.Event, "no question: the wait goes on")
		require.True(t, x.SQ.Rewinding)
		require.Zero(t, x.Requester.RNRTries)
		x.back(base, at(4))
		require.False(t, x.Requester.Waiting || x.SQ.Rewinding)
		require.Equal(t, at(4), x.SQ.Next)
		v, _ = x.judge(ackOf(at(4), 0x21))
		require.NotZero(t, v.Event.Wait, "sent again, and met by another")

		x = waiting()
		v, _ = x.judge(ackOf(at(2), 0x61))
		require.Equal(t, abi.StatusRemInvReq, v.Event.Status)
		require.Zero(t, x.back(base, at(2)), "the answer comes too late")
		require.Equal(t, abi.QPErr, x.Common.State)

		// Progress, and then one for the PSN where that leads: its wait follows too.
		x = waiting()
		x.judge(ackOf(at(3), 31))
		v, _ = x.judge(ackOf(at(4), 0x23))
		require.Equal(t, abi.RNRNakRetryErr, v.Drop)
		ignored(t, x, ackOf(at(4), 0x23), "repeated")
		x.back(base, at(4))
		require.Equal(t, rnrWait(3, &env), x.tell(1, &env).Event.Wait)

		// One for a PSN further on: the rest waits for that.
		x = waiting()
		v, _ = x.judge(ackOf(at(5), 0x22))
		require.False(t, v.Event.Rewind)
		x.back(base, at(5))
		told := x.tell(1, &env)
		want := rewindAt(at(5), 2)
		want.Wait = rnrWait(2, &env)
		require.Equal(t, want, told.Event)
		require.Equal(t, InRequester, told.Write)
		x.back(base, at(5))
		require.Equal(t, at(5), x.SQ.Next)
	}
}

// An RNR NAK that comes when a rewind is under way for another reason is obeyed all
// the same: its wait follows the answer, or goes with the question if that is not
// told yet.
func TestRNRWhileRewinding(t *testing.T) {
	x := flying(0xfffffe, 10, 6)
	x.judge(ackOf(0, 0x60))
	v, _ := x.judge(ackOf(0, 0x25))
	require.Equal(t, abi.RNRNakRetryErr, v.Drop)
	require.False(t, v.Event.Rewind)
	ignored(t, x, ackOf(0, 0x25), "repeated")
	require.Equal(t, []uint8{1, 1}, []uint8{x.Requester.Tries, x.Requester.RNRTries})
	x.back(0xfffffe, 0)
	require.True(t, x.SQ.Rewinding)
	require.Equal(t, rnrWait(5, &env), x.tell(1, &env).Event.Wait)
	x.back(0xfffffe, 0)
	require.False(t, x.SQ.Rewinding)

	x = flying(0xfffffe, 10, 7)
	x.retire(&port.Retire{Kind: port.RetireTimeout, Una: 0xfffffe})
	x.judge(ackOf(0xfffffe, 0x25))
	require.Equal(t, rnrWait(5, &env), x.tell(1, &env).Event.Wait)
	x.back(0xfffffe, 0xfffffe)
	require.False(t, x.SQ.Rewinding || x.Requester.Delayed)

	// When all is acknowledged meanwhile there is nothing to wait for.
	x = flying(0xfffffe, 10, 7)
	x.judge(ackOf(0, 0x60))
	x.judge(ackOf(0, 0x25))
	x.judge(ackOf(7, 31))
	x.retire(&port.Retire{Kind: port.RetireRewind, Gen: 1})
	require.False(t, x.SQ.Rewinding || x.Requester.Waiting || x.Requester.Delayed)
	require.Zero(t, x.Common.Pending)
}
