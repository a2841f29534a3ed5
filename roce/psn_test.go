package roce

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var two24 = big.NewInt(1 << 24)

// mod reduces to 0..2^24-1, for negative numbers too.
func mod(x *big.Int) int64 { return new(big.Int).Mod(x, two24).Int64() }

// drawPSN draws any PSN, and often one near another's interesting distances.
func drawPSN(t *rapid.T, name string) PSN {
	near := rapid.SampledFrom([]int64{0, 1 << 23, 1 << 24}).Draw(t, name+" near")
	if rapid.Bool().Draw(t, name+" edge") {
		return PSN((near + rapid.Int64Range(-3, 3).Draw(t, name)) & 0xFFFFFF)
	}
	return PSN(rapid.Uint32Max(0xFFFFFF).Draw(t, name))
}

func TestPSNAgainstIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, n := drawPSN(t, "a"), rapid.Uint32().Draw(t, "n")
		b := drawPSN(t, "b")
		if rapid.Bool().Draw(t, "related") {
			b = PSN((int64(a) + 1<<23 + rapid.Int64Range(-2, 2).Draw(t, "distance")) & 0xFFFFFF)
		}
		A, B, N := big.NewInt(int64(a)), big.NewInt(int64(b)), big.NewInt(int64(n))
		require.Equal(t, mod(new(big.Int).Add(A, N)), int64(a.Add(n)))
		require.Equal(t, mod(new(big.Int).Sub(A, N)), int64(a.Sub(n)))
		d := mod(new(big.Int).Sub(A, B))
		require.Equal(t, d, int64(a.Diff(b)))
		require.Equal(t, d >= 1 && d <= 1<<23-1, a.After(b))
		require.Equal(t, d >= 1<<23, a.Before(b))
		switch {
		case d == 0:
			require.Zero(t, a.Cmp(b))
		case a.After(b):
			require.Equal(t, 1, a.Cmp(b))
		default:
			require.Equal(t, -1, a.Cmp(b))
		}
		require.Equal(t, big.NewInt(d).Cmp(N) < 0, a.Within(b, n))
		require.Equal(t, a, b.Add(a.Diff(b)))
		require.Equal(t, uint32(d), MSN(a).Diff(MSN(b)))
		require.Equal(t, uint32(a.Add(n)), uint32(MSN(a).Add(n)))
	})
}

func TestPSNCases(t *testing.T) {
	require.Equal(t, PSN(0), PSN(0xFFFFFF).Add(1))
	require.Equal(t, PSN(0xFFFFFF), PSN(0).Sub(1))
	require.True(t, PSN(0).After(0xFFFFFF))
	require.True(t, PSN(0x7FFFFF).After(0))
	require.True(t, PSN(0x800000).Before(0), "the oldest duplicate")
	require.True(t, PSN(0).Before(0x800000), "2^23 apart: each before the other")
	require.True(t, PSN(0x800001).Before(0))
	require.True(t, PSN(2).Within(0xFFFFFE, 5))
	require.False(t, PSN(3).Within(0xFFFFFE, 5))
	require.False(t, PSN(3).Within(3, 0))
	require.Equal(t, 24, PSN(0).Width())
}
