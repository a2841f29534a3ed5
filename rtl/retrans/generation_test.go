package retrans_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/rtl/port"
)

// TestGenerations has them pass zero, in several lives of a QP number.
func TestGenerations(t *testing.T) {
	b := open(t)
	var want []uint8
	for i := range 300 {
		if i%100 == 0 {
			b.Purge.Push(port.Purge{QPN: 3})
			b.run(t, 30)
			b.Sent.Push(wire(3, 1, 5, 1))
			b.run(t, 30)
		}
		want = append(want, uint8(i+1))
		b.Ack.Push(rewind(3, 5, uint8(i+1), 0))
		b.run(t, 30)
	}
	require.Equal(t, want, b.gens())
}

// TestAnyFirstGeneration: what a life of a QP number begins with says nothing; the
// questions of lives before may not have come here.
func TestAnyFirstGeneration(t *testing.T) {
	b := open(t)
	var want []uint8
	for gen := 1; gen < 1000; gen += 77 {
		b.Purge.Push(port.Purge{QPN: 3})
		b.run(t, 30)
		b.Sent.Push(wire(3, 1, 5, 1))
		b.run(t, 30)
		want = append(want, uint8(gen), uint8(gen+1))
		b.Ack.Push(rewind(3, 5, uint8(gen), 0))
		b.run(t, 30)
		b.Ack.Push(rewind(3, 5, uint8(gen+1), 0))
		b.run(t, 30)
	}
	require.Equal(t, want, b.gens())
}

// TestOlderRewindComesLater, by the other port: it does not count, whether the newer
// one has its answer or not.
func TestOlderRewindComesLater(t *testing.T) {
	for _, wait := range []uint64{0, 1000} {
		b := open(t)
		b.Sent.Push(wire(3, 1, 5, 1), wire(3, 2, 6, 2))
		b.Event.Push(rewind(3, 5, 7, wait))
		b.run(t, 100)
		b.Ack.Push(rewind(3, 5, 6, 3000), rewind(3, 5, 7, 3000))
		b.run(t, 6000)
		require.Equal(t, []uint8{7}, b.gens())
		_, at := b.answers()
		require.Less(t, at[0], uint64(1100))
	}
}
