package scatter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
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
