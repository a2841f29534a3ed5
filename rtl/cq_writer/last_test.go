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

func lastWQE(qpn port.QPN) port.CQEReq { return port.CQEReq{LastWQE: true, QPN: qpn} }

func endOf(qpn port.QPN) port.CQEReq { return port.CQEReq{Purge: true, RX: true, QPN: qpn} }

// told are the QPs of which event queue 0 has been told that their last WQE is done.
func (b *bench) told() (qpns []port.QPN) {
	for _, l := range b.log {
		if l.isEvent() && l.event().Type == abi.EventQPLastWQEReached {
			qpns = append(qpns, port.QPN(l.event().Number))
		}
	}
	return qpns
}

func TestLastWQE(t *testing.T) {
	b := newBench(t, cqwriter.Params{CQs: 8, EQs: 2, QPs: 16}, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(0, 3, 4), createEQ(1, 3, 1), createCQ(3, 3, 1))
	b.Bell.Push(rearm(0, 0), arm(3, 0, false))
	b.run(t, 20)
	b.Recv.Push(port.CQEReq{CQN: 3, QPN: 15}, port.CQEReq{CQN: 3, QPN: 15}, port.CQEReq{LastWQE: true, CQN: 77, QPN: 15}, port.CQEReq{CQN: 3, QPN: 2})
	b.run(t, 50)
	require.Len(t, b.log, 6)
	require.True(t, b.log[0].isCQE() && b.log[1].isEvent() && b.log[2].isCQE(), "behind the completions")
	require.Equal(t, []port.QPN{15}, b.told())
	for _, l := range b.log[3:] {
		if l.isEvent() {
			require.Equal(t, eqBase(0), l.Addr)
			e := l.event()
			require.Equal(t, abi.Event{Type: abi.EventQPLastWQEReached, Number: 15, Timestamp: e.Timestamp, Phase: true}, e)
		}
	}
	require.Equal(t, 4, b.log[5].queue(), "interrupt")
	require.Equal(t, port.CQStats{CQEs: 3, Events: 2, Msix: 1}, b.W.Stats.Get())
	b.Recv.Push(lastWQE(16)) // no such QP
	b.run(t, 50)
	require.Equal(t, port.CQStats{CQEs: 3, Events: 2, Msix: 1, Dropped: 1}, b.W.Stats.Get())
}

// TestLastWQEWaitsForRoom: completions go on meanwhile, and the event comes once,
// however often it has become due.
func TestLastWQEWaitsForRoom(t *testing.T) {
	b := newBench(t, cqwriter.Params{CQs: 8, EQs: 2, QPs: 4}, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(0, 1, 0), createEQ(1, 3, 1), createCQ(3, 3, 1))
	for _, n := range []port.QPN{0, 1, 3, 2, 3} {
		b.Recv.Push(lastWQE(n), port.CQEReq{CQN: 3})
	}
	b.run(t, 100)
	require.EqualValues(t, 5, b.W.Stats.Get().CQEs)
	require.Equal(t, []port.QPN{0, 1}, b.told())
	b.Bell.Push(rearm(0, 1))
	b.run(t, 50)
	require.Equal(t, []port.QPN{0, 1, 3}, b.told())
	b.Bell.Push(rearm(0, 3))
	b.Recv.Push(lastWQE(0), lastWQE(3))
	b.run(t, 50)
	require.Equal(t, []port.QPN{0, 1, 3, 2, 0}, b.told())
	b.Bell.Push(rearm(0, 5))
	b.run(t, 50)
	require.Equal(t, []port.QPN{0, 1, 3, 2, 0, 3}, b.told())
}

