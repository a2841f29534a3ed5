package cqwriter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	cqwriter "rnic/rtl/cq_writer"
	"rnic/rtl/port"
)

// sleeper is a driver that does nothing but in answer to interrupts, and looks at
// no CQ but in answer to its events: one that is lost stops it for ever.
type sleeper struct {
	b        *bench
	asked    [8]uint16 // CQEs asked for, by CQ
	produced [8]uint16 // and in memory
	consumed [8]uint16
	events   [2][]uint32 // in memory, by EQ: the CQN
	taken    [2]uint16
	left     [8]int // CQEs that are still to be asked for
}

func (s *sleeper) land(l *landed) {
	n := l.queue()
	switch {
	case l.isCQE():
		s.produced[n]++
	case l.isEvent():
		s.events[n] = append(s.events[n], l.event().Number)
	default:
		s.interrupt(n)
	}
}

// interrupt drains the event queue of a vector and the CQs that its events name.
func (s *sleeper) interrupt(eqn int) {
	for _, cqn := range s.events[eqn][s.taken[eqn]:] {
		s.taken[eqn]++
		s.consumed[cqn] = s.produced[cqn]
		s.b.Bell.Push(arm(int(cqn), s.consumed[cqn], s.b.rng.IntN(2) == 0))
		s.fill(int(cqn))
	}
	s.b.Bell.Push(rearm(eqn, s.taken[eqn]))
}

// fill asks for up to four CQEs when all before are consumed. The queue of eight
// has room for them even while the doorbell for those before is on its way. The
// last is solicited, so that either way of arming is told.
func (s *sleeper) fill(cqn int) {
	if s.left[cqn] == 0 || s.asked[cqn] != s.consumed[cqn] {
		return
	}
	n := min(1+s.b.rng.IntN(4), s.left[cqn])
	s.left[cqn] -= n
	s.asked[cqn] += uint16(n)
	for i := range n {
		r := port.CQEReq{CQN: port.CQN(cqn), Solicited: i == n-1}
		if s.left[cqn]%2 == 0 {
			s.b.Send.Push(r)
		} else {
			r.Opcode = abi.WCRecv
			s.b.Recv.Push(r)
		}
	}
}

// TestNoEventIsLost runs eight CQs over two event queues of two events each.
func TestNoEventIsLost(t *testing.T) {
	for seed := uint64(1); seed <= 6; seed++ {
		hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, port.CQStats) {
			b := newBench(t, cqwriter.Params{CQs: 8, EQs: 2}, o, 100*seed)
			s := &sleeper{b: b}
			b.admin(t, createEQ(0, 1, 0), createEQ(1, 1, 1))
			for n := range 8 {
				b.admin(t, createCQ(n, 3, n%2))
			}
			b.onLand = s.land
			b.Bell.Push(rearm(0, 0), rearm(1, 0))
			for n := range 8 {
				s.left[n] = 60
				b.Bell.Push(arm(n, 0, n%3 == 0))
				s.fill(n)
			}
			require.NoError(t, b.k.Run(b.k.Cycle()+200000))
			var total uint64
			for n := range 8 {
				require.Zero(t, s.left[n], "CQ %d was told no more", n)
				require.Equal(t, s.produced[n], s.consumed[n], "CQ %d", n)
				total += uint64(s.produced[n])
			}
			st := b.W.Stats.Get()
			require.EqualValues(t, 8*60, total)
			require.Equal(t, total, st.CQEs)
			require.Empty(t, b.Fatal.Got)
			require.Zero(t, st.BadNumber+st.BadPage+st.Dropped+st.Overruns)
			return b.k, st
		})
	}
}

// TestNoWakeUpIsLostWithModeration: 10,000 CQEs at random distances on eight queues
// with moderation of all kinds, which a driver that only ever reacts to interrupts
// consumes. All are seen, with far fewer events.
func TestNoWakeUpIsLostWithModeration(t *testing.T) {
	hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, port.CQStats) {
		b := newBench(t, cqwriter.Params{CQs: 8, EQs: 2}, o, 0)
		s := &sleeper{b: b}
		b.admin(t, createEQ(0, 2, 0), createEQ(1, 3, 1))
		for n, m := range [8]struct{ count, period uint16 }{{0, 1}, {0, 7}, {1, 9}, {2, 3}, {16, 5}, {100, 30}, {1000, 4}, {0, 0}} {
			b.admin(t, moderated(n, 14, n%2, m.count, m.period))
		}
		b.onLand = s.land
		b.Bell.Push(rearm(0, 0), rearm(1, 0))
		for n := range 8 {
			b.Bell.Push(arm(n, 0, false))
		}
		for i := range 10_000 {
			r := port.CQEReq{CQN: port.CQN(b.rng.IntN(8)), Solicited: true}
			if i%2 == 0 {
				b.Send.Push(r)
			} else {
				r.Opcode = abi.WCRecv
				b.Recv.Push(r)
			}
			require.NoError(t, b.k.Run(b.k.Cycle()+1+b.rng.Uint64N(1<<b.rng.IntN(8))))
			if b.rng.IntN(200) == 0 {
				b.Admin.Push(modify(b.rng.IntN(8), uint16(b.rng.IntN(30)), uint16(1+b.rng.IntN(20))))
			}
		}
		require.NoError(t, b.k.Run(b.k.Cycle()+100*unit))
		total := 0
		for n := range 8 {
			require.Equal(t, s.produced[n], s.consumed[n], "CQ %d", n)
			total += int(s.consumed[n])
		}
		require.Equal(t, 10_000, total)
		st := b.W.Stats.Get()
		require.Less(t, st.Events, uint64(3000))
		require.Zero(t, st.BadNumber+st.BadPage+st.Dropped+st.Overruns)
		return b.k, st
	})
}
