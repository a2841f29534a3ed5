package story_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/tb/story"
)

// TestCauseIsBefore: what a packet was sent for came before it was described to pkt_tx, and
// not while it waited there for a slow line.
func TestCauseIsBefore(t *testing.T) {
	retries, answers := 0, 0
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpRead} {
		c := lossy
		c.op, c.qps, c.size, c.count, c.faults = op, 1, 30_000, 12, []string{"drop 8%"}
		c.config.SetLink(7, 300_000)
		s := run(t, c)
		for _, p := range s.Packets {
			described := int64(-1)
			for _, e := range p.Why {
				if e.Text == "described to pkt_tx" {
					described = e.Ps
				}
			}
			if strings.HasPrefix(p.Cause, "retry") {
				retries++
				require.Less(t, p.Why[0].Ps, described, p.Label())
			} else if b := s.Packet(p.Because); b != nil {
				answers++
				require.Less(t, judged(b), described, "%s because of %s", p.Label(), b.Label())
			}
		}
	}
	require.Positive(t, retries)
	require.Positive(t, answers)
}

// judged is when the receiver of a packet has judged it.
func judged(p *story.Packet) int64 {
	for _, e := range p.Why {
		if strings.HasPrefix(e.Text, "qpc judges it") {
			return e.Ps
		}
	}
	return -1
}
