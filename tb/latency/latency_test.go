package latency_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/tb"
	"rnic/tb/latency"
)

func measure(t *testing.T, c tb.Config, m latency.Mode, size int) latency.Result {
	t.Helper()
	return measureOp(t, c, abi.OpSend, m, size)
}

func measureOp(t *testing.T, c tb.Config, op abi.WQEOp, m latency.Mode, size int) latency.Result {
	t.Helper()
	r, err := latency.Measure(c, op, m, size)
	require.NoError(t, err)
	require.Equal(t, op, r.Op)
	require.Equal(t, m, r.Mode)
	require.Equal(t, size, r.Size)
	return r
}

// pcie is a bench whose PCIe latency is n cycles one way.
func pcie(n int64) tb.Config {
	c := tb.Config{Seed: 1}
	c.SetPCIe(n * tb.PeriodPs)
	return c
}

// sum is the cycles of all stages, and those of the blocks.
func sum(stages []latency.Stage, blocks ...string) (all, some uint64) {
	for _, s := range stages {
		all += s.Cycles
		for _, b := range blocks {
			if s.Block == b {
				some += s.Cycles
			}
		}
	}
	return all, some
}

// The stages follow each other without a gap and add up to what was seen in memory.
func TestStagesAddUp(t *testing.T) {
	for _, m := range latency.Modes {
		for _, size := range []int{1, 8, 32} {
			r := measure(t, tb.Config{Seed: 3}, m, size)
			at := uint64(0)
			for _, s := range r.Stages {
				at += s.Cycles
				require.Equal(t, at, s.Since, "%s: %s", m, s.Name)
			}
			require.Equal(t, r.Latency, at)
			back, _ := sum(r.Return)
			require.Equal(t, r.SendCQE, r.Return[len(r.Return)-1].Since)
			require.Equal(t, r.SendCQE, r.Return[0].Since-r.Return[0].Cycles+back)
			require.Less(t, r.Payload, r.Latency, "the CQE is never before its payload")

			// What is neither on a bus nor the wire is T, X, and the way of the CQE
			// behind the payload.
			_, outside := sum(r.Stages, latency.PCIe, latency.Wire)
			behind := uint64(0)
			for _, s := range r.Stages[len(r.Stages)-4 : len(r.Stages)-1] {
				behind += s.Cycles
			}
			require.Equal(t, r.Latency, outside+r.T+r.X+behind)
		}
	}
}

// A pushed WQE saves one read round trip, an inline one saves the other; what a
// read takes within the NIC comes on top.
func TestSavedRoundTrips(t *testing.T) {
	for _, latencyCycles := range []int64{20, 62, 250} {
		c := pcie(latencyCycles)
		fetched, inline, pushed := measure(t, c, latency.Fetched, 8), measure(t, c, latency.Inline, 8), measure(t, c, latency.Pushed, 8)
		round := 2 * uint64(latencyCycles)
		t.Logf("round trip %d: inline saves %d, pushed %d more", round, fetched.Latency-inline.Latency, inline.Latency-pushed.Latency)
		require.LessOrEqual(t, round, fetched.Latency-inline.Latency)
		require.LessOrEqual(t, fetched.Latency-inline.Latency, round+readPayload)
		require.LessOrEqual(t, round, inline.Latency-pushed.Latency)
		require.LessOrEqual(t, inline.Latency-pushed.Latency, round+readWQE)
	}
}

// Cycles that a read takes within the NIC beside its round trip.
const (
	readPayload = 10
	readWQE     = 9
)

// Only what crosses PCIe moves with its latency, and exactly as often as it does.
func TestPCIeLatencyMovesPCIeStages(t *testing.T) {
	for m, crossings := range map[latency.Mode]uint64{latency.Fetched: 6, latency.Inline: 4, latency.Pushed: 2} {
		near, far := measure(t, pcie(60), m, 8), measure(t, pcie(160), m, 8)
		require.Equal(t, near.Latency+crossings*100, far.Latency, "%s", m)
		require.Equal(t, near.SendCQE+crossings*100, far.SendCQE, "%s", m)
		require.Equal(t, near.T, far.T)
		require.Equal(t, near.X, far.X)
		for i, s := range near.Stages {
			if s.Block != latency.PCIe {
				require.Equal(t, s.Cycles, far.Stages[i].Cycles, "%s: %s", m, s.Name)
			}
		}
	}
}

// Only the link moves with the wire's latency.
func TestLinkLatencyMovesTheLink(t *testing.T) {
	c := tb.Config{Seed: 1}
	c.SetLink(100, 300_000)
	near := measure(t, c, latency.Pushed, 8)
	c.SetLink(100, 1_300_000)
	far := measure(t, c, latency.Pushed, 8)
	require.Equal(t, near.Latency+250, far.Latency)
	require.Equal(t, near.SendCQE+500, far.SendCQE)
}

// The NICs' own share.
func TestGoals(t *testing.T) {
	r := measure(t, tb.Config{Seed: 1}, latency.Pushed, 8)
	t.Logf("T %d + X %d = %d cycles, payload in memory after %d, CQE %d, sender's CQE %d", r.T, r.X, r.T+r.X, r.Payload, r.Latency, r.SendCQE)
	require.LessOrEqual(t, r.T+r.X, uint64(48))
}

// A packet of a whole MTU has the same stages.
func TestWholePacket(t *testing.T) {
	small, large := measure(t, tb.Config{Seed: 1}, latency.Fetched, 8), measure(t, tb.Config{Seed: 1}, latency.Fetched, 1024)
	require.Len(t, large.Stages, len(small.Stages))
	require.Greater(t, large.Latency, small.Latency+1024/64)
}

func TestSizeIsChecked(t *testing.T) {
	for _, c := range []struct {
		m    latency.Mode
		size int
	}{{latency.Fetched, 0}, {latency.Fetched, 1025}, {latency.Inline, 33}, {latency.Pushed, 33}, {latency.Pushed, -1}} {
		_, err := latency.Measure(tb.Config{}, abi.OpSend, c.m, c.size)
		require.ErrorContains(t, err, "must be 1 to", "%s %d", c.m, c.size)
	}
}

// Strict evaluation gives the same cycles.
func TestStrictIsTheSame(t *testing.T) {
	for _, m := range latency.Modes {
		require.Equal(t, measure(t, tb.Config{Seed: 1}, m, 8), measure(t, tb.Config{Seed: 1, Strict: true, Order: 7}, m, 8))
	}
}
