package cqwriter_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	cqwriter "rnic/rtl/cq_writer"
	"rnic/rtl/port"
)

const unit = abi.CQPeriodCycles

func moderated(n int, log uint8, eqn int, count, period uint16) port.CQAdmin {
	o := createCQ(n, log, eqn)
	o.Count, o.Period = count, period
	return o
}

func modify(n int, count, period uint16) port.CQAdmin {
	return port.CQAdmin{Op: port.CQModify, Number: uint32(n), Count: count, Period: period}
}

// watch notes CQEs and events as they land.
type watch struct{ cqes, events []uint64 }

func (w *watch) land(l *landed) {
	if l.isCQE() {
		w.cqes = append(w.cqes, l.At)
	} else if l.isEvent() {
		w.events = append(w.events, l.At)
	}
}

// TestPeriod: an event waits for the period from its CQE on, and for less than one
// unit more.
func TestPeriod(t *testing.T) {
	for _, period := range []uint16{1, 2, 7, 300, abi.MaxCQPeriod} {
		for phase := 0; phase < unit; phase += 51 {
			b, w := newBench(t, small, hdl.Options{}, 0), watch{}
			b.onLand = w.land
			b.admin(t, createEQ(0, 3, 0), moderated(0, 3, 0, 0, period))
			b.Bell.Push(arm(0, 0, false))
			b.run(t, 20+phase)
			b.Send.Push(port.CQEReq{})
			require.NoError(t, b.k.Run(b.k.Cycle()+(abi.MaxCQPeriod+10)*unit))
			require.Len(t, w.events, 1)
			waited := w.events[0] - w.cqes[0]
			require.GreaterOrEqual(t, waited, uint64(period)*unit)
			require.LessOrEqual(t, waited, uint64(period+1)*unit+8)
		}
	}
}

// TestPeriodOfTheSecondEvent: a period that ended early by the count does not end the
// next one; the queue is in the wheel still.
func TestPeriodOfTheSecondEvent(t *testing.T) {
	b, w := newBench(t, small, hdl.Options{Strict: true}, 0), watch{}
	b.onLand = w.land
	b.admin(t, createEQ(0, 3, 0), moderated(0, 3, 0, 2, 4))
	b.Bell.Push(arm(0, 0, false))
	b.run(t, 20)
	b.Send.Push(port.CQEReq{}, port.CQEReq{})
	b.run(t, 3*unit)
	require.Len(t, w.events, 1)
	b.Bell.Push(arm(0, 2, false))
	b.run(t, 20)
	b.Send.Push(port.CQEReq{})
	b.run(t, 6*unit)
	require.Len(t, w.events, 2)
	require.GreaterOrEqual(t, w.events[1]-w.cqes[2], uint64(4*unit))
}

// TestArmsDoNotPutOff: who arms again and again has the event no later.
func TestArmsDoNotPutOff(t *testing.T) {
	b, w := newBench(t, small, hdl.Options{Strict: true}, 0), watch{}
	b.onLand = w.land
	b.admin(t, createEQ(0, 3, 0), moderated(0, 3, 0, 0, 3))
	b.Bell.Push(arm(0, 0, false))
	b.run(t, 20)
	b.Send.Push(port.CQEReq{})
	for range 8 {
		b.run(t, unit/2)
		b.Bell.Push(arm(0, 0, false))
	}
	b.run(t, 20)
	require.Len(t, w.events, 1)
	require.LessOrEqual(t, w.events[0]-w.cqes[0], uint64(4*unit+8))
}

