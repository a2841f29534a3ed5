package cqwriter_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	cqwriter "rnic/rtl/cq_writer"
	"rnic/rtl/port"
)

var small = cqwriter.Params{CQs: 8, EQs: 2}

func TestCQEHasEveryField(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(1, 3, 5), createCQ(3, 1, 1))
	b.Recv.Push(port.CQEReq{
		CQN: 3, QPN: 0xabcdef, UnitIdx: 0x1234, Opcode: abi.WCRecv, Status: abi.StatusLocLen, Vendor: abi.VendorRecvTooLong,
		Flags: uint8(abi.CQEWithImm), SrcQPN: 0x123456, ByteLen: 0x89abcdef, Imm: 0xdeadbeef,
	})
	b.run(t, 20)
	require.Len(t, b.log, 1)
	require.Equal(t, cqBase(3), b.log[0].Addr)
	got := b.log[0].cqe()
	require.InDelta(t, b.log[0].At, got.Timestamp, 2)
	got.Timestamp = 0
	require.Equal(t, abi.CQE{
		Index: 0x1234, Opcode: abi.WCRecv, Status: abi.StatusLocLen, QPN: 0xabcdef, Flags: abi.CQEWithImm, SrcQPN: 0x123456,
		VendorErr: abi.VendorRecvTooLong, ByteLen: 0x89abcdef, Imm: 0xdeadbeef, Phase: true,
	}, got)
	require.Equal(t, port.CQStats{CQEs: 1, RespCQEError: 1}, b.W.Stats.Get())
}

func TestRingWrapsAndPhaseTurns(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(0, 3, 0), createCQ(0, 1, 0))
	for i := range uint16(7) {
		b.Send.Push(port.CQEReq{UnitIdx: i})
		b.run(t, 20)
		b.Bell.Push(ring(0, i+1))
		b.run(t, 20)
		l := b.log[i]
		require.Equal(t, cqBase(0)+port.BusAddr(i%2*64), l.Addr)
		require.Equal(t, i/2%2 == 0, l.cqe().Phase)
		require.Equal(t, i, l.cqe().Index)
	}
}

func TestEventAndInterruptFollowTheirCQE(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(1, 3, 5), createCQ(2, 3, 1))
	b.Bell.Push(rearm(1, 0), arm(2, 0, false))
	b.run(t, 50)
	require.Empty(t, b.log)
	at := b.k.Cycle()
	b.Send.Push(port.CQEReq{CQN: 2}, port.CQEReq{CQN: 2})
	b.run(t, 50)
	require.Len(t, b.log, 4)
	require.True(t, b.log[0].isCQE())
	require.True(t, b.log[1].isEvent())
	e := b.log[1].event()
	require.Equal(t, abi.Event{Type: abi.EventCompletion, Number: 2, Timestamp: e.Timestamp, Phase: true}, e)
	var order []bool
	for _, l := range b.log {
		order = append(order, l.isMsix())
	}
	require.Equal(t, []bool{false, false, false, true}, order)
	require.Equal(t, 5, b.log[3].queue())
	// Pushed at `at`, on the port in at+1, taken and executed: in the stream at at+3.
	require.Equal(t, []uint64{at + 4, at + 5}, []uint64{b.log[0].At, b.log[1].At})
	require.LessOrEqual(t, b.log[3].At-b.log[1].At, uint64(5))
	require.Equal(t, port.CQStats{CQEs: 2, Events: 1, Msix: 1}, b.W.Stats.Get())
}

// TestArmAroundCQE rings the doorbell at every distance from a CQE.
func TestArmAroundCQE(t *testing.T) {
	for _, solicited := range []bool{false, true} {
		for offset := -64; offset <= 64; offset++ {
			t.Run(fmt.Sprintf("solicited=%v,offset=%d", solicited, offset), func(t *testing.T) {
				b := newBench(t, small, hdl.Options{Strict: true}, 0)
				b.admin(t, createEQ(0, 3, 0), createCQ(0, 3, 0))
				b.Bell.Push(rearm(0, 0))
				b.run(t, 20)
				start := b.k.Cycle() + 70
				b.Send.NotBefore = func(int) uint64 { return start }
				b.Bell.NotBefore = func(n int) uint64 {
					if n == 0 {
						return 0
					}
					return start + uint64(offset)
				}
				b.Send.Push(port.CQEReq{Solicited: true})
				b.Bell.Push(arm(0, 0, solicited))
				b.run(t, 250)
				require.Len(t, b.log, 3)
				require.True(t, b.log[0].isCQE() && b.log[1].isEvent() && b.log[2].isMsix())
				// Armed once, it tells nothing of the next one.
				b.Send.NotBefore = nil
				b.Send.Push(port.CQEReq{Solicited: true})
				b.run(t, 100)
				require.Len(t, b.log, 4)
			})
		}
	}
}

