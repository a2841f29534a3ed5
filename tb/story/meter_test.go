package story_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/tb"
	"rnic/tb/story"
)

// TestBandwidth: buckets cover the run, none has more than the line, all together have what
// was sent, and where nothing is sent there is nothing.
func TestBandwidth(t *testing.T) {
	for _, gbps := range []int{100, 40, 7} {
		for _, op := range []abi.WQEOp{abi.OpSend, abi.OpRead} {
			for _, faults := range [][]string{nil, {"drop b last"}, {"drop 3%"}} {
				c := lossy
				c.op, c.size, c.count, c.faults = op, 30_000, 24, faults
				if op == abi.OpRead && len(faults) > 0 {
					c.faults = []string{"drop a last"}
				}
				c.config = tb.Config{}
				c.config.SetLink(gbps, 300_000)
				s := run(t, c)
				what := fmt.Sprint(gbps, op, faults)
				most, silent := 0.0, 0
				for h, host := range s.Hosts {
					var l []story.Bucket
					for _, b := range s.Bandwidth {
						if b.Host == host {
							l = append(l, b)
						}
					}
					require.LessOrEqual(t, len(l), 256)
					require.Greater(t, len(l), 100, "the run is seen in detail")
					width, sum := l[1].Ps, 0.0
					for i, b := range l {
						require.Equal(t, int64(i)*width, b.Ps, what)
						require.Less(t, b.Ps, s.EndPs, what)
						require.LessOrEqual(t, b.Gbps, float64(gbps), what)
						sum += b.Gbps * float64(min(width, s.EndPs-b.Ps)) / 8000
						if sent := between(s, host, b.Ps, b.Ps+width, int64(gbps)); !sent {
							require.Zero(t, b.Gbps, "%s: %s at %d ps", what, host, b.Ps)
							silent++
						}
						if (h == 1) == (op == abi.OpRead) { // who sends the data
							most = max(most, b.Gbps)
						}
					}
					require.GreaterOrEqual(t, l[len(l)-1].Ps+width, s.EndPs, "up to the end of the run")
					sent := s.Counters[host]["tx_bytes"] + 24*s.Counters[host]["tx_packets"]
					rounding := 0.0005 * float64(width) / 8000 * float64(len(l))
					require.InDelta(t, sent, sum, 0.0005*float64(sent)+rounding, what)
				}
				require.Greater(t, most, 0.95*float64(gbps), what)
				require.Positive(t, silent, what)
			}
		}
	}
}

// between tells whether a frame of the host, with its last beat and the gap behind it, is
// in that time. The line may be a cycle behind.
func between(s *story.Story, host string, from, to, gbps int64) bool {
	for _, p := range s.Packets {
		if p.Host == host && p.Ps < to && p.EndPs+2*tb.PeriodPs+(64+24)*8000/gbps > from {
			return true
		}
	}
	return false
}
