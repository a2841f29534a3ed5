package wqesched_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	wqesched "rnic/rtl/wqe_sched"
)

// recall loses what QP 0 has sent from its first PSN on, and returns the cycle in which
// Stale is valid: the thread runs in the next one, the source in the one after.
func (b *bench) recall() uint64 {
	b.lost(0)
	return b.k.Cycle() + 3
}

// TestStaleEndsRun: a service that is open ends between two packets, with what it has
// entered so far, and the message in progress goes on where it was.
func TestStaleEndsRun(t *testing.T) {
	open, cut := 0, 0
	for delay := range uint64(60) {
		b := silent(t, wqesched.Params{})
		q := b.qp(6, roce.MTU256, 1<<10, 64)
		for range 3 {
			b.post(0, send(abi.OpSend, 0, list(12, 100)...), false)
		}
		require.NoError(t, b.k.Run(40+delay))
		at := b.recall()
		if len(b.Pkt.Got) == 0 || !q.Busy {
			continue
		}
		puts := len(b.Put.Got)
		require.NoError(t, b.k.Run(at+8))
		require.Greater(t, len(b.Put.Got), puts, "after %d cycles", delay)
		open++
		if p := b.Put.Got[puts]; p.NextPSN != p.EnteredPSN {
			cut++
			require.EqualValues(t, 256*(p.NextPSN.Diff(q.First)%5), p.Offset)
		}
		b.run(3000)
		b.check()
		require.Len(t, b.Sent.Got, 3)
	}
	require.Greater(t, min(open, cut), 10)
}

// TestStaleEndsWait: a QP that waits for its next WQE, with its service open or not
// since only one may be or another's is, is served at once when it is rewound, from what
// is still on chip.
func TestStaleEndsWait(t *testing.T) {
	for _, c := range []struct {
		services int
		another  bool
	}{{8, false}, {1, false}, {8, true}} {
		for delay := range uint64(40) {
			b := silent(t, wqesched.Params{Services: c.services})
			q := b.qp(6, roce.MTU256, 1<<10, 64).place(7)
			b.qp(6, roce.MTU256, 1<<10, 64)
			b.post(0, send(abi.OpSend, 0, sge(8)), false)
			require.NoError(t, b.k.Run(500))
			b.latency = func() uint64 { return 2000 }
			reads := 2
			if c.another {
				reads = 3
				b.k.Go("another", func(*hdl.Thread) { b.post(1, send(abi.OpSend, 0, sge(8)), false) })
				require.NoError(t, b.k.Run(520))
			}
			b.k.Go("post", func(*hdl.Thread) { b.post(0, send(abi.OpSend, 0, sge(8)), false) })
			require.NoError(t, b.k.Run(b.k.Cycle()+delay))
			at := b.recall()
			require.NoError(t, b.k.Run(at+100))
			require.Len(t, b.Read.Got, reads)
			require.Len(t, b.Pkt.Got, 2, "the first is sent again")
			require.Equal(t, q.First, b.Pkt.Got[1].PSN)
			b.run(5000)
			b.check()
			require.Len(t, b.Pkt.Got, 1+reads)
			require.Len(t, b.Read.Got, reads)
		}
	}
}

// TestStaleOfOthers: a service of another QP, or of the new generation, is none of its
// business.
func TestStaleOfOthers(t *testing.T) {
	b := silent(t, wqesched.Params{})
	b.qp(6, roce.MTU256, 1<<10, 64)
	b.qp(6, roce.MTU256, 1<<10, 64)
	b.post(0, send(abi.OpSend, 0, sge(8)), false)
	require.NoError(t, b.k.Run(500))
	b.latency = func() uint64 { return 1000 }
	b.k.Go("post", func(*hdl.Thread) { b.post(1, send(abi.OpSend, 0, sge(8)), false) })
	require.NoError(t, b.k.Run(600))
	require.True(t, b.qps[1].Busy, "it waits open")
	b.recall()
	require.NoError(t, b.k.Run(1000))
	require.True(t, b.qps[1].Busy)
	b.k.Go("again", func(*hdl.Thread) { b.again(0) })
	b.run(5000)
	b.check()
}
