package story_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/story"
)

// TestShared: receives of an SRQ are told from their post on, with the QP that took them,
// and each has the packets of one message.
func TestShared(t *testing.T) {
	c := lossy
	c.srq, c.qps, c.count, c.fst = true, 3, 20, filepath.Join(t.TempDir(), "x.fst")
	s := run(t, c)
	require.Empty(t, lookUp(t, c.fst, statements(s)))
	polled := 0
	qps := map[uint32]int{}
	numbers := map[uint16]bool{}
	for _, w := range s.WRs {
		if w.Host == "host_a" {
			require.Equal(t, "sq", w.Queue)
			continue
		}
		require.Equal(t, "srq", w.Queue)
		require.Equal(t, "SUCCESS", w.Status, w.Label())
		require.Equal(t, uint64(c.size), w.Bytes)
		require.False(t, numbers[w.Index])
		numbers[w.Index] = true
		qps[w.QPN]++
		var order []string
		for _, x := range w.Stages {
			order = append(order, x.Name)
		}
		require.Equal(t, []string{story.Posted, story.Doorbell, story.Entered, story.FirstPacket, story.LastPacket, story.CQEWritten}, order[:6], w.Label())
		if len(order) > 6 { // the driver has told
			require.Equal(t, []string{story.Polled}, order[6:])
			polled++
		}
		require.Len(t, w.Packets, 4)
		for _, id := range w.Packets {
			require.Equal(t, w.QPN, s.Packet(id).DestQPN)
		}
	}
	require.Greater(t, polled, c.count/2)
	require.Len(t, numbers, c.count)
	require.Len(t, qps, 3)
	require.NotContains(t, qps, uint32(0))
}
