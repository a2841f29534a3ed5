package latency_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/tb"
	"rnic/tb/host"
	"rnic/tb/latency"
)

// The stages of every operation follow each other without a gap, from the doorbell
// to the end of its latency; they are the same in strict mode.
func TestStagesOfOperations(t *testing.T) {
	for _, op := range latency.Ops {
		for _, m := range latency.Modes {
			if m == latency.Inline && (op == abi.OpRead || op == abi.OpFetchAdd) {
				continue
			}
			r := measureOp(t, tb.Config{Seed: 3}, op, m, 8)
			at := uint64(0)
			for _, s := range r.Stages {
				at += s.Cycles
				require.Equal(t, at, s.Since, "%v, %s: %s", op, m, s.Name)
			}
			require.Equal(t, r.Latency, at, "%v, %s", op, m)
			require.LessOrEqual(t, r.Payload, r.Latency)
			require.Equal(t, r, measureOp(t, tb.Config{Seed: 3, Strict: true, Order: 5}, op, m, 8))
		}
	}
}

// The NICs' own cycles: one way within 70, both ways within twice as much; a
// SEND's receive WQE costs at most 8, an atomic at most 4 more than a READ.
func TestGoalsOfOperations(t *testing.T) {
	own := map[abi.WQEOp]uint64{}
	all := map[abi.WQEOp]latency.Result{}
	for _, op := range latency.Ops {
		r := measureOp(t, tb.Config{Seed: 1}, op, latency.Pushed, 8)
		own[op], all[op] = r.T+r.Turn+r.X, r
		t.Logf("%v: T %d + turn %d + X %d = %d cycles of the NICs, latency %d", op, r.T, r.Turn, r.X, own[op], r.Latency)
	}
	require.LessOrEqual(t, own[abi.OpWrite], uint64(48))
	require.LessOrEqual(t, own[abi.OpSend], uint64(48))
	require.LessOrEqual(t, all[abi.OpSend].Payload, all[abi.OpWrite].Payload+8)
	require.LessOrEqual(t, own[abi.OpRead], uint64(2*70))
	require.LessOrEqual(t, own[abi.OpFetchAdd], uint64(2*70))
	require.LessOrEqual(t, all[abi.OpFetchAdd].Latency, all[abi.OpRead].Latency+4)
}

// What is not the NICs' own is M, R, W and twice the link, and the serialisation.
func TestBusesOfAnsweredOperations(t *testing.T) {
	for _, op := range []abi.WQEOp{abi.OpRead, abi.OpFetchAdd} {
		near, far := measureOp(t, pcie(60), op, latency.Pushed, 8), measureOp(t, pcie(160), op, latency.Pushed, 8)
		require.Equal(t, near.Latency+4*100, far.Latency, "M, R and W")
		require.Equal(t, near.T+near.Turn+near.X, far.T+far.Turn+far.X)
		c := tb.Config{Seed: 1}
		c.SetLink(100, 1_300_000)
		require.Equal(t, measureOp(t, tb.Config{Seed: 1}, op, latency.Pushed, 8).Latency+2*250, measureOp(t, c, op, latency.Pushed, 8).Latency)
	}
}

// Every message of a sample on constant latencies takes what one message does; a
// jittering PCIe spreads them, by seed.
func TestSample(t *testing.T) {
	for _, op := range latency.Ops {
		one := measureOp(t, tb.Config{Seed: 1}, op, latency.Pushed, 8)
		l, err := latency.Sample(tb.Config{Seed: 1}, op, latency.Pushed, 8, 5)
		require.NoError(t, err)
		require.Len(t, l, 5)
		for _, n := range l {
			require.InDelta(t, one.Latency, n, 1, "by the phase of the PCIe link")
		}
	}
	jitter := func(seed uint64) []uint64 {
		c := tb.Config{Seed: seed}
		c.Host.Read = host.Uniform(400_000, 800_000)
		l, err := latency.Sample(c, abi.OpRead, latency.Pushed, 8, 50)
		require.NoError(t, err)
		return l
	}
	l := jitter(1)
	require.Equal(t, l, jitter(1))
	require.NotEqual(t, l, jitter(2))
	require.InDelta(t, 100, slices.Max(l)-slices.Min(l), 20)
}

func TestOperationsAreChecked(t *testing.T) {
	for _, c := range []struct {
		op   abi.WQEOp
		m    latency.Mode
		size int
		want string
	}{
		{abi.OpNop, latency.Pushed, 8, "must be one of"},
		{abi.OpRead, latency.Inline, 8, "has no payload"},
		{abi.OpFetchAdd, latency.Pushed, 4, "must be 8"},
		{abi.OpWrite, latency.Pushed, 33, "must be 1 to 32"},
	} {
		_, err := latency.Measure(tb.Config{}, c.op, c.m, c.size)
		require.ErrorContains(t, err, c.want)
	}
	_, err := latency.Sample(tb.Config{}, abi.OpSend, latency.Pushed, 8, 0)
	require.ErrorContains(t, err, "must be 1 to")
}