func TestSolicitedArm(t *testing.T) {
	plain, sol, bad := port.CQEReq{}, port.CQEReq{Solicited: true}, port.CQEReq{Status: abi.StatusWRFlush}
	for _, c := range []struct {
		name   string
		before []port.CQEReq
		bells  []port.CQDoorbell
		after  []port.CQEReq
		events int
	}{
		{"plain CQEs do not wake it", nil, []port.CQDoorbell{arm(0, 0, true)}, []port.CQEReq{plain, plain}, 0},
		{"a solicited one does", nil, []port.CQDoorbell{arm(0, 0, true)}, []port.CQEReq{plain, sol, sol}, 1},
		{"an error does", nil, []port.CQDoorbell{arm(0, 0, true)}, []port.CQEReq{plain, bad}, 1},
		{"at once when one is there", []port.CQEReq{plain, sol, plain}, []port.CQDoorbell{arm(0, 1, true)}, nil, 1},
		{"not when it was consumed", []port.CQEReq{plain, sol, plain}, []port.CQDoorbell{arm(0, 2, true)}, nil, 0},
		{"nor consumed by an earlier doorbell", []port.CQEReq{sol, plain}, []port.CQDoorbell{ring(0, 1), arm(0, 1, true)}, nil, 0},
		{"it does not weaken any", nil, []port.CQDoorbell{arm(0, 0, false), arm(0, 0, true)}, []port.CQEReq{plain}, 1},
		{"any strengthens it", []port.CQEReq{plain}, []port.CQDoorbell{arm(0, 0, true), arm(0, 0, false)}, nil, 1},
		{"any at once", []port.CQEReq{plain}, []port.CQDoorbell{arm(0, 0, false)}, nil, 1},
		{"any with all consumed", []port.CQEReq{plain}, []port.CQDoorbell{arm(0, 1, false)}, nil, 0},
		{"a doorbell without arm keeps it", []port.CQEReq{plain}, []port.CQDoorbell{arm(0, 1, false), ring(0, 1)}, []port.CQEReq{plain}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, small, hdl.Options{Strict: true}, 0)
			b.admin(t, createEQ(0, 3, 0), createCQ(0, 3, 0))
			b.Send.Push(c.before...)
			b.run(t, 30)
			b.Bell.Push(c.bells...)
			b.run(t, 30)
			b.Send.Push(c.after...)
			b.run(t, 30)
			require.EqualValues(t, c.events, b.W.Stats.Get().Events)
			require.EqualValues(t, len(c.before)+len(c.after), b.W.Stats.Get().CQEs)
		})
	}
}

func TestOverrunKillsTheCQOnce(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(1, 4, 1), createCQ(2, 1, 1))
	b.Bell.Push(rearm(1, 0))
	b.Send.Push(port.CQEReq{CQN: 2, QPN: 7}, port.CQEReq{CQN: 2, QPN: 7}, port.CQEReq{CQN: 2, QPN: 8})
	b.run(t, 50)
	b.Bell.Push(ring(2, 2)) // room again, too late
	b.Recv.Push(port.CQEReq{CQN: 2, QPN: 9}, port.CQEReq{CQN: 2, QPN: 8})
	b.run(t, 50)
	fatal := func(n port.QPN) port.Retire { return port.Retire{Kind: port.RetireFatal, QPN: n} }
	require.Equal(t, []port.Retire{fatal(8), fatal(9), fatal(8)}, b.Fatal.Got)
	require.Len(t, b.log, 4)
	e := b.log[2].event()
	require.Equal(t, abi.Event{Type: abi.EventCQErr, Number: 2, Timestamp: e.Timestamp, Phase: true}, e)
	require.Equal(t, 1, b.log[3].queue())
	require.Equal(t, port.CQStats{CQEs: 2, Events: 1, Msix: 1, Overruns: 3}, b.W.Stats.Get())
	// A new life of the number is not dead.
	b.admin(t, port.CQAdmin{Op: port.CQDestroy, Number: 2}, createCQ(2, 1, 1))
	b.Send.Push(port.CQEReq{CQN: 2})
	b.run(t, 30)
	require.True(t, b.log[4].isCQE())
}

