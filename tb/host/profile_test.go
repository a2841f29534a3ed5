package host_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/host"
)

// The quantiles of a profile are those that its name promises.
func TestProfiles(t *testing.T) {
	const n = 200_000
	want := map[string][4]int64{ // least, p50, p99, most; ns
		"constant":       {500, 500, 500, 500},
		"uniform":        {500, 750, 995, 1000},
		"xeon-e5":        {407, 467, 733, 1213},
		"xeon-e5-cached": {347, 407, 673, 1153},
		"xeon-e5-iommu":  {647, 727, 993, 1493},
		"xeon-e3":        {407, 467, 4900, 8109},
	}
	require.Len(t, host.Profiles, len(want))
	for _, p := range host.Profiles {
		q, err := host.ProfileOf(p.Name)
		require.NoError(t, err)
		draw := func() []int64 {
			r, l := rand.New(rand.NewPCG(1, 2)), q.Read(500_000)
			v := make([]int64, n)
			for i := range v {
				v[i] = l(r)
			}
			return v
		}
		v := draw()
		require.Equal(t, v, draw(), "the same seed, the same latencies")
		slices.Sort(v)
		w := want[p.Name]
		require.Equal(t, w[0]*1000, q.Least(500_000), p.Name)
		require.GreaterOrEqual(t, v[0], w[0]*1000, p.Name)
		require.LessOrEqual(t, v[n-1], w[3]*1000, p.Name)
		require.InEpsilon(t, w[1]*1000, v[n/2], 0.01, p.Name)
		require.InEpsilon(t, w[2]*1000, v[n*99/100], 0.03, p.Name)
	}
	_, err := host.ProfileOf("abacus")
	require.ErrorContains(t, err, `"abacus"`)
}
