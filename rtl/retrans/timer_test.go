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

func armed(s port.Sent, cycles uint64) port.Sent {
	s.Arm = cycles
	return s
}

// expiries are the cycles in which TIMEOUTs were put.
func (b *bench) expiries() (at []uint64) {
	for i, r := range b.Retire.Got {
		if r.Kind == port.RetireTimeout {
			at = append(at, b.Retire.At[i]-1)
		}
	}
	return at
}

// TestEveryTimeout has the timer of each code expire, with the time unit of
// hardware and that of tests: exactly T after its request was at the head of Left,
// which is within [T, 9T/8], and without the cycles between being simulated.
func TestEveryTimeout(t *testing.T) {
	for _, unit := range []uint64{8, 1024} {
		for code := 1; code <= 31; code++ {
			b := newBench(t, hdl.Options{Strict: true}, retrans.Params{}, 0)
			timeout := unit << code
			b.send(armed(wire(3, 1, 5, 1), timeout))
			b.Left.NotBefore = func(int) uint64 { return 99 }
			require.NoError(t, b.k.Run(100+2*timeout))
			require.Equal(t, []uint64{100 + timeout}, b.expiries(), "code %d", code)
			require.Equal(t, []port.Retire{{Kind: port.RetireTimeout, QPN: 3, Una: 5}}, b.Retire.Got)
			require.LessOrEqual(t, b.k.Stats().Steps, uint64(30))

			b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 5, Status: abi.StatusRetryExc, Arm: timeout})
			require.NoError(t, b.k.Run(b.k.Cycle()+4*timeout))
			require.Equal(t, []ended{{1, abi.StatusRetryExc}}, b.ended(3))
			require.Len(t, b.expiries(), 1)
			b.k.Close()
		}
	}
}

// TestTimeoutTellsUna: what the timer was not restarted for is still to be told.
func TestTimeoutTellsUna(t *testing.T) {
	b := open(t)
	b.send(armed(wire(3, 1, 5, 4), 1000))
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 7, Arm: 1000})
	b.Ack.NotBefore = func(int) uint64 { return 500 }
	b.run(t, 5000)
	require.Equal(t, []port.Retire{{Kind: port.RetireTimeout, QPN: 3, Una: 7}}, b.Retire.Got)
}

// TestShortestTimeouts are those that the timer is too slow for.
func TestShortestTimeouts(t *testing.T) {
	for timeout := range uint64(16) {
		b := open(t)
		b.send(armed(wire(3, 1, 5, 1), timeout+1))
		b.Left.NotBefore = func(int) uint64 { return 99 }
		require.NoError(t, b.k.Run(200))
		require.Equal(t, []uint64{100 + max(timeout+1, 13)}, b.expiries())
	}
}

func TestProgressRestartsTheTimer(t *testing.T) {
	for _, timeout := range []uint64{16, 32, 64, 1000, 1 << 30} {
		b := open(t)
		b.send(armed(wire(3, 1, 0, 8), timeout))
		gap := timeout - timeout/8
		b.Left.NotBefore = func(n int) uint64 { return 99 }
		for i := range roce.PSN(7) {
			b.Ack.Push(port.AckEvent{QPN: 3, Una: i + 1, Arm: timeout})
		}
		b.Ack.NotBefore = func(n int) uint64 { return 99 + uint64(n+1)*gap }
		require.NoError(t, b.k.Run(200+10*timeout))
		require.Equal(t, []uint64{100 + 7*gap + timeout}, b.expiries(), timeout)
		require.Less(t, b.k.Stats().Steps, uint64(300))
	}
}

// TestRestartAtAnyTime has one restart, from right after the start to right before
// the end.
func TestRestartAtAnyTime(t *testing.T) {
	for _, timeout := range []uint64{16, 32, 64, 128} {
		for after := uint64(1); after < timeout-1; after++ {
			b := open(t)
			b.send(armed(wire(3, 1, 0, 8), timeout))
			b.Left.NotBefore = func(n int) uint64 { return 99 }
			b.Ack.Push(port.AckEvent{QPN: 3, Una: 1, Arm: timeout})
			b.Ack.NotBefore = func(n int) uint64 { return 99 + after }
			require.NoError(t, b.k.Run(500))
			require.Len(t, b.expiries(), 1)
			from := b.expiries()[0] - 100 - after
			require.GreaterOrEqual(t, from, timeout)
			require.LessOrEqual(t, from, timeout+1, "%d cycles after %d", timeout, after)
		}
	}
}

