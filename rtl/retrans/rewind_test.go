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

// rewind asks for all from at on to be sent again.
func rewind(qpn port.QPN, at roce.PSN, gen uint8, wait uint64) port.AckEvent {
	return port.AckEvent{QPN: qpn, Una: at, Rewind: true, At: at, Gen: gen, Wait: wait}
}

// answers are the answers to rewinds, and the cycles in which they were put.
func (b *bench) answers() (r []port.Retire, at []uint64) {
	for i, v := range b.Retire.Got {
		if v.Kind == port.RetireRewind {
			r, at = append(r, v), append(at, b.Retire.At[i]-1)
		}
	}
	return r, at
}

// gens are the generations that were answered.
func (b *bench) gens() (g []uint8) {
	r, _ := b.answers()
	for _, v := range r {
		g = append(g, v.Gen)
	}
	return g
}

// TestRewind goes back to the middle of the second of three messages, by either
// port. The entries stay, and end once.
func TestRewind(t *testing.T) {
	for _, late := range []bool{false, true} {
		b := open(t)
		b.send(wire(3, 10, 0xfffffe, 1), wire(3, 11, 0xffffff, 3), wire(3, 13, 2, 1))
		b.run(t, 20)
		if e := rewind(3, 1, 1, 0); late {
			b.Ack.Push(e)
		} else {
			b.Event.Push(e)
		}
		b.run(t, 1000)
		require.Equal(t, []port.Retire{
			{Kind: port.RetireDone, QPN: 3, Messages: 1, Oldest: 11, Una: 1},
			{Kind: port.RetireRewind, QPN: 3, Gen: 1, Any: true, Oldest: 11, First: 0xffffff, Last: 1, Una: 1},
		}, b.Retire.Got)
		b.Ack.Push(port.AckEvent{QPN: 3, Una: 3})
		b.run(t, 20)
		require.Equal(t, []ended{{10, 0}, {11, 0}, {13, 0}}, b.ended(3))
		require.Equal(t, 3, b.freed())
		require.Len(t, b.Retire.Got, 3)
	}
}

// TestRewindLatency: 3 cycles, or 2 more than the wait, unless an entry ends first.
func TestRewindLatency(t *testing.T) {
	for _, wait := range []uint64{0, 16, 17, 100, 1 << 33} {
		b := open(t)
		b.Sent.Push(wire(3, 1, 5, 1))
		b.Ack.Push(rewind(3, 5, 1, wait))
		b.Ack.NotBefore = func(int) uint64 { return 99 }
		require.NoError(t, b.k.Run(200+wait))
		_, at := b.answers()
		require.Equal(t, []uint64{max(103, 102+wait)}, at)
		require.Less(t, b.k.Stats().Steps, uint64(40))
	}
}

// TestRewindAfterLocalMessages: they have ended by then, wherever they are, and
// take no PSN.
func TestRewindAfterLocalMessages(t *testing.T) {
	b := open(t)
	b.Sent.Push(local(3, 1, 5, 0), wire(3, 2, 5, 2), local(3, 3, 7, 0), local(3, 4, 7, 0), wire(3, 5, 7, 4), local(3, 6, 11, 0))
	b.Ack.Push(rewind(3, 7, 1, 0))
	b.Ack.NotBefore = func(int) uint64 { return 99 }
	b.run(t, 200)
	require.Equal(t, []ended{{1, 0}, {2, 0}, {3, 0}, {4, 0}}, b.ended(3))
	r, _ := b.answers()
	require.Equal(t, []port.Retire{{Kind: port.RetireRewind, QPN: 3, Gen: 1, Any: true, Oldest: 5, First: 7, Last: 10, Una: 7}}, r)
}

// TestRewindOfFirstMessage: a local one in front of it is the first of the life.
func TestRewindOfFirstMessage(t *testing.T) {
	b := open(t)
	b.Sent.Push(local(3, 1, 0xffffff, 0), wire(3, 2, 0xffffff, 2))
	b.Ack.Push(rewind(3, 0xffffff, 1, 0))
	b.Ack.NotBefore = func(int) uint64 { return 99 }
	b.run(t, 200)
	r, _ := b.answers()
	require.Equal(t, []port.Retire{{Kind: port.RetireRewind, QPN: 3, Gen: 1, Any: true, Oldest: 2, First: 0xffffff, Una: 0xffffff}}, r)
}

