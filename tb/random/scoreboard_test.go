package random_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/tb/random"
)

func TestScoreboard(t *testing.T) {
	var s random.Scoreboard[string, int]
	require.NoError(t, s.Final())
	for _, v := range []int{1, 2, 3} {
		s.Expect("q", v)
	}
	require.ErrorContains(t, s.Final(), "q: 3 missing, first 1")
	require.ErrorContains(t, s.Check("q", 2), "1 places too early")
	require.ErrorContains(t, s.Check("q", 7), "never expected")
	require.ErrorContains(t, s.Check("r", 1), "expected nothing more")
	require.NoError(t, s.Check("q", 1))
	require.ErrorContains(t, s.Check("q", 1), "expected 2", "a second time")
	require.NoError(t, s.Check("q", 2))
	require.NoError(t, s.Check("q", 3))
	require.ErrorContains(t, s.Check("q", 3), "expected nothing more")
	require.NoError(t, s.Final())
	require.Equal(t, 3, s.Got)
	s.Expect("q", 4)
	s.Expect("r", 5)
	require.Equal(t, []int{4}, s.Forget("q"))
	require.Empty(t, s.Forget("q"))
	require.Equal(t, 0, s.Pending("q"))
	require.ErrorContains(t, s.Check("q", 4), "expected nothing more")
	require.ErrorContains(t, s.Final(), "1 queues")
	s.Expect("q", 6)
	require.NoError(t, s.Check("q", 6))
	require.NoError(t, s.Check("r", 5))
	require.NoError(t, s.Final())
}

// TestScoreboardOrder: whatever way queues are mixed, what comes in the order of
// each is right, and one swapped pair is not.
func TestScoreboardOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s random.Scoreboard[int, int]
		mix := rapid.SliceOfN(rapid.IntRange(0, 3), 2, 40).Draw(t, "queues")
		for i, q := range mix {
			s.Expect(q, i)
		}
		bad := rapid.IntRange(0, len(mix)-1).Draw(t, "bad")
		for i, q := range mix {
			if i == bad {
				if err := s.Check(q, i+1); err == nil {
					t.Fatalf("%d taken for %d", i+1, i)
				}
			}
			if err := s.Check(q, i); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Final(); err != nil {
			t.Fatal(err)
		}
	})
}
