package wqesched_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	wqesched "rnic/rtl/wqe_sched"
)

// pcieRead is the time of a DMA read: 500 ns.
const pcieRead = 125

// fast is a bench whose qpc answers in 5 cycles, Get valid to Ctx valid, and whose
// acknowledgements never hold anything up.
func fast(t *testing.T, o hdl.Options) *bench {
	b := newBench(t, o, wqesched.Params{}, 0)
	b.QPC.Latency = func() uint64 { return 5 }
	b.latency = func() uint64 { return pcieRead }
	b.ackDelay = func() uint64 { return 200 }
	t.Cleanup(b.k.Close)
	return b
}

// spacing is the average distance of values that were taken, without the first
// and the last quarter.
func spacing(at []uint64) float64 {
	at = at[len(at)/4 : len(at)*3/4]
	return float64(at[len(at)-1]-at[0]) / float64(len(at)-1)
}

func TestPushedLatency(t *testing.T) {
	b := fast(t, hdl.Options{})
	b.QPC.Latency = func() uint64 { return 3 }
	b.qp(6, roce.MTU1024, 1<<15, 100)
	for i := range 5 {
		require.NoError(t, b.k.Run(uint64(i+1)*1000))
		// The thread runs in the next cycle, the source in the one after, and what
		// it puts is valid in the third.
		from := b.k.Cycle() + 3
		b.k.Go("post", func(*hdl.Thread) { b.post(0, inline(0, make([]byte, 8)), true) })
		require.NoError(t, b.k.Run(b.k.Cycle()+300))
		at := b.Pkt.At[i]
		t.Logf("Activate valid at %d, TxPkt valid at %d: %d cycles", from, at, at-from)
		require.LessOrEqual(t, at-from, uint64(6+3))
	}
	require.Empty(t, b.Read.Got)
	require.EqualValues(t, 5, b.Stats.Tap.Get().PushedWQEs)
	b.run(1000)
	b.check()
}

func TestFetchedLatency(t *testing.T) {
	b := fast(t, hdl.Options{})
	b.qp(6, roce.MTU1024, 1<<15, 100)
	b.post(0, send(abi.OpSend, 0, sge(64)), false)
	b.run(1000)
	t.Logf("read asked for at %d, packet at %d", b.Read.At[0], b.Pkt.At[0])
	require.LessOrEqual(t, b.Pkt.At[0]-b.Read.At[0], uint64(pcieRead+5))
}

// TestShortServices: one WQE a service, which is there already.
func TestShortServices(t *testing.T) {
	b := newBench(t, hdl.Options{}, wqesched.Params{MessageBudget: 1, PacketBudget: 1}, 0)
	for i := range 16 {
		q := b.qp(10, roce.MTU1024, 1<<15, 250)
		b.ackDelay = func() uint64 { return 100 }
		for range 200 {
			w := q.write(i, inline(0, make([]byte, 8)))
			q.PI += w.Units
		}
		b.Activate.Push(port.Activate{QPN: port.QPN(i)})
	}
	b.run(100000)
	b.check()
	t.Logf("%.2f cycles a service", spacing(b.Pkt.At))
	require.LessOrEqual(t, spacing(b.Pkt.At), 4.0)
	b.k.Close()
}

// TestManyQPs: doorbells of 16 QPs, one a message; a message every 4 cycles.
func TestManyQPs(t *testing.T) {
	for _, c := range []struct {
		op    abi.WQEOp
		depth int // messages a doorbell
	}{{abi.OpSend, 1}, {abi.OpWrite, 1}, {abi.OpWrite, 8}, {abi.OpRead, 8}} {
		depth := c.depth
		b := fast(t, hdl.Options{})
		for range 16 {
			b.qp(8, roce.MTU1024, 1<<15, 120)
		}
		b.k.Go("driver", func(th *hdl.Thread) {
			for range 960 / depth {
				for i, q := range b.qps {
					for q.room() < depth {
						th.Wait(&b.progress, 0)
					}
					for j := range depth {
						w := q.write(i, send(c.op, 0, sge(64)))
						q.PI += w.Units
						if j == depth-1 {
							b.Activate.Push(port.Activate{QPN: port.QPN(i)})
						}
					}
					th.Sleep(uint64(4 * depth))
				}
			}
		})
		require.NoError(t, b.k.Run(3000))
		b.run(200000)
		b.check()
		require.Len(t, b.Pkt.Got, 16*960)
		t.Logf("%s, %d messages a doorbell: %.2f cycles a message, %d reads", c.op, depth, spacing(b.Pkt.At), len(b.Read.Got))
		require.LessOrEqual(t, spacing(b.Pkt.At), 4.01)
	}
}

