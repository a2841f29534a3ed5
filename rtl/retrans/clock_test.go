package retrans_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/rtl/retrans"
)

// TestNothingHasLeft: the timer runs from when a request has left, however long that
// takes, and only for what has.
func TestNothingHasLeft(t *testing.T) {
	b := open(t)
	b.Sent.Push(armed(wire(3, 1, 0xffffff, 1), 100), armed(wire(3, 2, 0, 1), 100))
	b.run(t, 1000)
	require.Empty(t, b.expiries())
	b.leave(3, 0xffffff)
	b.run(t, 50)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 0, Arm: 100})
	b.run(t, 1000)
	require.Empty(t, b.expiries())
	b.leave(3, 0)
	at := b.k.Cycle() + 2
	b.run(t, 1000)
	require.Equal(t, []uint64{at + 100}, b.expiries())
}

// TestFurtherRequestsLeave: they do not restart the timer, which expires for the
// oldest and then, once qpc has answered, for those that left since.
func TestFurtherRequestsLeave(t *testing.T) {
	b := open(t)
	for i := range 4 {
		b.send(armed(wire(3, uint16(i), roce.PSN(0xfffffe).Add(uint32(i)), 1), 500))
	}
	b.Left.NotBefore = func(n int) uint64 { return 99 + 200*uint64(n) }
	b.run(t, 1000)
	require.Equal(t, []uint64{600}, b.expiries())
	at := b.k.Cycle() + 2
	b.Event.Push(port.AckEvent{QPN: 3, Una: 0xfffffe, Arm: 500})
	b.run(t, 1000)
	require.Equal(t, []uint64{600, at + 500}, b.expiries())
}

// TestRequestsLeaveBeforeTheirMessageIsKnown, in any distance: the timer has the
// timeout of the message, not that of one before it.
func TestRequestsLeaveBeforeTheirMessageIsKnown(t *testing.T) {
	for shift := range uint64(12) {
		for _, old := range []uint64{0, 40, 5000} {
			b := open(t)
			b.send(armed(wire(3, 1, 5, 1), old), armed(wire(3, 2, 6, 3), 100))
			b.Sent.NotBefore = func(n int) uint64 { return uint64(n) * 299 }
			b.Left.NotBefore = func(n int) uint64 { return uint64(n) * (299 - 8 + shift) }
			b.Ack.Push(port.AckEvent{QPN: 3, Una: 6, Arm: old})
			b.Ack.NotBefore = func(int) uint64 { return 20 }
			b.run(t, 10000)
			require.Len(t, b.expiries(), 1)
			from := max(300, 292+shift)
			require.GreaterOrEqual(t, b.expiries()[0], from+100, "shift %d, before %d", shift, old)
			require.LessOrEqual(t, b.expiries()[0], from+100+3, "shift %d, before %d", shift, old)
		}
	}
}

// TestFirstRequestLeavesBeforeItsMessageIsKnown has it do so right after reset.
func TestFirstRequestLeavesBeforeItsMessageIsKnown(t *testing.T) {
	b := open(t)
	b.Purge.Push(port.Purge{QPN: 3})
	b.run(t, 50)
	b.leave(3, 0x800005)
	b.run(t, 500)
	require.Empty(t, b.expiries())
	b.Sent.Push(armed(wire(3, 1, 0x800005, 1), 100))
	at := b.k.Cycle() + 4
	b.run(t, 500)
	require.Equal(t, []uint64{at + 100}, b.expiries())
}

// TestProgressBeyondWhatHasLeft: it turns the timer off, and what leaves then
// with an older PSN leaves it so.
func TestProgressBeyondWhatHasLeft(t *testing.T) {
	b := open(t)
	for i := range roce.PSN(6) {
		b.Sent.Push(armed(wire(3, uint16(i), 5+i, 1), 100))
	}
	b.leave(3, 6)
	b.run(t, 50)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 9, Arm: 100})
	b.run(t, 500)
	b.leave(3, 7)
	b.leave(3, 8)
	b.run(t, 500)
	require.Empty(t, b.expiries())
	b.leave(3, 9)
	at := b.k.Cycle() + 2
	b.run(t, 500)
	require.Equal(t, []uint64{at + 100}, b.expiries())
	require.Equal(t, roce.PSN(9), b.Retire.Got[len(b.Retire.Got)-1].Una)
}

