package transfer_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/transfer"
)

// Messages that are due far from each other each take what one alone takes; all at
// once, the last waits for the others.
func TestDue(t *testing.T) {
	measure := func(apart uint64) []uint64 {
		j := transfer.Job{
			Data: bytes.NewReader(payload(64*40, 1)), Op: abi.OpWrite, MTU: roce.MTU1024, QPs: 2, MsgSize: 64, Depth: 4, Polled: true,
			Due: func(i int) uint64 { return uint64(i) * apart },
		}
		r, _ := run(t, tb.Config{Seed: 1}, j)
		require.Len(t, r.Latency, 40)
		if apart > 0 {
			require.InDelta(t, apart, r.CyclesPerMessage, 1)
		}
		require.Greater(t, r.PCIe[0].Down, uint64(40*64))
		require.Greater(t, r.PCIe[1].Up, uint64(40*64))
		require.LessOrEqual(t, r.PCIe[0].MaxReads, 2*2*4)
		return r.Latency
	}
	alone, queued := measure(2000), measure(0)
	require.LessOrEqual(t, slices.Max(alone), slices.Min(alone)+16)
	require.Greater(t, queued[39], 4*alone[39])

	bad := transfer.Job{Data: bytes.NewReader(payload(64, 1)), Op: abi.OpWrite, MTU: roce.MTU1024, QPs: 1, MsgSize: 64, Depth: 4, Due: func(int) uint64 { return 0 }}
	require.ErrorContains(t, bad.Check(), "must be polled")
}
