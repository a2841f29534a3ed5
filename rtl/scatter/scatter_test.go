package scatter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	ackgen "rnic/rtl/ack_gen"
	rqfetch "rnic/rtl/rq_fetch"
	"rnic/rtl/scatter"
)

// outcome is what a run is compared by.
type outcome struct {
	Requests, Responses, Keys, Sent     int // faults
	Flushed, Twice, CQEs, Jobs, Atomics int
	Lost                                int // duplicates that are not answered
}

func TestRandom(t *testing.T) {
	least := setup{
		scatter: scatter.Params{Jobs: 2, Pieces: 2, Runs: 2, InFlight: 2, Asides: 2},
		ackgen:  ackgen.Params{Ops: 2},
		fetch:   rqfetch.Params{Lines: 2, Gets: 2},
	}
	leastSlow := least
	leastSlow.throttle = 77
	for _, c := range []struct {
		name         string
		setup        setup
		qps, packets int
		trouble      bool
	}{
		{"clean", setup{}, 8, 1500, false},
		{"trouble", setup{}, 12, 2500, true},
		{"throttled", setup{throttle: 3}, 12, 2500, true},
		{"one QP", setup{throttle: 5}, 1, 1000, true},
		{"colliding QPs", setup{throttle: 9, scatter: scatter.Params{LogQP: 10}}, 40, 2500, true},
		{"least", least, 6, 1200, true},
		{"least, throttled", leastSlow, 6, 1200, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := hdltest.Identical(t, hdl.Options{Seed: 1}, func(o hdl.Options) (hdltest.Digester, outcome) {
				b := newBench(t, c.setup, o)
				x := newTraffic(b, 11, c.qps, c.packets, c.trouble)
				b.k.Go("driver", x.driver)
				require.NoError(t, b.k.Run(2_000_000))
				x.finish()
				return b.k, outcome{
					Requests: x.faults[0], Responses: x.faults[1], Keys: x.faults[2], Sent: x.faults[3],
					Flushed: x.flush, Twice: x.twice, CQEs: x.seen.cqes, Jobs: len(b.Resp.Got), Atomics: x.seen.atomics, Lost: x.seen.lost,
				}
			})
			t.Logf("%+v", out)
			for _, n := range []int{out.Requests, out.Responses, out.Flushed, out.Lost} {
				require.Equal(t, c.trouble, n > 0)
			}
			require.NotZero(t, out.Atomics)
		})
	}
}