func TestPurgeWaitsForTheWritesBeforeIt(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.doneDelay = 100
	b.admin(t, createEQ(0, 3, 0), createCQ(0, 3, 0))
	at := b.k.Cycle()
	b.Send.Push(port.CQEReq{QPN: 5}, port.CQEReq{Purge: true, QPN: 5})
	b.run(t, 20)
	b.Send.Push(port.CQEReq{QPN: 6}) // not held up by the marker
	b.run(t, 20)
	b.Recv.Push(port.CQEReq{Purge: true, RX: true, QPN: 5})
	require.Len(t, b.log, 2)
	require.Empty(t, b.Purged.Got)
	b.run(t, 200)
	require.Equal(t, []port.Purge{{QPN: 5}, {QPN: 5, RX: true}}, b.Purged.Got)
	require.GreaterOrEqual(t, b.Purged.At[0], b.log[0].At+100)
	require.GreaterOrEqual(t, b.Purged.At[1], b.log[1].At+100)
	require.Less(t, b.Purged.At[0], b.log[1].At+100)
	require.Less(t, b.log[0].At, at+10)
}

// TestAnswersBehindSlowWrites asks for more while answers wait for their writes.
func TestAnswersBehindSlowWrites(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(0, 3, 0), createCQ(0, 3, 0))
	b.doneDelay = 200
	b.Send.Push(port.CQEReq{}, port.CQEReq{Purge: true, QPN: 1}, port.CQEReq{Purge: true, QPN: 2}, port.CQEReq{})
	b.run(t, 20)
	b.Admin.Push(createCQ(1, 3, 0), createCQ(1, 3, 0))
	b.run(t, 1000)
	require.Equal(t, []port.Purge{{QPN: 1}, {QPN: 2}}, b.Purged.Got)
	require.Equal(t, []port.CQAdminRes{{}, {Status: abi.AdminExists, Syndrome: uint8(abi.SynObject)}}, b.AdminRes.Got[2:])
	require.Len(t, b.log, 2)
}

// TestRoomForAnswersOfCsr: no more questions are out than answers can be held.
func TestRoomForAnswersOfCsr(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.Csr.Latency = func() uint64 { return 100 }
	for v := range uint32(6) {
		b.Admin.Push(port.CQAdmin{Op: port.IRQRaise, Number: v})
	}
	for i := range 3 {
		b.run(t, 90)
		require.Len(t, b.Csr.Seen, 2*(i+1))
		b.run(t, 15)
	}
	b.run(t, 100)
	require.Len(t, b.log, 6)
}

func TestFullEventQueueLosesNothing(t *testing.T) {
	b := newBench(t, cqwriter.Params{CQs: 64, EQs: 2}, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(0, 1, 0), createEQ(1, 1, 1))
	for n := range 20 {
		b.admin(t, createCQ(n, 3, n%2))
		b.Bell.Push(arm(n, 0, false))
	}
	b.Bell.Push(rearm(1, 0), rearm(0, 0))
	b.run(t, 200)
	for n := range 20 {
		b.Send.Push(port.CQEReq{CQN: port.CQN(n)})
	}
	b.run(t, 300)
	seen := map[uint32]int{}
	count := func() (n [2]uint16) {
		clear(seen)
		for _, l := range b.log {
			if l.isEvent() {
				seen[l.event().Number]++
				n[l.queue()]++
			}
		}
		return n
	}
	require.Equal(t, [2]uint16{2, 2}, count())
	for range 10 {
		n := count()
		b.Bell.Push(rearm(0, n[0]), rearm(1, n[1]))
		b.run(t, 300)
	}
	count()
	require.Len(t, seen, 20)
	for n, times := range seen {
		require.Equal(t, 1, times, "events of CQ %d", n)
	}
	require.Equal(t, [2]uint16{10, 10}, count())
}

func TestAsyncWaitsForRoomAndForNothingElse(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.Async.Push(port.EventReq{Type: abi.EventCommEst, Number: 1}) // no event queue 0
	b.run(t, 30)
	require.EqualValues(t, 1, b.W.Stats.Get().Dropped)
	b.admin(t, createEQ(0, 0, 3), createEQ(1, 3, 4), createCQ(0, 3, 1))
	b.Async.Push(port.EventReq{Type: abi.EventQPFatal, Number: 7, Syndrome: 9}, port.EventReq{Type: abi.EventSQDrained, Number: 8})
	b.Bell.Push(arm(0, 0, false))
	b.Send.Push(port.CQEReq{})
	for range 50 { // with work left at Async, which Run would call a deadlock
		b.k.Step()
	}
	require.Len(t, b.log, 3)
	require.EqualValues(t, 1, b.W.Async.Len())
	b.Bell.Push(rearm(0, 1))
	for range 50 {
		b.k.Step()
	}
	var got []abi.Event
	for _, l := range b.log {
		if l.isEvent() && l.queue() == 0 {
			e := l.event()
			e.Timestamp = 0
			got = append(got, e)
		}
	}
	require.Equal(t, []abi.Event{{Type: abi.EventQPFatal, Number: 7, Syndrome: 9, Phase: true}, {Type: abi.EventSQDrained, Number: 8}}, got)
	require.Equal(t, 3, b.log[len(b.log)-1].queue())
}

