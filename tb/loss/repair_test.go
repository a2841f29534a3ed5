package loss_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/tb"
	"rnic/tb/loss"
)

// readCycles is what PCIe takes for a read of n bytes: 500 ns, and the completions.
func readCycles(n int) uint64 { return 125 + uint64(n+(n+255)/256*20)/63 }

// A NAK is on the wire at most 50 cycles after the packet that tells of the gap, and the
// packet is sent again at most a read of its payload and 50 cycles after the NAK: its WQE
// is on chip.
func TestRepair(t *testing.T) {
	for _, c := range []struct {
		name                                   string
		qps, size, messages, depth, batch, nth int
	}{
		{"64 B", 1, 64, 2, 2, 2, 1},
		{"1 KiB", 1, 1024, 2, 2, 2, 1},
		{"20 KB", 1, 20_000, 1, 1, 1, 5},
		{"64 KiB", 1, 64 << 10, 1, 1, 1, 30},
		{"stream of 20 KB", 1, 20_000, 64, 8, 1, 500},
		{"stream of 64 KiB", 1, 64 << 10, 32, 8, 1, 1000},
		{"stream of 64 B", 1, 64, 1000, 64, 8, 500},
		{"stream of 1 KiB", 1, 1024, 400, 16, 4, 200},
	} {
		l := loss.Load{
			Op: abi.OpWrite, MTU: 1024, QPs: c.qps, MsgSize: c.size, Messages: c.messages, Depth: c.depth, Batch: c.batch, Timeout: 4,
		}
		r, err := l.Trace(tb.Config{Seed: 1}, c.nth)
		require.NoError(t, err, c.name)
		t.Logf("%s: NAK after %d cycles, %d of them behind another frame; again after %d; loop %d, %d packets in flight", c.name, r.Nak, r.Busy, r.Reaction, r.Loop, r.InFlight)
		require.LessOrEqual(t, r.Nak, uint64(50), c.name)
		least := readCycles(min(c.size, 1024))
		require.Greater(t, r.Reaction, least, c.name)
		require.LessOrEqual(t, r.Reaction, least+50, c.name)

		at := uint64(0)
		for _, s := range r.Stages {
			at += s.Cycles
			require.Equal(t, at, s.Since, "%s: %s", c.name, s.Name)
		}
		require.Equal(t, r.Loop, at, c.name)
		kinds := map[loss.Kind]int{}
		for _, x := range r.Crossings {
			kinds[x.Kind]++
			require.True(t, (x.Kind == loss.Lost) == (x.To == 0), "%+v", x)
			require.True(t, x.To == 0 || x.To > x.From+75, "%+v", x)
		}
		require.Equal(t, 1, kinds[loss.Lost], c.name)
		require.Equal(t, 1, kinds[loss.NAK], c.name)
		require.Equal(t, r.InFlight-1, kinds[loss.InVain], c.name)
	}
}

// Under load of other QPs the QP waits for its turn, and the wire is never idle.
func TestRepairUnderLoad(t *testing.T) {
	l := loss.Load{Op: abi.OpWrite, MTU: 1024, QPs: 16, MsgSize: 64 << 10, Messages: 64, Depth: 8, Timeout: 4}
	r, err := l.Trace(tb.Config{Seed: 1}, 700)
	require.NoError(t, err)
	t.Logf("NAK after %d cycles; again after %d, in %d of which others were sending", r.Nak, r.Reaction, r.Taken)
	require.LessOrEqual(t, r.Nak, uint64(50))
	require.Less(t, r.Reaction, uint64(16*17*23), "a turn of 16 packets of each QP")
	require.Greater(t, float64(r.Taken), 0.95*float64(r.Reaction))
}

// The bound holds wherever in a stream the loss is, but for 4 cycles: the QP may just be
// asked for when nothing of it may be sent yet, and is asked for again when that is
// answered.
func TestRepairAnywhere(t *testing.T) {
	for _, c := range []struct{ size, messages, depth, batch int }{
		{64, 500, 64, 8}, {64, 500, 64, 1}, {300, 500, 32, 4}, {1024, 400, 16, 4}, {64 << 10, 8, 8, 1},
	} {
		l := loss.Load{Op: abi.OpWrite, MTU: 1024, QPs: 1, MsgSize: c.size, Messages: c.messages, Depth: c.depth, Batch: c.batch, Timeout: 4}
		least, most := readCycles(min(c.size, 1024)), uint64(0)
		for i := range 20 {
			r, err := l.Trace(tb.Config{Seed: 1}, 100+13*i)
			require.NoError(t, err)
			most = max(most, r.Reaction)
			require.LessOrEqual(t, r.Reaction, least+50+4, "%+v, packet %d", c, r.Nth)
		}
		t.Logf("%d bytes, %d at once: at most %d cycles", c.size, c.batch, most)
	}
}
