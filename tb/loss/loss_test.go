package loss_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/tb"
	"rnic/tb/loss"
)

func TestExplore(t *testing.T) {
	for _, qps := range []int{1, 16} {
		for _, drop := range []int{0, 1000, 10000, 50000} {
			l := loss.Load{Op: abi.OpWrite, MTU: 1024, QPs: qps, MsgSize: 64 << 10, Messages: 128, Depth: 8, Drop: drop, Timeout: 1}
			r, err := l.Run(tb.Config{Seed: 1})
			require.NoError(t, err)
			t.Logf("%d QPs, drop %d: %.2f of %.2f = %.3f, formula %.3f, lost %d again %d naks %d timeouts %d loop %.2f flight %.2f us %.1f", qps, drop, r.GoodputGbps, r.LimitGbps, r.GoodputGbps/r.LimitGbps, r.FormulaGbps/r.LimitGbps, r.Lost, r.Again, r.Naks, r.Timeouts, r.Loop, r.Flight, r.Us)
		}
	}
}

func TestTrace(t *testing.T) {
	for _, c := range []struct {
		qps, size, n, depth, batch, nth int
	}{{1, 64, 1000, 64, 8, 500}, {1, 1024, 400, 16, 4, 200}, {1, 20000, 64, 8, 1, 500}, {1, 65536, 32, 8, 1, 1000}, {16, 65536, 64, 8, 1, 1000}} {
		l := loss.Load{Op: abi.OpWrite, MTU: 1024, QPs: c.qps, MsgSize: c.size, Messages: c.n, Depth: c.depth, Batch: c.batch, Timeout: 4}
		r, err := l.Trace(tb.Config{Seed: 1}, c.nth)
		t.Logf("%+v: %v nak %d busy %d reaction %d taken %d loop %d flight %d", c, err, r.Nak, r.Busy, r.Reaction, r.Taken, r.Loop, r.InFlight)
		for _, s := range r.Stages {
			t.Logf("%-36s %-14s %4d %4d", s.Name, s.Block, s.Cycles, s.Since)
		}
	}
}
