package fault

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// strike is a spec at work at one host.
type strike struct {
	spec  *Spec
	rng   *rand.Rand
	seen  uint64 // victims that match
	fired uint64 // of them, struck
}

// newStrike seeds the draws with all that tells the strike from others: copy counts
// specs that say the same.
func newStrike(s *Spec, seed uint64, host, copy int) *strike {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", host, copy, s)
	return &strike{spec: s, rng: rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// open tells whether the strike is on at a time, in ps, since the start.
func (s *strike) open(ps int64) bool {
	ns := ps / 1000
	return ns >= s.spec.From.Nanoseconds() && (s.spec.To == 0 || ns < s.spec.To.Nanoseconds())
}

// wants counts a victim that matches and tells whether the strike wants it. One that
// another strike has is left alone, and the next one wanted instead.
func (s *strike) wants() bool {
	s.seen++
	if s.spec.Rate != 0 {
		return s.rng.Uint32N(million) < s.spec.Rate
	}
	return s.seen >= s.spec.nth() && s.fired < s.spec.times()
}

// missed says what the strike should have done and has not.
func (s *strike) missed(host string) error {
	if !s.spec.Named() || s.fired >= s.spec.times() || s.spec.Times == All && s.fired > 0 {
		return nil
	}
	want := fmt.Sprint(s.spec.times())
	if s.spec.Times == All {
		want = "at least 1"
	}
	return fmt.Errorf("fault %q struck %d of %s times at %s, where %d matched", s.spec, s.fired, want, host, s.seen)
}