// TestRewindWithEverythingAcknowledged: progress overtook it.
func TestRewindWithEverythingAcknowledged(t *testing.T) {
	for name, sent := range map[string][]port.Sent{
		"wire":  {wire(3, 1, 5, 1), wire(3, 2, 6, 2)},
		"local": {wire(3, 1, 5, 1), wire(3, 2, 6, 2), local(3, 3, 8, 0)},
		"none":  nil,
	} {
		b := open(t)
		b.Sent.Push(sent...)
		b.Ack.Push(port.AckEvent{QPN: 3, Una: 8}, rewind(3, 6, 1, 50))
		b.Ack.NotBefore = func(int) uint64 { return 99 }
		b.run(t, 300)
		r, _ := b.answers()
		require.Equal(t, []port.Retire{{Kind: port.RetireRewind, QPN: 3, Gen: 1, Una: 8}}, r, name)
		require.Equal(t, len(sent), b.freed())
	}
}

// TestRewindWaitsForCompletions: of the messages before it, while cq_writer takes none.
func TestRewindWaitsForCompletions(t *testing.T) {
	b := open(t)
	b.CQE.Shut = true
	for i := range roce.PSN(30) {
		b.Sent.Push(wire(3, uint16(i), i, 1))
	}
	b.Ack.Push(rewind(3, 25, 1, 0), rewind(3, 25, 2, 40))
	b.Ack.NotBefore = func(int) uint64 { return 199 }
	b.k.Go("host", func(th *hdl.Thread) {
		th.Sleep(2000)
		require.Empty(t, b.gens())
		b.CQE.Shut = false
		b.CQE.Wake()
	})
	b.run(t, 3000)
	require.Len(t, b.ended(3), 25)
	require.Equal(t, port.Retire{Kind: port.RetireRewind, QPN: 3, Gen: 2, Any: true, Oldest: 25, First: 25, Last: 25, Una: 25}, b.Retire.Got[len(b.Retire.Got)-1])
	require.Equal(t, []uint8{2}, b.gens())
}

// TestRewindWaitsForAcknowledgements that are still behind scatter.
func TestRewindWaitsForAcknowledgements(t *testing.T) {
	b := open(t)
	b.Sent.Push(wire(3, 1, 5, 1), wire(3, 2, 6, 1), wire(3, 3, 7, 2))
	e := rewind(3, 8, 1, 0)
	e.Una = 5
	b.Event.Push(e)
	b.run(t, 100)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 6})
	b.run(t, 100)
	require.Empty(t, b.gens())
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 7})
	b.run(t, 100)
	r, _ := b.answers()
	require.Equal(t, []port.Retire{{Kind: port.RetireRewind, QPN: 3, Gen: 1, Any: true, Oldest: 3, First: 7, Last: 8, Una: 7}}, r)
}

// TestWaitIsNotCutShort by acknowledgements, which count all the same, or by
// requests that were on their way.
func TestWaitIsNotCutShort(t *testing.T) {
	b := open(t)
	for i := range roce.PSN(10) {
		b.send(armed(wire(3, uint16(i), i, 1), 50))
	}
	b.Ack.Push(rewind(3, 2, 1, 1000))
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 2, Arm: 50}, port.AckEvent{QPN: 3, Una: 4, Arm: 50}, port.AckEvent{QPN: 3, Una: 5, Arm: 50})
	b.Ack.NotBefore = func(n int) uint64 { return 39 + 200*uint64(n) }
	b.Left.NotBefore = func(n int) uint64 { return 20 + 30*uint64(n) }
	b.run(t, 3000)
	require.Empty(t, b.expiries())
	r, at := b.answers()
	require.Equal(t, []port.Retire{{Kind: port.RetireRewind, QPN: 3, Gen: 1, Any: true, Oldest: 5, First: 5, Last: 5, Una: 5}}, r)
	require.Equal(t, []uint64{40 + 1000 + 2}, at)
}