// TestLongestReadHasATimer: its last response is as far away as can be.
func TestLongestReadHasATimer(t *testing.T) {
	for _, una := range []roce.PSN{5, 6, 5 + roce.MaxOutstanding - 1} {
		b := open(t)
		b.send(armed(wire(3, 1, 5, roce.MaxOutstanding), 500))
		b.Ack.Push(port.AckEvent{QPN: 3, Una: una, Arm: 500})
		b.Ack.NotBefore = func(int) uint64 { return 99 }
		b.run(t, 2000)
		require.Len(t, b.expiries(), 1)
		b.Ack.Push(port.AckEvent{QPN: 3, Una: 5 + roce.MaxOutstanding, Arm: 500})
		b.run(t, 2000)
		require.Len(t, b.expiries(), 1)
	}
}

// TestTimerWhileAFailureWaits: for the answers before the PSN that failed the timer
// goes on, whether their requests have left or are dropped; what leaves
// then changes nothing. A rewind under way makes no difference.
func TestTimerWhileAFailureWaits(t *testing.T) {
	for name, c := range map[string]struct {
		left   int
		rewind bool
		at     uint64
	}{
		"none left":       {0, false, 600},
		"some left":       {1, false, 520},
		"rewind":          {1, true, 600},
		"rewind, no more": {0, true, 600},
	} {
		b := open(t)
		for i := range roce.PSN(4) {
			b.Sent.Push(armed(wire(3, uint16(i), 5+i, 1), 500))
		}
		for range c.left {
			b.leave(3, 5)
		}
		b.Left.NotBefore = func(n int) uint64 { return 19 }
		if c.rewind {
			e := rewind(3, 5, 1, 2000)
			e.Arm = 500
			b.Ack.Push(e)
			b.Ack.NotBefore = func(int) uint64 { return 59 }
		}
		b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 7, Status: abi.StatusLocProt, Arm: 500, Gen: 1})
		b.Event.NotBefore = func(int) uint64 { return 99 }
		b.run(t, 300)
		b.leave(3, 8)
		b.run(t, 3000)
		require.Equal(t, []uint64{c.at}, b.expiries(), name)
		b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 5, Status: abi.StatusRetryExc, Arm: 500, Gen: 1})
		b.run(t, 3000)
		require.Len(t, b.expiries(), 1)
		require.Equal(t, []ended{{0, abi.StatusRetryExc}, {1, flushed}, {2, flushed}, {3, flushed}}, b.ended(3))
	}
}

// TestRequestsBeforeAFailureLeaveLate: they are not all that is waited for.
func TestRequestsBeforeAFailureLeaveLate(t *testing.T) {
	b := open(t)
	for i := range roce.PSN(4) {
		b.Sent.Push(armed(wire(3, uint16(i), 5+i, 1), 500))
	}
	b.run(t, 50)
	b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 7, Status: abi.StatusLocProt, Arm: 500})
	b.run(t, 50)
	b.leave(3, 5)
	b.run(t, 50)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 6, Fail: true, FailPSN: 7, Status: abi.StatusLocProt, Arm: 500})
	at := b.k.Cycle() + 2
	b.run(t, 2000)
	require.Equal(t, []uint64{at + 500}, b.expiries())
	b.Event.Push(port.AckEvent{QPN: 3, Una: 7, Fail: true, FailPSN: 7, Status: abi.StatusLocProt, Arm: 500})
	b.run(t, 50)
	b.leave(3, 7) // was on its way as that failed
	b.run(t, 50)
	require.Zero(t, b.DUT.Clock.Records.Peek(3).Phase)
}

