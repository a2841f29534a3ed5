package loss_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb"
	"rnic/tb/loss"
)

// A timeout is told T to 9T/8 after the request's last bit was on the wire, T = time unit
// << timeout, and the packet leaves again a read of its payload and 50 cycles later at most.
func TestACKTimeout(t *testing.T) {
	for _, unit := range []uint16{8, 1024} {
		for n := uint8(1); n <= 10; n++ {
			e, err := loss.ACKTimeout(tb.Config{Seed: 1}, n, unit)
			require.NoError(t, err)
			require.GreaterOrEqual(t, e.Decision, e.Least, "%+v", e)
			require.LessOrEqual(t, e.Decision, e.Most, "%+v", e)
			require.Greater(t, e.Again, e.Decision)
			require.LessOrEqual(t, e.Again-e.Decision, readCycles(64)+50, "%+v", e)
		}
	}
}

// An RNR wait lasts its timer at least, and a read of the payload and 50 cycles more at
// most.
func TestRNRWait(t *testing.T) {
	for code := range uint8(32) {
		e, err := loss.RNRWait(tb.Config{Seed: 1}, code, 8)
		require.NoError(t, err)
		require.GreaterOrEqual(t, e.Again, e.Least, "%+v", e)
		require.LessOrEqual(t, e.Again-e.Least, readCycles(64)+50, "%+v", e)
	}
}