func TestInterrupts(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.masked = 1 << 2
	b.admin(t, createEQ(0, 3, 2))
	b.Bell.Push(rearm(0, 0))
	b.Admin.Push(port.CQAdmin{Op: port.IRQRaise, Number: 9}, port.CQAdmin{Op: port.IRQRaise, Number: 16}, port.CQAdmin{Op: port.IRQRaise, Number: 1 << 20})
	b.Async.Push(port.EventReq{Type: abi.EventCommEst})
	b.run(t, 50)
	require.Len(t, b.log, 2) // vector 9 and the event; vector 2 is masked
	require.EqualValues(t, 1<<2, b.pending)
	b.masked = 0
	b.Fire.Push(port.MsixFire{Vector: 2})
	b.run(t, 50)
	require.Len(t, b.log, 3)
	require.Equal(t, 2, b.log[2].queue())
	b.Async.Push(port.EventReq{Type: abi.EventCommEst}) // not armed any more
	b.run(t, 50)
	require.Len(t, b.log, 4)
	b.Bell.Push(rearm(0, 1)) // one is beyond it
	b.run(t, 50)
	require.Len(t, b.log, 5)
	b.Bell.Push(rearm(0, 2))
	b.run(t, 50)
	require.Len(t, b.log, 5)
	require.Len(t, b.AdminRes.Got, 1)
}

func TestInitiationInterval(t *testing.T) {
	interval := func(armed bool, ports int, period uint16) uint64 {
		b := newBench(t, cqwriter.Params{}, hdl.Options{}, 0)
		b.admin(t, createEQ(0, 15, 0))
		for n := range 256 {
			b.admin(t, moderated(n, 10, 0, 0, period))
			if armed {
				b.Bell.Push(arm(n, 0, false))
			}
		}
		b.run(t, 2000)
		for n := range port.CQN(256) {
			b.Send.Push(port.CQEReq{CQN: n})
			if ports == 2 {
				b.Recv.Push(port.CQEReq{CQN: n ^ 0x80})
			}
		}
		b.run(t, 2000)
		n := uint64(256 * ports)
		var at []uint64
		for _, l := range b.log {
			if l.isCQE() {
				at = append(at, l.At)
			}
		}
		require.Len(t, at, int(n))
		return (at[n-1] - at[0] + n - 2) / (n - 1)
	}
	require.EqualValues(t, 1, interval(false, 2, 0))
	require.EqualValues(t, 2, interval(false, 1, 0))
	require.EqualValues(t, 2, interval(true, 1, 0))
	require.EqualValues(t, 2, interval(true, 1, 100), "begins to be held back")
	require.EqualValues(t, 1, interval(false, 2, 100))
}

// TestOrderIsTheSameInEveryRun mixes everything under random throttling.
func TestOrderIsTheSameInEveryRun(t *testing.T) {
	hdltest.Identical(t, hdl.Options{Seed: 3}, func(o hdl.Options) (hdltest.Digester, []landed) {
		b := newBench(t, small, o, 77)
		b.admin(t, createEQ(0, 2, 0), createEQ(1, 2, 1))
		for n := range 8 {
			b.admin(t, createCQ(n, 4, n%2))
		}
		var ci [8]uint16
		var ei [2]uint16
		for range 30 {
			for n := range 8 {
				b.Send.Push(port.CQEReq{CQN: port.CQN(n), QPN: 1, Solicited: b.rng.IntN(2) == 0})
				b.Recv.Push(port.CQEReq{CQN: port.CQN(n), QPN: 2, Opcode: abi.WCRecv})
				b.Bell.Push(arm(n, ci[n], b.rng.IntN(2) == 0))
			}
			b.Bell.Push(rearm(0, ei[0]), rearm(1, ei[1]))
			b.Admin.Push(port.CQAdmin{Op: port.IRQRaise, Number: b.rng.Uint32N(16)})
			b.run(t, 300)
			ci, ei = [8]uint16{}, [2]uint16{}
			for _, l := range b.log {
				switch {
				case l.isCQE():
					ci[l.queue()]++
				case l.isEvent():
					ei[l.queue()]++
				}
			}
		}
		require.Empty(t, b.Fatal.Got)
		require.EqualValues(t, 480, b.W.Stats.Get().CQEs)
		return b.k, b.log
	})
}
