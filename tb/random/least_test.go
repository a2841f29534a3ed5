package random_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/random"
)

// TestLeast: nothing waits for ever, and nothing is lost, with every buffer of both
// NICs at its minimum.
func TestLeast(t *testing.T) {
	t.Parallel()
	for s := uint64(1); s <= 20; s++ {
		_, err := random.Run(s, random.Options{Least: true})
		require.NoError(t, err)
	}
}