// TestHold is what ends the wait of an event, what does not, and what never waits.
func TestHold(t *testing.T) {
	plain, solicited, failed := port.CQEReq{}, port.CQEReq{Solicited: true}, port.CQEReq{Status: abi.StatusWRFlush}
	for _, c := range []struct {
		name          string
		count, period uint16
		do            []any // CQEs, doorbells and commands
		soon, late    int   // events before the period is over, and in all
	}{
		{"waits", 0, 2, []any{arm(0, 0, false), plain}, 0, 1},
		{"one event", 0, 2, []any{arm(0, 0, false), plain, plain, plain}, 0, 1},
		{"not armed", 0, 2, []any{plain, plain}, 0, 0},
		{"no period", 0, 0, []any{arm(0, 0, false), plain}, 1, 1},
		{"count of 1", 1, 2, []any{arm(0, 0, false), plain}, 1, 1},
		{"count not reached", 3, 2, []any{arm(0, 0, false), plain, plain}, 0, 1},
		{"count reached", 3, 2, []any{arm(0, 0, false), plain, plain, plain}, 1, 1},
		{"one event for what is beyond the count", 3, 2, []any{arm(0, 0, false), plain, plain, plain, plain, plain, plain, plain}, 1, 1},
		{"count reached at the arm", 3, 2, []any{plain, plain, plain, arm(0, 0, false)}, 1, 1},
		{"some there at the arm", 3, 2, []any{plain, plain, arm(0, 0, false)}, 0, 1},
		{"consumed CQEs do not count", 3, 2, []any{plain, plain, arm(0, 2, false), plain, plain}, 0, 1},
		{"consumed while it waits", 3, 2, []any{arm(0, 0, false), plain, plain, ring(0, 2), plain}, 0, 1},
		{"what is consumed does not call it off", 0, 2, []any{arm(0, 0, false), plain, ring(0, 1)}, 0, 1},
		{"arms share the event that waits", 0, 2, []any{arm(0, 0, false), plain, arm(0, 0, false), arm(0, 0, true)}, 0, 1},
		{"an arm for the next", 0, 2, []any{arm(0, 0, false), plain, arm(0, 1, false)}, 0, 1},
		{"solicited waits for its CQE", 2, 2, []any{arm(0, 0, true), plain, plain, plain}, 0, 0},
		{"and counts all then", 4, 2, []any{arm(0, 0, true), plain, plain, solicited}, 0, 1},
		{"and counts all then, and has enough", 4, 2, []any{arm(0, 0, true), plain, plain, plain, failed}, 1, 1},
		{"modify lets it go", 0, 2, []any{arm(0, 0, false), plain, modify(0, 0, 4000)}, 1, 1},
		{"modify of nothing that waits", 0, 2, []any{arm(0, 0, false), modify(0, 0, 0), plain}, 1, 1},
		{"a longer period", 0, 1, []any{modify(0, 0, 3), arm(0, 0, false), plain}, 0, 1},
		{"shortened: at once rather than late", 0, 4000, []any{arm(0, 0, false), plain, modify(0, 0, 3), arm(0, 1, false), plain}, 2, 2},
		{"destroyed", 0, 2, []any{arm(0, 0, false), plain, port.CQAdmin{Op: port.CQDestroy}}, 0, 0},
		{"a new life", 0, 3000, []any{arm(0, 0, false), plain, port.CQAdmin{Op: port.CQDestroy}, moderated(0, 3, 0, 0, 3500), arm(0, 0, false), plain}, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []landed) {
				b := newBench(t, small, o, 0)
				b.admin(t, createEQ(0, 3, 0), moderated(0, 3, 0, c.count, c.period))
				for _, x := range c.do {
					switch v := x.(type) {
					case port.CQEReq:
						b.Send.Push(v)
					case port.CQDoorbell:
						b.Bell.Push(v)
					case port.CQAdmin:
						require.Equal(t, port.CQAdminRes{}, b.admin(t, v))
					}
					b.run(t, 8)
				}
				require.EqualValues(t, c.soon, b.W.Stats.Get().Events)
				require.NoError(t, b.k.Run(b.k.Cycle()+4002*unit))
				require.EqualValues(t, c.late, b.W.Stats.Get().Events)
				require.Zero(t, b.W.Stats.Get().BadNumber)
				return b.k, b.log
			})
		})
	}
}

// TestOverrunIsNotHeld: CQ_ERR comes at once, and what is held after it.
func TestOverrunIsNotHeld(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(0, 3, 0), moderated(0, 0, 0, 0, 2))
	b.Bell.Push(arm(0, 0, false))
	b.run(t, 20)
	b.Send.Push(port.CQEReq{}, port.CQEReq{})
	b.run(t, 50)
	require.Len(t, b.log, 2)
	require.Equal(t, abi.EventCQErr, b.log[1].event().Type)
	b.run(t, 4*unit)
	require.Len(t, b.log, 3)
	require.Equal(t, abi.EventCompletion, b.log[2].event().Type)
}

// TestWheel arms hundreds of queues with periods of all lengths at random, and
// changes them now and then: each event is in time.
func TestWheel(t *testing.T) {
	hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, int) {
		const queues = 200
		b := newBench(t, cqwriter.Params{CQs: queues, EQs: 1}, o, 0)
		b.admin(t, createEQ(0, 15, 0))
		rng := rand.New(rand.NewPCG(5, 6))
		var period, ci [queues]uint16
		var since, early [queues]uint64 // its CQE came; until then it may come early
		var events uint16
		draw := func() uint16 { return uint16(1 + rng.IntN(30)*rng.IntN(4)) }
		for n := range queues {
			period[n] = draw()
			b.admin(t, moderated(n, 3, 0, 0, period[n]))
		}
		b.onLand = func(l *landed) {
			switch {
			case l.isCQE():
				since[l.queue()] = l.At
			case l.isEvent():
				n := l.event().Number
				waited := l.At - since[n]
				require.NotZero(t, since[n], "an event of nothing")
				require.LessOrEqual(t, waited, uint64(period[n]+1)*unit+2*queues)
				if l.At > early[n] {
					require.GreaterOrEqual(t, waited, uint64(period[n])*unit)
				}
				since[n] = 0
				events++
			}
		}
		count := 0
		for range 600 {
			n := rng.IntN(queues)
			if since[n] != 0 {
				b.run(t, rng.IntN(400))
				continue
			}
			if rng.IntN(4) == 0 {
				early[n] = b.k.Cycle() + uint64(period[n]+2)*unit
				period[n] = draw()
				b.admin(t, modify(n, 0, period[n]))
			}
			b.Bell.Push(arm(n, ci[n], false), rearm(0, events))
			b.run(t, 10)
			b.Send.Push(port.CQEReq{CQN: port.CQN(n)})
			b.run(t, 10)
			ci[n]++
			count++
		}
		require.NoError(t, b.k.Run(b.k.Cycle()+200*unit))
		require.EqualValues(t, count, events)
		return b.k, count
	})
}