// TestNoProgressDoesNotRestartTheTimer: neither a further message nor an event
// that acknowledges nothing.
func TestNoProgressDoesNotRestartTheTimer(t *testing.T) {
	b := open(t)
	b.send(armed(wire(3, 1, 5, 1), 500), armed(wire(3, 2, 6, 1), 500), armed(local(3, 3, 7, 0), 500))
	b.Left.NotBefore = func(n int) uint64 { return 99 + 100*uint64(n) }
	b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Arm: 500}, port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 6, Arm: 500})
	b.Event.NotBefore = func(n int) uint64 { return 400 + 50*uint64(n) }
	b.run(t, 5000)
	require.Equal(t, []uint64{600}, b.expiries())
}

func TestTimerIsOffWhenNothingIsOutstanding(t *testing.T) {
	const timeout = 512
	for name, c := range map[string]struct {
		sent  []port.Sent
		event port.AckEvent
	}{
		"acknowledged": {[]port.Sent{wire(3, 1, 5, 1)}, port.AckEvent{Una: 6}},
		"local left":   {[]port.Sent{wire(3, 1, 5, 1), local(3, 2, 6, 0)}, port.AckEvent{Una: 6}},
		"local only":   {[]port.Sent{local(3, 2, 6, 0)}, port.AckEvent{Una: 6}},
		"flushed":      {[]port.Sent{wire(3, 1, 5, 1), wire(3, 1, 6, 1)}, port.AckEvent{Una: 6, Flush: true}},
		"failed":       {[]port.Sent{wire(3, 1, 5, 1), wire(3, 1, 6, 1)}, port.AckEvent{Una: 6, Fail: true, FailPSN: 6}},
		"not wanted":   {[]port.Sent{wire(3, 1, 5, 1), wire(3, 1, 6, 1)}, port.AckEvent{Una: 6, Arm: 0}},
	} {
		for _, shut := range []bool{false, true} {
			b := newBench(t, hdl.Options{Strict: true}, retrans.Params{}, 0)
			b.CQE.Shut = shut // then entries stay in the table
			if shut {
				for i := range uint16(10) {
					b.Sent.Push(local(4, i, 0, 0))
				}
			}
			for _, s := range c.sent {
				b.send(armed(s, timeout))
			}
			c.event.QPN = 3
			if name != "not wanted" {
				c.event.Arm = timeout
			}
			b.Ack.Push(c.event)
			b.Ack.NotBefore = func(int) uint64 { return 300 }
			err := b.k.Run(10000)
			require.Equal(t, shut, err != nil)
			require.Empty(t, b.expiries(), name)
			require.Zero(t, b.DUT.Clock.Records.Peek(3).Phase, name)
			b.k.Close()
		}
	}
}

// TestTimerIsOffOnceFlushed: the packet that failed was not the first that waited.
func TestTimerIsOffOnceFlushed(t *testing.T) {
	b := open(t)
	b.send(armed(wire(3, 1, 5, 3), 100), armed(wire(3, 2, 8, 3), 100))
	b.Event.Push(port.AckEvent{QPN: 3, Una: 6, Fail: true, FailPSN: 7, Status: abi.StatusLocProt, Arm: 100})
	b.run(t, 1000)
	require.Equal(t, []ended{{1, abi.StatusLocProt}, {2, flushed}}, b.ended(3))
	require.Empty(t, b.expiries())
}

// TestTimeoutIsToldOnce: qpc's answer starts the timer again if messages are left,
// with whatever timeout it has now.
func TestTimeoutIsToldOnce(t *testing.T) {
	b := open(t)
	b.send(armed(wire(3, 1, 5, 1), 100), armed(wire(3, 2, 6, 1), 100))
	require.NoError(t, b.k.Run(1000))
	require.Len(t, b.expiries(), 1)
	for _, timeout := range []uint64{5000, 20, 0} {
		at := b.k.Cycle()
		b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Arm: timeout})
		n := len(b.expiries())
		require.NoError(t, b.k.Run(at+20000))
		if timeout == 0 {
			require.Len(t, b.expiries(), n)
			continue
		}
		require.Len(t, b.expiries(), n+1)
		require.InDelta(t, at+timeout, b.expiries()[n], 3)
	}
}