// TestLastWQEOfAnEndedLife: the event comes before the marker's answer, or, when there
// is no room, not at all; the QP's next life has one of its own.
func TestLastWQEOfAnEndedLife(t *testing.T) {
	b := newBench(t, cqwriter.Params{CQs: 8, EQs: 2, QPs: 4}, hdl.Options{Strict: true}, 0)
	b.doneDelay = 50
	b.admin(t, createEQ(0, 1, 0))
	b.Recv.Push(lastWQE(1), lastWQE(2), endOf(2))
	b.run(t, 200)
	require.Equal(t, []port.QPN{1, 2}, b.told())
	require.Equal(t, []port.Purge{{QPN: 2, RX: true}}, b.Purged.Got)
	require.GreaterOrEqual(t, b.Purged.At[0], b.log[1].At+50)

	b.Recv.Push(lastWQE(1), lastWQE(2), lastWQE(3), endOf(2))
	b.run(t, 200)
	b.Send.Push(port.CQEReq{Purge: true, QPN: 3}) // only the receiving pipeline has it in order
	b.run(t, 200)
	require.Len(t, b.Purged.Got, 3, "an end does not wait for the driver")
	b.Bell.Push(rearm(0, 2))
	b.run(t, 100)
	require.Equal(t, []port.QPN{1, 2, 1, 3}, b.told())

	b.Recv.Push(lastWQE(2), endOf(2), lastWQE(2), lastWQE(2), endOf(0), lastWQE(0))
	b.run(t, 200)
	b.Bell.Push(rearm(0, 4))
	b.run(t, 100)
	require.Equal(t, []port.QPN{1, 2, 1, 3, 2, 0}, b.told())

	// Room has come when the marker does: all are told.
	b.Recv.Push(lastWQE(1), lastWQE(2))
	b.run(t, 200)
	b.Bell.Push(rearm(0, 6))
	b.run(t, 1)
	b.Recv.Push(endOf(2))
	b.run(t, 100)
	require.Equal(t, []port.QPN{1, 2, 1, 3, 2, 0, 1, 2}, b.told())
}

// TestLastWQEOfNobody: without event queue 0 there is nobody to tell.
func TestLastWQEOfNobody(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.Recv.Push(lastWQE(1), lastWQE(2), endOf(1))
	b.run(t, 100)
	require.Empty(t, b.log)
	require.Len(t, b.Purged.Got, 1)
	require.EqualValues(t, 2, b.W.Stats.Get().Dropped)
	b.admin(t, createEQ(0, 3, 0))
	b.run(t, 100)
	require.Empty(t, b.told())
}

// TestLastWQEs: of many QPs, each is told once, in order, with other events between, a
// driver that is slow, and writes that are.
func TestLastWQEs(t *testing.T) {
	const qps = 32
	for seed := uint64(0); seed < 4; seed++ {
		hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []port.QPN) {
			b := newBench(t, cqwriter.Params{CQs: 8, EQs: 2, QPs: qps}, o, 10*seed)
			b.admin(t, createEQ(0, 2, 0), createEQ(1, 2, 1), createCQ(3, 6, 1))
			cqes := map[port.QPN]int{}
			b.onLand = func(l *landed) {
				switch {
				case l.isCQE():
					cqes[port.QPN(l.cqe().QPN)]++
				case l.event().Type == abi.EventQPLastWQEReached:
					require.Equal(t, 2, cqes[port.QPN(l.event().Number)], "before its completions")
				}
			}
			var want []port.QPN
			for n := range port.QPN(qps) {
				b.Recv.Push(port.CQEReq{CQN: 3, QPN: n}, port.CQEReq{CQN: 3, QPN: n}, lastWQE(n))
				b.Async.Push(port.EventReq{Type: abi.EventQPFatal, Number: uint32(n)})
				want = append(want, n)
			}
			for ci := uint16(0); ci <= 2*qps; ci += 2 {
				for range 400 { // an asynchronous event may wait
					b.k.Step()
				}
				b.Bell.Push(rearm(0, ci))
			}
			b.run(t, 400)
			require.Equal(t, want, b.told())
			require.EqualValues(t, 2*qps, b.W.Stats.Get().Events)
			return b.k, b.told()
		})
	}
}