// TestNewerRewindTakesThePlace of one that has no answer.
func TestNewerRewindTakesThePlace(t *testing.T) {
	for name, c := range map[string]struct {
		first, second uint64 // waits
		at            uint64 // of the answer
	}{
		"at once": {1000, 0, 503},
		"sooner":  {1000, 100, 602},
		"later":   {1000, 2000, 2502},
		"longer":  {397, 1000, 1502}, // the first wait ends as the second comes
	} {
		for shift := range uint64(6) {
			b := open(t)
			b.Sent.Push(wire(3, 1, 5, 1), wire(3, 2, 6, 2))
			b.Ack.Push(rewind(3, 5, 1, c.first))
			b.Ack.NotBefore = func(int) uint64 { return 99 }
			b.Event.Push(rewind(3, 5, 2, c.second))
			b.Event.NotBefore = func(int) uint64 { return 499 - shift }
			b.run(t, 4000)
			_, at := b.answers()
			require.NotEmpty(t, at)
			require.Equal(t, uint8(2), b.gens()[len(at)-1])
			require.GreaterOrEqual(t, at[len(at)-1], c.at-shift, name)
			require.LessOrEqual(t, at[len(at)-1], c.at-shift+1, name)
			if name != "longer" {
				require.Len(t, at, 1, name)
			}
		}
	}
}

func TestFailureTakesThePlaceOfRewind(t *testing.T) {
	for name, fail := range map[string]port.AckEvent{
		"here":  {QPN: 3, Una: 5, Fail: true, FailPSN: 5, Status: abi.StatusRetryExc, Gen: 1},
		"later": {QPN: 3, Una: 5, Fail: true, FailPSN: 7, Status: abi.StatusRemOp, Gen: 1},
		"flush": {QPN: 3, Una: 5, Flush: true, Gen: 1},
	} {
		b := open(t)
		b.Sent.Push(wire(3, 1, 5, 1), wire(3, 2, 6, 2))
		b.Ack.Push(rewind(3, 5, 1, 500))
		b.run(t, 100)
		b.Event.Push(fail)
		b.run(t, 100)
		b.Ack.Push(rewind(3, 5, 2, 0)) // was on its way
		b.run(t, 1000)
		require.Empty(t, b.gens(), name)
	}
}

// TestPurgeTakesThePlaceOfRewind; the generations go on in the next life.
func TestPurgeTakesThePlaceOfRewind(t *testing.T) {
	for _, wait := range []uint64{0, 500} {
		b := open(t)
		b.Retire.Shut = true
		for i := range uint16(10) {
			b.Sent.Push(local(4, i, 0, 0)) // no more DONEs
		}
		b.Sent.Push(wire(3, 1, 5, 1), wire(3, 2, 6, 2))
		b.Ack.Push(rewind(3, 5, 1, wait))
		b.Ack.NotBefore = func(int) uint64 { return 50 }
		b.Purge.Push(port.Purge{QPN: 3})
		b.Purge.NotBefore = func(int) uint64 { return 60 }
		for range 200 { // the marker waits for these
			b.Event.Push(port.AckEvent{QPN: 9})
		}
		b.Event.NotBefore = func(int) uint64 { return 150 }
		b.k.Go("host", func(th *hdl.Thread) {
			th.Sleep(200)
			b.Retire.Shut = false
			b.Retire.Wake()
		})
		b.run(t, 1000)
		require.Equal(t, 12, b.freed())
		require.Empty(t, b.gens())

		b.Sent.Push(wire(3, 1, 100, 1))
		b.Ack.Push(rewind(3, 100, 2, wait))
		b.Ack.NotBefore = func(int) uint64 { return 1100 }
		b.run(t, 1000)
		require.Equal(t, []uint8{2}, b.gens())
	}
}

