package story_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/story"
)

// TestChanged changes a story at random: it is refused, or all that reads stories can read it.
func TestChanged(t *testing.T) {
	good := small(t)
	rng := rand.New(rand.NewPCG(1, 1))
	words := []string{"null", "-1", "0", "9223372036854775807", "-9223372036854775808", "1e30", "[]", "{}", `""`, `"host_b"`, `"NAK"`, `"retry after timeout"`, ",", "}", "]", "8", "4"}
	read := 0
	for range 6000 {
		b := bytes.Clone(good)
		for range 1 + rng.IntN(2) {
			// A value is put in the place of another: behind a colon, a comma or a bracket.
			at := rng.IntN(len(b))
			if bytes.ContainsAny(b[at:], ":,[") {
				at += bytes.IndexAny(b[at:], ":,[") + 1
			}
			n := bytes.IndexAny(b[at:], ",]}")
			if n < 0 {
				continue
			}
			b = append(append(bytes.Clone(b[:at]), words[rng.IntN(len(words))]...), b[at+n:]...)
		}
		s, err := story.Decode(bytes.NewReader(b))
		if err != nil {
			continue
		}
		read++
		readable(t, s)
	}
	require.Greater(t, read, 300)
}
