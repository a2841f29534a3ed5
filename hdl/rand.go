package hdl

import (
	"hash/fnv"
	"math/rand/v2"
)

// Rand is the random stream of a hierarchical path: seeded by the kernel's seed
// and the path alone, so that adding one stream shifts no other.
func (k *Kernel) Rand(path string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(path))
	return rand.New(rand.NewPCG(k.opt.Seed, h.Sum64()))
}
