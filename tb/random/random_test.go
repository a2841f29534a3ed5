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
	order  = flag.Uint64("order", 0, "order of evaluation, with -strict")
)

func options() random.Options {
	return random.Options{QPs: *qps, Strict: *strict, Order: *order}
}

// TestSeed runs one seed, as a failure asks for.
func TestSeed(t *testing.T) {
	r, err := random.Run(*seed, options())
	require.NoError(t, err)
	t.Logf("%+v", r)
}

// TestSoak runs as many seeds as -seeds says, and goes on after a failure.
func TestSoak(t *testing.T) {
	bad := 0
	for s := *from; s < *from+*seeds && bad < 10; s++ {
		if _, err := random.Run(s, options()); err != nil {
			t.Error(err)
			bad++
		}
	}
	if *seeds > 0 {
		t.Logf("%d seeds from %d: %d failed", *seeds, *from, bad)
	}
}
