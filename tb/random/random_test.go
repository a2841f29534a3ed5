package random_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/random"
)

var (
	seed   = flag.Uint64("seed", 0, "the one seed that TestSeed runs")
	seeds  = flag.Uint64("seeds", 0, "how many seeds TestSoak runs")
	from   = flag.Uint64("from", 1000, "the first seed of TestSoak")
	qps    = flag.Int("qps", 0, "pairs of QPs in TestSeed and TestSoak; 0: drawn")
	strict = flag.Bool("strict", false, "TestSeed and TestSoak run strict")
	least  = flag.Bool("least", false, "TestSeed and TestSoak run with the smallest buffers")
	loss   = flag.Bool("loss", false, "TestSeed runs with losses, TestSoak with nothing else")
	guests = flag.Bool("guests", false, "TestSeed and TestSoak run with QPs of other types beside the pairs")
	order  = flag.Uint64("order", 0, "order of evaluation, with -strict")
	folder = flag.String("waves", "", "folder for the waveforms of a failure; a temporary one if empty")
)

func options() random.Options {
	return random.Options{QPs: *qps, Strict: *strict, Order: *order, Waves: *folder, Least: *least, Loss: *loss, Guests: *guests}
}

// TestSeed runs one seed, as a failure asks for.
func TestSeed(t *testing.T) {
	r, err := random.Run(*seed, options())
	require.NoError(t, err)
	t.Logf("%+v", r)
}

// TestSeeds runs the seeds that every change must pass.
func TestSeeds(t *testing.T) {
	t.Parallel()
	sum := random.Report{}
	for s := uint64(1); s <= 60; s++ {
		r, err := random.Run(s, random.Options{})
		require.NoError(t, err)
		sum.Messages += r.Messages
		sum.Packets += r.Packets
		sum.Bytes += r.Bytes
		sum.Cycles += r.Cycles
		sum.Faults += r.Faults
	}
	t.Logf("%d messages, %d packets, %d bytes, %d faults, %d cycles", sum.Messages, sum.Packets, sum.Bytes, sum.Faults, sum.Cycles)
	require.Greater(t, sum.Faults, 10, "faulty messages that were reached")
}

// TestSoak runs as many seeds as -seeds says, each without losses and with them, and
// goes on after a failure.
func TestSoak(t *testing.T) {
	bad := 0
	for s := *from; s < *from+*seeds && bad < 10; s++ {
		o := options()
		for _, o.Loss = range []bool{o.Loss, true} {
			if _, err := random.Run(s, o); err != nil {
				t.Error(err)
				bad++
			}
			if *loss {
				break
			}
		}
	}
	t.Logf("%d seeds from %d: %d failed", *seeds, *from, bad)
}

// TestManyQPs has 256 pairs of QPs at once.
func TestManyQPs(t *testing.T) {
	t.Parallel()
	for s := uint64(1); s <= 3; s++ {
		r, err := random.Run(s, random.Options{QPs: 256})
		require.NoError(t, err)
		require.Equal(t, 256, r.QPs)
	}
}

// TestStrict: in whatever order the blocks are evaluated, gated or not, the same
// happens in each cycle.
func TestStrict(t *testing.T) {
	t.Parallel()
	for s := uint64(1); s <= 20; s++ {
		fast, err := random.Run(s, random.Options{Digest: true})
		require.NoError(t, err)
		slow, err := random.Run(s, random.Options{Digest: true, Strict: true, Order: s})
		require.NoError(t, err)
		require.Equal(t, fast, slow)
	}
}

// TestRepeat: a seed is always the same run, another seed another one.
func TestRepeat(t *testing.T) {
	t.Parallel()
	seen := map[random.Report]uint64{}
	for s := uint64(1); s <= 8; s++ {
		a, err := random.Run(s, random.Options{Digest: true})
		require.NoError(t, err)
		b, err := random.Run(s, random.Options{Digest: true})
		require.NoError(t, err)
		require.Equal(t, a, b)
		a.Seed = 0
		seen[a] = s
	}
	require.Len(t, seen, 8)
}
