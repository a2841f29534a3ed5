package host

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Profile is a named distribution of how long a read of host memory takes, from
// the NIC and back.
type Profile struct {
	Name, Doc string
	least     int64 // ps; 0: the round trip
	read      func(base int64) Latency
}

// Profiles lists them. The quantiles of the Xeons are of reads of 64 bytes by an
// adapter that found the line in memory.
var Profiles = []Profile{
	{"constant", "always twice the one-way latency", 0, Constant},
	{"uniform", "from the round trip to twice as much", 0, func(base int64) Latency { return Uniform(base, 2*base) }},
	{"xeon-e5", "a server: p50 467, p99 733, p99.9 813, at most 1,213 ns", leastE5, fixed(quantiles(xeonE5))},
	{"xeon-e5-cached", "the same with the line in the last-level cache: 60 ns less", leastE5 - 60_000, fixed(plus(quantiles(xeonE5), Constant(-60_000)))},
	{"xeon-e5-iommu", "the same, and each address misses in the IOMMU: 240 to 280 ns more", leastE5 + 240_000, fixed(plus(quantiles(xeonE5), Uniform(240_000, 280_000)))},
	{"xeon-e3", "a small server with a long tail: p50 467, p99 4,900 ns", leastE5, fixed(quantiles(xeonE3))},
}

// ProfileOf finds a profile by its name.
func ProfileOf(name string) (Profile, error) {
	i := slices.IndexFunc(Profiles, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, fmt.Errorf("PCIe profile %q: there is none of that name", name)
	}
	return Profiles[i], nil
}

// Read is the latency of a read. base is the round trip of an idle link, ps; the
// profiles of real machines do not ask for it.
func (p *Profile) Read(base int64) Latency { return p.read(base) }

// Least is the shortest read; base is that of Read.
func (p *Profile) Least(base int64) int64 {
	if p.least != 0 {
		return p.least
	}
	return base
}

// quantile is a point of a distribution: of a million reads, so many take at most ps.
type quantile struct {
	perMillion, ps int64
}

// What is published is p50, p99, p99.9 and the most of the E5, and p99 of the E3.
// The least of both is that of a cached line; between p50 and p99 the tail falls
// off exponentially; above its p99 the E3 is given the E5's factors.
var (
	xeonE5 = []quantile{
		{0, leastE5}, {500_000, 467_000}, {750_000, 514_000}, {900_000, 576_000}, {950_000, 624_000},
		{990_000, 733_000}, {999_000, 813_000}, {1_000_000, 1_213_000},
	}
	xeonE3 = []quantile{
		{0, leastE5}, {500_000, 467_000}, {750_000, 1_252_000}, {900_000, 2_290_000}, {950_000, 3_076_000},
		{990_000, 4_900_000}, {999_000, 5_435_000}, {1_000_000, 8_109_000},
	}
)

const leastE5 = 407_000

// quantiles draws from the distribution that is linear between its points.
func quantiles(q []quantile) Latency {
	return func(r *rand.Rand) int64 {
		x := r.Int64N(1_000_000)
		i := 1
		for q[i].perMillion <= x {
			i++
		}
		lo, hi := q[i-1], q[i]
		return lo.ps + (hi.ps-lo.ps)*(x-lo.perMillion)/(hi.perMillion-lo.perMillion)
	}
}

func plus(a, b Latency) Latency { return func(r *rand.Rand) int64 { return a(r) + b(r) } }

func fixed(l Latency) func(int64) Latency { return func(int64) Latency { return l } }
