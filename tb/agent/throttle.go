package agent

import (
	"hash/fnv"
	"math/rand/v2"
)

// Throttle decides cycle by cycle whether an agent may move. The zero value
// always lets it. Seed makes it random: a ratio of 0/4 to 4/4 holds for 1 to 64
// cycles, then is drawn again.
type Throttle struct {
	Seed  uint64 // 0: never hold back
	rng   *rand.Rand
	ratio uint32
	until uint64
}

// Go tells whether the agent may move in this cycle. Each agent has its own
// stream of draws, named by its path.
func (t *Throttle) Go(path string, now uint64) bool {
	if t.Seed == 0 {
		return true
	}
	if t.rng == nil {
		h := fnv.New64a()
		h.Write([]byte(path))
		t.rng = rand.New(rand.NewPCG(t.Seed, h.Sum64()))
	}
	if now >= t.until {
		t.ratio = t.rng.Uint32N(5)
		t.until = now + 1 + uint64(t.rng.Uint32N(64))
	}
	return t.rng.Uint32N(4) < t.ratio
}