// TestProgressFarBeyondWhatHasLeft: PSNs 2^23 apart have no order.
func TestProgressFarBeyondWhatHasLeft(t *testing.T) {
	b := open(t)
	b.send(armed(wire(3, 1, 5, 1), 100))
	b.Sent.Push(armed(wire(3, 2, 6, roce.MaxOutstanding), 100))
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 6, Arm: 100}, port.AckEvent{QPN: 3, Una: 6 + roce.MaxOutstanding, Arm: 100})
	b.Ack.NotBefore = func(n int) uint64 { return 50 + 20*uint64(n) }
	b.run(t, 1000)
	require.Empty(t, b.expiries())
}

// TestNextLifeOfATimer knows nothing of the one before.
func TestNextLifeOfATimer(t *testing.T) {
	for _, psn := range []roce.PSN{5, 0x400000, 0xa00000, 0xfffff0} {
		b := open(t)
		b.send(armed(wire(3, 1, 0x700000, 4), 100))
		b.run(t, 50)
		b.Purge.Push(port.Purge{QPN: 3})
		b.run(t, 500)
		b.Sent.Push(armed(wire(3, 1, psn, 1), 100))
		b.run(t, 500)
		require.Empty(t, b.expiries())
		b.leave(3, psn)
		b.run(t, 500)
		require.Len(t, b.expiries(), 1, psn)
		b.Event.Push(port.AckEvent{QPN: 3, Una: psn + 1, Arm: 100})
		b.run(t, 500)
		require.Len(t, b.expiries(), 1)
	}
}

// TestPurgeMeetsTimeout: none is told behind the marker, in which cycle ever the
// timer expires.
func TestPurgeMeetsTimeout(t *testing.T) {
	for shift := range uint64(20) {
		b := open(t)
		b.send(armed(wire(3, 1, 0, 1), 500))
		b.Left.NotBefore = func(int) uint64 { return 99 }
		b.Purge.Push(port.Purge{QPN: 3})
		b.Purge.NotBefore = func(int) uint64 { return 585 + shift }
		b.run(t, 3000)
		require.Len(t, b.CQE.At, 1)
		for _, at := range b.expiries() {
			require.Less(t, at, b.CQE.At[0]-1, shift)
		}
	}
}

// TestLeftNeverWaits: one is taken each cycle, whatever else there is to do, and
// whoever takes nothing.
func TestLeftNeverWaits(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true}, retrans.Params{}, 0)
	defer b.k.Close()
	b.CQE.Shut, b.Retire.Shut = true, true
	const messages = 1000
	for i := range messages {
		qpn := port.QPN(i % 128)
		b.Sent.Push(armed(wire(qpn, uint16(i), roce.PSN(i/128), 1), 20))
		b.Ack.Push(port.AckEvent{QPN: qpn, Una: roce.PSN(i / 128), Arm: 20})
		b.leave(qpn, roce.PSN(i/128))
	}
	b.Left.NotBefore = func(int) uint64 { return 500 }
	b.run(t, 500+messages+1)
	require.Equal(t, messages, b.Left.Sent())
}

// TestIdle: when everything is acknowledged no alarm is left but that which was set
// before, and nothing wakes after it.
func TestIdle(t *testing.T) {
	b := newBench(t, hdl.Options{}, retrans.Params{}, 0)
	defer b.k.Close()
	for i := range port.QPN(256) {
		b.send(armed(wire(i, 1, 5, 1), 1<<20))
		b.Ack.Push(port.AckEvent{QPN: i, Una: 6, Arm: 1 << 20})
	}
	b.Ack.NotBefore = func(int) uint64 { return 2000 }
	b.run(t, 10000)
	require.Equal(t, 256, b.freed())
	before := b.k.Stats().Steps
	require.NoError(t, b.k.Run(2<<20))
	woken := b.k.Stats().Steps
	require.LessOrEqual(t, woken-before, uint64(256*8))
	require.NoError(t, b.k.Run(1<<40))
	require.Equal(t, woken, b.k.Stats().Steps)
	require.Empty(t, b.expiries())
}
