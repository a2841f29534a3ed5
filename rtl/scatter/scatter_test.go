package scatter_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	ackgen "rnic/rtl/ack_gen"
	rqfetch "rnic/rtl/rq_fetch"
	"rnic/rtl/scatter"
)

// outcome is what a run is compared by.
type outcome struct {
	Requests, Responses, Keys, Sent     int // faults
	Flushed, Twice, CQEs, Jobs, Atomics int
	Lost                                int // duplicates that are not answered
	Quiet, Broken                       int // faults that UC and UD survive; WQEs of given up messages
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
		transports   []roce.Transport
		shared       bool
	}{
		{"clean", setup{}, 8, 1500, false, nil, false},
		{"trouble", setup{}, 12, 2500, true, nil, false},
		{"throttled", setup{throttle: 3}, 12, 2500, true, nil, false},
		{"one QP", setup{throttle: 5}, 1, 1000, true, nil, false},
		{"colliding QPs", setup{throttle: 9, scatter: scatter.Params{LogQP: 10}}, 40, 2500, true, nil, false},
		{"least", least, 6, 1200, true, nil, false},
		{"least, throttled", leastSlow, 6, 1200, true, nil, false},
		{"UC", setup{}, 8, 2500, true, []roce.Transport{roce.UC}, false},
		{"UD, throttled", setup{throttle: 4}, 8, 2500, true, []roce.Transport{roce.UD}, false},
		{"all", setup{}, 12, 4000, true, []roce.Transport{roce.RC, roce.UC, roce.UD}, false},
		{"all, clean", setup{throttle: 6}, 9, 2500, false, []roce.Transport{roce.RC, roce.UC, roce.UD}, false},
		{"all, least, throttled", leastSlow, 6, 3000, true, []roce.Transport{roce.UC, roce.RC, roce.UD}, false},
		{"shared, clean", setup{throttle: 7}, 8, 2500, false, []roce.Transport{roce.RC, roce.UC, roce.UD, roce.UC}, true},
		{"shared", setup{}, 12, 4000, true, []roce.Transport{roce.RC, roce.UC, roce.UD, roce.UC}, true},
		{"shared, throttled", setup{throttle: 8}, 12, 4000, true, []roce.Transport{roce.RC, roce.UC, roce.UD, roce.UC}, true},
		{"shared, least", least, 8, 3000, true, []roce.Transport{roce.UC, roce.RC, roce.UC, roce.UD}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := hdltest.Identical(t, hdl.Options{Seed: 1}, func(o hdl.Options) (hdltest.Digester, outcome) {
				b := newBench(t, c.setup, o)
				x := newTraffic(b, 11, c.qps, c.packets, c.trouble, c.transports...)
				if c.shared {
					x.share()
				}
				b.k.Go("driver", x.driver)
				require.NoError(t, b.k.Run(2_000_000))
				x.finish()
				return b.k, outcome{
					Requests: x.faults[0], Responses: x.faults[1], Keys: x.faults[2], Sent: x.faults[3],
					Flushed: x.flush, Twice: x.twice, CQEs: x.seen.cqes, Jobs: len(b.Resp.Got), Atomics: x.seen.atomics, Lost: x.seen.lost, Quiet: x.faults[4], Broken: x.ended,
				}
			})
			t.Logf("%+v", out)
			require.Equal(t, c.trouble, out.Requests > 0)
			require.Equal(t, c.trouble, out.Flushed > 0)
			require.Equal(t, c.trouble && c.transports != nil, out.Quiet > 0)
			require.Equal(t, c.shared, out.Broken > 0)
			if c.transports == nil || slices.Contains(c.transports, roce.RC) {
				require.Equal(t, c.trouble, out.Responses > 0)
				require.Equal(t, c.trouble, out.Lost > 0)
				require.NotZero(t, out.Atomics)
			}
		})
	}
}
