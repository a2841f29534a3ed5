package wqesched_test

import (
	"math/rand/v2"
	"testing"

	"rnic/hdl"
)

// TestScarce: fewer entries and lines than QPs that want them. Who has an entry must
// not always be without a line, and who has a line without an entry; and entries
// that only come back after a marker must not be waited for by what the marker
// waits for.
func TestScarce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	pick := func(v ...int) int { return v[r.IntN(len(v))] }
	for range 500 {
		m := mix{
			QPs: 1 + r.IntN(12), WQEs: 1 + r.IntN(20), Lines: pick(1, 2, 3), Entries: pick(1, 2),
			Services: pick(1, 2, 8), Messages: pick(1, 2), Packets: pick(1, 3), Budget: pick(1, 2, 8),
			Window: uint32(pick(1, 4, 1<<15)), Throttle: uint64(pick(0, 1)), Seed: r.Uint64(),
			Latency: uint64(pick(0, 10, 200)), Faults: r.IntN(2) == 0, Kill: pick(0, 10, 100),
			Reset: pick(0, 10, 30), Bad: pick(0, 1, 3), MaxLen: pick(2, 600), MinLog: r.IntN(5),
			Depth: pick(0, 1, 16), Credits: pick(0, 1), Rewind: pick(0, 1, 10), Change: pick(0, 5), Break: pick(0, 20), Pause: pick(0, 5), Types: r.IntN(2) == 0, Memory: pick(0, 3, 20),
		}
		m.scenario(t)(hdl.Options{Seed: m.Seed})
		if t.Failed() {
			t.Fatalf("%+v", m)
		}
	}
}
