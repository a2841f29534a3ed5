package scatter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// steady is traffic of single-packet messages of one size over some QPs, with
// qpc and mpt answering after 3 cycles, rq_fetch's reads after 125, and receive
// WQEs posted far ahead.
func steady(t *testing.T, size, qps, packets int) (*bench, *traffic) {
	b := newBench(t, setup{}, hdl.Options{})
	x := newTraffic(b, 1, 0, packets, false)
	x.size = size
	for i := range qps {
		q := &qp{n: port.QPN(i), base: port.BusAddr(0x4000_0000 + i<<16), logStride: 5, log: 10}
		x.qps[q.n] = q
		x.list = append(x.list, q)
		x.reborn(q)
		for q.pi-q.free < 1<<q.log {
			x.post(q)
		}
	}
	b.Qpc.Latency, b.Mpt.Latency = nil, nil
	b.host.latency = 125
	b.Atomic.Latency = nil
	return b, x
}

// TestSmallPackets: at most 4 cycles for each packet of 64 bytes.
func TestSmallPackets(t *testing.T) {
	const n = 3000
	b, x := steady(t, 64, 16, n)
	x.pump()
	require.NoError(t, b.k.Run(50_000))
	x.finish()
	from := n / 4
	per := float64(b.Resp.At[len(b.Resp.At)-1]-b.Free.At[from]) / float64(n-from)
	t.Logf("%.2f cycles a packet, %d acknowledgements for %d packets", per, len(b.Resp.Got), n)
	require.LessOrEqual(t, per, 4.0)
}

// TestLargePackets: 4 KiB in 65 beats, as many as its bytes lie in.
func TestLargePackets(t *testing.T) {
	const n = 200
	b, x := steady(t, 4096, 4, n)
	x.pump()
	require.NoError(t, b.k.Run(50_000))
	x.finish()
	from := n / 4
	per := float64(b.Free.At[n-1]-b.Free.At[from]) / float64(n-1-from)
	t.Logf("%.2f cycles a packet of 4096 bytes, %.1f bytes a cycle", per, 4096/per)
	require.LessOrEqual(t, per, 68.0)
}

// TestLatency: from RxPkt at ack_gen to WriteReq at dma, with the WQE prefetched.
func TestLatency(t *testing.T) {
	b, x := steady(t, 64, 1, 4)
	b.Pkt.NotBefore = func(n int) uint64 { return uint64(n) * 400 }
	x.pump()
	require.NoError(t, b.k.Run(50_000))
	x.finish()
	arrived := uint64(3*400 + 1) // an agent's beat of cycle c is seen in c+1
	t.Logf("%d cycles from RxPkt to WriteReq, %d to Placed's ACK", b.Write.At[3]-arrived, b.Resp.At[3]-arrived)
	require.LessOrEqual(t, b.Write.At[3]-arrived, uint64(16))
}

// TestDatagrams: those of 64 bytes take as long as SENDs of RC do, for the same number of
// QPs.
func TestDatagrams(t *testing.T) {
	const qps, per = 8, 10
	rate := func(ud bool) float64 {
		var steps []step
		for i := range uint16(per) {
			for n := range port.QPN(qps) {
				s := datagram(n+1, i, 64, true)
				if !ud {
					s.op, s.v.GRH, s.v.Quiet, s.v.Offset, s.v.Ack.Send = roce.RCSendOnly, false, false, 0, true
				}
				steps = append(steps, s)
			}
		}
		b := playDatagrams(t, steps)
		b.host.latency = 20
		for i := range uint16(16) {
			postList(b, i, lkey, 200)
		}
		b.settle()
		require.Len(t, b.CQE.Got, qps*per)
		from := qps * per / 4
		return float64(b.CQE.At[qps*per-1]-b.CQE.At[from]) / float64(qps*per-1-from)
	}
	rc, ud := rate(false), rate(true)
	t.Logf("%.2f cycles a datagram of 64 bytes, %.2f a SEND of RC", ud, rc)
	require.LessOrEqual(t, ud, max(rc+0.1, 4.0))
}
