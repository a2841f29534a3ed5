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
	Faults, Flushed, Twice, CQEs, Acks, Merged int
}

func TestRandom(t *testing.T) {
	least := setup{
		scatter: scatter.Params{Jobs: 2, Pieces: 2, Frames: 2, InFlight: 2},
		ackgen:  ackgen.Params{Ops: 2, Acks: 1},
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
		{"every ACK", setup{throttle: 9, ackgen: ackgen.Params{NoCoalesce: true}}, 4, 1500, true},
		{"least", least, 6, 1200, true},
		{"least, throttled", leastSlow, 6, 1200, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := hdltest.Identical(t, hdl.Options{Seed: 1}, func(o hdl.Options) (hdltest.Digester, outcome) {
				b := newBench(t, c.setup, o)
				x := newTraffic(b, 11, c.qps, c.packets, c.trouble)
				x.coalesce = !c.setup.ackgen.NoCoalesce
				b.k.Go("driver", x.driver)
				require.NoError(t, b.k.Run(2_000_000))
				x.finish()
				return b.k, outcome{x.faults, x.flush, x.twice, x.cqes, len(b.Resp.Got), x.skipped}
			})
			t.Logf("%+v", out)
			require.Equal(t, c.trouble, out.Faults > 0)
			require.Equal(t, c.trouble, out.Flushed > 0)
		})
	}
}