// TestPurgeOfOneThatIsToBeAnswered: it is in the queue of those that wait for their
// turn, and must not get there twice.
func TestPurgeOfOneThatIsToBeAnswered(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true}, retrans.Params{LogQP: 1}, 0)
	defer b.k.Close()
	b.Retire.Shut = true
	for i := range uint16(4) {
		b.Sent.Push(local(1, i, 5, 0)) // no more DONEs
	}
	b.Event.Push(rewind(0, 6, 1, 0))
	b.Event.NotBefore = func(int) uint64 { return 100 }
	b.Purge.Push(port.Purge{QPN: 0})
	b.Purge.NotBefore = func(int) uint64 { return 200 }
	b.k.Go("later", func(th *hdl.Thread) {
		th.Sleep(300)
		b.Sent.Push(local(0, 1, 7, 0))
		th.Sleep(100)
		b.Retire.Shut = false
		b.Retire.Wake()
	})
	b.run(t, 1000)
	require.Equal(t, 5, b.freed())
	require.Len(t, b.CQE.Got, 6)
	require.Empty(t, b.gens())
}

// TestRewindMeetsTimeout: none is told between the two events, in which cycle ever
// the timer expires.
func TestRewindMeetsTimeout(t *testing.T) {
	for shift := range uint64(12) {
		b := open(t)
		b.send(armed(wire(3, 1, 5, 1), 500))
		b.Left.NotBefore = func(int) uint64 { return 99 }
		e := rewind(3, 5, 1, 100)
		e.Arm = 500
		b.Ack.Push(e)
		b.Ack.NotBefore = func(int) uint64 { return 593 + shift }
		b.run(t, 3000)
		require.Equal(t, 594+shift >= 599, len(b.expiries()) == 1, shift)
		require.Equal(t, []uint8{1}, b.gens())
	}
}

// TestTimerAfterRewind starts when a request leaves again, not with one that was
// already on its way, and counts up to what has left since.
func TestTimerAfterRewind(t *testing.T) {
	b := open(t)
	b.send(armed(wire(3, 1, 5, 1), 100), armed(wire(3, 2, 6, 1), 100), armed(wire(3, 3, 7, 1), 100))
	b.run(t, 50)
	e := rewind(3, 5, 1, 300)
	e.Arm = 200
	b.Ack.Push(e)
	b.run(t, 100)
	b.leave(3, 7)
	b.run(t, 1000)
	require.Equal(t, []uint8{1}, b.gens())
	require.Empty(t, b.expiries())

	b.leave(3, 5)
	b.run(t, 100)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 6, Arm: 200})
	b.run(t, 1000)
	require.Empty(t, b.expiries(), "7 has not left again")

	b.leave(3, 6)
	at := b.k.Cycle() + 2
	b.run(t, 1000)
	require.Equal(t, []uint64{at + 200}, b.expiries())
	b.Event.Push(port.AckEvent{QPN: 3, Una: 6, Arm: 200, Rewind: true, At: 6, Gen: 2})
	b.run(t, 1000)
	require.Equal(t, []uint8{1, 2}, b.gens())
	require.Len(t, b.expiries(), 1)
	b.leave(3, 6)
	b.run(t, 1000)
	require.Len(t, b.expiries(), 2)
}

// TestWaitsOfAllQPs end in the same cycle.
func TestWaitsOfAllQPs(t *testing.T) {
	b := newBench(t, hdl.Options{}, retrans.Params{}, 0)
	defer b.k.Close()
	const end, every = 16384, 8
	for i := range port.QPN(1024) {
		b.Sent.Push(wire(i, 1, 5, 1))
		b.Ack.Push(rewind(i, 5, 1, end-every*uint64(i+1)))
	}
	b.Ack.NotBefore = func(n int) uint64 { return every*uint64(n+1) - 1 }
	b.Sent.NotBefore = func(n int) uint64 { return every*uint64(n) - every/2 }
	b.run(t, 30000)
	r, at := b.answers()
	require.Len(t, r, 1024)
	seen := map[port.QPN]bool{}
	for i, v := range r {
		require.GreaterOrEqual(t, at[i], uint64(end))
		require.LessOrEqual(t, at[i], uint64(end+6+3*i))
		seen[v.QPN] = true
	}
	require.Len(t, seen, 1024)
}