// TestSaturated: all is posted beforehand; what the block itself can do.
func TestSaturated(t *testing.T) {
	for _, c := range []struct {
		name  string
		w     work
		limit [2]float64 // cycles a message of one QP alone, of 16
	}{
		{"SEND", send(abi.OpSend, 0, sge(64)), [2]float64{12, 4}},
		{"WRITE", send(abi.OpWrite, 0, sge(64)).remote(1, 2), [2]float64{12, 4}},
		{"inline WRITE", inlineWrite(64), [2]float64{45, 4}},
		{"WRITE of 16 elements", send(abi.OpWrite, 0, list(16, 4)...), [2]float64{150, 24}},
		{"READ", read(64), [2]float64{30, 4}},
		{"FETCH_ADD", swap(abi.OpFetchAdd, 0, 1, 2, sge(8)), [2]float64{30, 4}},
	} {
		for k, n := range []int{1, 16} {
			b := fast(t, hdl.Options{})
			for i := range n {
				q := b.qp(10, roce.MTU1024, 1<<15, 200)
				for q.room() >= int(c.w.Units) {
					w := q.write(i, c.w)
					q.PI += w.Units
				}
				b.Activate.Push(port.Activate{QPN: port.QPN(i)})
			}
			b.run(100000)
			b.check()
			t.Logf("%s, %d QPs: %.2f cycles a message", c.name, n, spacing(b.Pkt.At))
			require.LessOrEqual(t, spacing(b.Pkt.At), c.limit[k], c.name)
		}
	}
}

func inlineWrite(n int) work {
	w := inline(0, make([]byte, n)).remote(1, 2)
	w.Ctrl.Op = abi.OpWrite
	return w
}

// TestLongMessage: 64 MiB in one message, a packet a cycle but for the turns.
func TestLongMessage(t *testing.T) {
	b := fast(t, hdl.Options{})
	b.qp(4, roce.MTU4096, 256, 16)
	b.post(0, send(abi.OpSendImm, 0, sge(1<<20), sge(0), sge(63<<20-5), sge(5)), false)
	b.run(1000000)
	b.check()
	require.Len(t, b.Pkt.Got, 64<<20/4096)
	t.Logf("%.2f cycles a packet", spacing(b.Pkt.At))
	require.LessOrEqual(t, spacing(b.Pkt.At), 4.0)
}

// TestNoAllocation: a step of the block allocates nothing once it runs.
func TestNoAllocation(t *testing.T) {
	b := fast(t, hdl.Options{})
	b.qp(4, roce.MTU256, 60000, 16)
	b.post(0, send(abi.OpSend, 0, sge(1<<22)), false)
	b.Pkt.OnTake, b.Piece.OnTake = nil, nil
	require.NoError(t, b.k.Run(1000))
	got := len(b.Pkt.Got)
	b.Pkt.Got, b.Pkt.At = make([]port.TxPkt, 0, 1<<14), make([]uint64, 0, 1<<14)
	b.Piece.Got, b.Piece.At = make([]port.TxPiece, 0, 1<<14), make([]uint64, 0, 1<<14)
	b.Put.Got, b.Put.At = make([]port.SQPut, 0, 1<<14), make([]uint64, 0, 1<<14)
	b.QPC.Seen = make([]port.SQGet, 0, 1<<14)
	n := testing.AllocsPerRun(5, func() {
		for range 500 {
			b.k.Step()
		}
	})
	require.Greater(t, len(b.Pkt.Got)+got, 1000)
	// The responder of the bench allocates a slot now and then.
	require.Less(t, n, 40.0)
}

// TestAsleep: a block with nothing to do is not evaluated.
func TestAsleep(t *testing.T) {
	b := fast(t, hdl.Options{})
	q := b.qp(4, roce.MTU1024, 1, 16)
	b.ackDelay = func() uint64 { return 100000 }
	b.post(0, send(abi.OpSend, 0, sge(1024), sge(10)), false)
	b.k.Close()
	require.NoError(t, b.k.Run(5000))
	require.EqualValues(t, 1, q.Next.Diff(q.First), "the window is shut")
	steps := b.k.Stats().Steps
	require.NoError(t, b.k.Run(50000))
	require.Equal(t, steps, b.k.Stats().Steps)
}
