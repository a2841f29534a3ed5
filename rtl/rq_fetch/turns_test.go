package rqfetch_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
	rqfetch "rnic/rtl/rq_fetch"
)

// full are n receive queues of 256 entries of 32 bytes, all posted.
func full(b *bench, n int) (rs []*ring) {
	for i := range n {
		r := &ring{qpn: port.QPN(i), base: port.BusAddr(0x10000 * (i + 1)), logStride: 5, log: 8}
		for ; r.pi < 256; r.pi++ {
			b.mem.post(r, r.pi, abi.RWQEControl{NumSGE: r.wqe(r.pi).Num, Index: r.pi})
		}
		rs = append(rs, r)
	}
	return rs
}

// entry asks for an entry of a full queue; its owner posts it again at once.
func (r *ring) entry(idx uint16, done bool) port.RQGet {
	return port.RQGet{QPN: r.qpn, Idx: idx, Addr: r.addr(idx), Stride: 32, Log: 8, Next: 255 - idx, Done: done}
}

// TestTurns: QPs take an entry each in turn, as many as there are lines, each entry asked
// for twice as datagrams do. Lines are not driven out before they are used up: little more
// is read than what is asked for.
func TestTurns(t *testing.T) {
	for _, qps := range []int{1, 3, 16, 48, 56, 64} {
		t.Run(fmt.Sprint(qps), func(t *testing.T) {
			const each = 128
			b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
			b.latency = 125
			rs := full(b, qps)
			for i := range uint16(each) {
				for _, r := range rs {
					b.Get.Push(r.entry(i, false), r.entry(i, true))
				}
			}
			b.Get.NotBefore = func(n int) uint64 { return uint64(n) * 4 }
			require.NoError(t, b.k.Run(1_000_000))
			require.Len(t, b.WQE.Got, 2*each*qps)
			for i, w := range b.WQE.Got {
				require.Equal(t, rs[i/2%qps].wqe(uint16(i/2/qps)), w)
			}
			bytes := 0
			for _, q := range b.Read.Got {
				bytes += int(q.Len)
			}
			late := 0
			for i, at := range b.WQE.At {
				if at > uint64(i)*4+6 {
					late++
				}
			}
			t.Logf("%.1f bytes an entry of 32, %.2f %% late", float64(bytes)/float64(each*qps), 100*float64(late)/float64(2*each*qps))
			require.LessOrEqual(t, bytes, 32*each*qps*5/4+2*512)
			if qps <= 56 { // all wait for their first lines, and those behind them
				require.Less(t, late, 4*qps+60)
			}
		})
	}
}

// TestOneAmongMany: all lines hold entries of QPs that have gone quiet. One that goes on
// alone displaces them, and its entries are read before it needs them.
func TestOneAmongMany(t *testing.T) {
	b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
	b.latency = 125
	rs := full(b, 100)
	for _, r := range rs {
		b.Get.Push(r.entry(0, true))
	}
	for i := range uint16(200) {
		b.Get.Push(rs[99].entry(1+i, true))
	}
	b.Get.NotBefore = func(n int) uint64 { return uint64(n) * 12 }
	require.NoError(t, b.k.Run(100_000))
	require.Len(t, b.WQE.At, 300)
	late := 0
	for i, at := range b.WQE.At[120:] {
		if at > uint64(120+i)*12+5 {
			late++
		}
	}
	require.Zero(t, late, "requests that waited for a read")
}