// TestShorterTimeoutAfterLonger: a QP is reset while its alarm is far away.
func TestShorterTimeoutAfterLonger(t *testing.T) {
	b := open(t)
	b.send(armed(wire(3, 1, 5, 1), 1<<40))
	b.run(t, 100)
	b.Purge.Push(port.Purge{QPN: 3})
	b.run(t, 100)
	b.send(armed(wire(3, 1, 5, 1), 64))
	b.run(t, 100)
	require.Len(t, b.expiries(), 1)
	require.NoError(t, b.k.Run(1<<41))
	require.Len(t, b.expiries(), 1)
}

// TestAllTimersAtOnce has 1,024 QPs expire in the same cycle.
func TestAllTimersAtOnce(t *testing.T) {
	b := newBench(t, hdl.Options{}, retrans.Params{}, 0)
	defer b.k.Close()
	const at, every = 8192, 4
	b.Left.NotBefore = func(n int) uint64 { return uint64(every*n) - 1 + every }
	for i := range 1024 {
		b.send(armed(wire(port.QPN(i), 1, 5, 1), uint64(at-every*(i+1))))
	}
	b.run(t, 20000)
	require.Len(t, b.expiries(), 1024)
	seen := map[port.QPN]bool{}
	for i, c := range b.expiries() {
		require.GreaterOrEqual(t, c, uint64(at))
		require.LessOrEqual(t, c, uint64(at+2+2*i), "%d", i)
		seen[b.Retire.Got[i].QPN] = true
	}
	require.Len(t, seen, 1024)
}

// TestTimersOfOneBank has those expire together that share a tree.
func TestTimersOfOneBank(t *testing.T) {
	b := open(t)
	const at, every = 4096, 20
	b.Left.NotBefore = func(n int) uint64 { return uint64(every*n) - 1 + every }
	for i := range 64 {
		b.send(armed(wire(port.QPN(16*i+5), 1, 5, 1), uint64(at-every*(i+1))))
	}
	b.run(t, 20000)
	require.Len(t, b.expiries(), 64)
	for i, c := range b.expiries() {
		require.GreaterOrEqual(t, c, uint64(at))
		require.LessOrEqual(t, c, uint64(at+8*i))
	}
}

// TestTimerGoesBeforeEntriesThatEnd has many end when a short timer expires.
func TestTimerGoesBeforeEntriesThatEnd(t *testing.T) {
	for shift := range uint64(10) {
		b := open(t)
		for i := range 200 {
			b.Sent.Push(wire(3, uint16(i), roce.PSN(i), 1))
		}
		b.send(armed(wire(4, 1, 5, 1), 64))
		b.Left.NotBefore = func(n int) uint64 { return 999 }
		b.Ack.Push(port.AckEvent{QPN: 3, Una: 200})
		b.Ack.NotBefore = func(int) uint64 { return 1040 + shift }
		b.run(t, 2000)
		require.Len(t, b.expiries(), 1)
		require.InDelta(t, 1000+64+1, b.expiries()[0], 1, shift)
	}
}

// TestManyTimersUnderTraffic keeps 256 QPs with a timeout of 2,048 cycles busy, so
// that each alarm is put off all the time, and stops one by one.
func TestManyTimersUnderTraffic(t *testing.T) {
	b := newBench(t, hdl.Options{}, retrans.Params{}, 0)
	defer b.k.Close()
	const qps, timeout, rounds = 256, 2048, 40
	var last [qps]uint64
	for i := range qps {
		b.send(armed(wire(port.QPN(i), 1, 0, rounds+1), timeout))
	}
	sent := 0
	b.Ack.NotBefore = func(n int) uint64 { return 1024 + 3*uint64(n) }
	for r := range rounds {
		for i := range qps {
			if r < i%rounds+1 {
				b.Ack.Push(port.AckEvent{QPN: port.QPN(i), Una: roce.PSN(r + 1), Arm: timeout})
				last[i] = 1024 + 3*uint64(sent) + 1
				sent++
			}
		}
	}
	b.run(t, 100000)
	require.Len(t, b.expiries(), qps)
	for i, at := range b.expiries() {
		from := last[b.Retire.Got[i].QPN]
		require.GreaterOrEqual(t, at-from, uint64(timeout))
		require.LessOrEqual(t, at-from, uint64(timeout+timeout/8))
	}
}
