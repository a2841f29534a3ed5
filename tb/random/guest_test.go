package random_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/random"
)

// TestGuestSeeds: with QPs of all types at once, whatever the acceptor can tell of them
// is right, and the pairs beside them go on as ever.
func TestGuestSeeds(t *testing.T) { withGuests(t, 200, random.Options{QPs: 2, Guests: true}) }

// TestGuestLossSeeds: the same with losses.
func TestGuestLossSeeds(t *testing.T) {
	withGuests(t, 200, random.Options{QPs: 2, Guests: true, Loss: true})
}

func withGuests(t *testing.T, seeds uint64, o random.Options) {
	t.Parallel()
	sum, lives := random.Report{}, 0
	for s := uint64(1); s <= seeds; s++ {
		d := random.Draw(s, o)
		lives += 2 * len(d.Guests.QPs) * len(d.Phases)
		r, err := random.Run(s, o)
		if err != nil {
			t.Error(err)
			continue
		}
		sum.Guests += r.Guests
		sum.Blinded += r.Blinded
		sum.Packets += r.Packets
		sum.Struck += r.Struck
	}
	t.Logf("%d messages of guests came, %d packets, %d struck, %d of %d guests not followed to the end of a phase", sum.Guests, sum.Packets, sum.Struck, sum.Blinded, lives)
	require.Greater(t, sum.Guests, 20*int(seeds))
	require.Less(t, sum.Blinded, lives/25)
}

// TestGuestStrict: in whatever order the blocks are evaluated, gated or not, the same
// happens in each cycle.
func TestGuestStrict(t *testing.T) {
	t.Parallel()
	for s := uint64(1); s <= 20; s++ {
		o := random.Options{QPs: 2, Guests: true, Loss: s%2 == 0, Digest: true}
		fast, err := random.Run(s, o)
		require.NoError(t, err)
		o.Strict, o.Order = true, s
		slow, err := random.Run(s, o)
		require.NoError(t, err)
		require.Equal(t, fast, slow)
	}
}
