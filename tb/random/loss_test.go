package random_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/random"
)

// lossy are runs with losses over eight pairs of QPs.
var lossy = random.Options{QPs: 8, Loss: true}

// TestLossSeeds: whatever is lost, changed, late or comes twice, every byte is right, and
// every work request completes once and in order.
func TestLossSeeds(t *testing.T) {
	t.Parallel()
	sum := random.Report{}
	for s := uint64(1); s <= 200; s++ {
		r, err := random.Run(s, lossy)
		if err != nil {
			t.Error(err)
			continue
		}
		sum.Messages += r.Messages
		sum.Packets += r.Packets
		sum.Bytes += r.Bytes
		sum.Cycles += r.Cycles
		sum.Struck += r.Struck
		sum.Exhausted += r.Exhausted
		sum.Faults += r.Faults
		sum.NoRoom += r.NoRoom
	}
	t.Logf("%d messages, %d packets, %d bytes, %d cycles: %d struck, %d without room, %d sends given up, %d faults",
		sum.Messages, sum.Packets, sum.Bytes, sum.Cycles, sum.Struck, sum.NoRoom, sum.Exhausted, sum.Faults)
	require.Greater(t, sum.Struck, 10_000)
	require.Greater(t, sum.Exhausted, 50)
	require.Greater(t, sum.NoRoom, 100)
}

// TestLossCauses: a restart that may have been for either of two NAKs, one of them from
// before there was progress, may have been the last try.
func TestLossCauses(t *testing.T) {
	t.Parallel()
	_, err := random.Run(5108, random.Options{Loss: true})
	require.NoError(t, err)
}

// TestLossStrict: in whatever order the blocks are evaluated, gated or not, the same is
// lost and the same mended, in the same cycles.
func TestLossStrict(t *testing.T) {
	t.Parallel()
	for s := uint64(1); s <= 20; s++ {
		fast, err := random.Run(s, random.Options{Loss: true, Digest: true})
		require.NoError(t, err)
		slow, err := random.Run(s, random.Options{Loss: true, Digest: true, Strict: true, Order: s})
		require.NoError(t, err)
		require.Equal(t, fast, slow)
	}
}

// TestLossLeast: nor does anything wait for ever with every buffer at its minimum.
func TestLossLeast(t *testing.T) {
	t.Parallel()
	for s := uint64(1); s <= 20; s++ {
		_, err := random.Run(s, random.Options{Least: true, Loss: true})
		require.NoError(t, err)
	}
}

// TestDrawLoss: the seeds of TestLossSeeds have among them all that may go wrong.
func TestDrawLoss(t *testing.T) {
	got := tally{}
	note := got.note
	for seed := uint64(1); seed <= 200; seed++ {
		s := random.Draw(seed, lossy)
		all := strings.Join(s.Loss.Faults, "\n") + "\n"
		for _, w := range []string{"drop a", "drop b", "duplicate=", "reorder=", "delay=", "corrupt", "truncate=-1", "truncate=60",
			"badfcs", "0.1%", " 1%", " 5%", "pcie read", "pcie write", "pcie stop", "pcie a stop", "pcie b stop"} {
			note(w, strings.Contains(all, w))
		}
		note("receives that are not asked for", s.Loss.Unasked)
		note("no credits either", s.Loss.Unasked && s.Bench.NIC.QPC.NoCredits)
		note("receive buffer that may be full", s.Loss.Overflow)
		note("least receive buffer that may be full", s.Loss.Overflow && s.Bench.NIC.Rx.LogBeats == 7)
		for _, p := range s.Phases {
			for q := range p.Pairs {
				for _, e := range p.Pairs[q].Ends {
					note("no retry", e.RetryCnt == 0)
					note("some retries", e.RetryCnt > 0 && e.RetryCnt < 7)
					note("no retry of RNR NAKs", e.RNRRetry == 0)
					note("some retries of RNR NAKs", e.RNRRetry > 0 && e.RNRRetry < 7)
					note("timeout 14", e.Timeout == 14)
				}
			}
			for i := range p.Cuts[0] {
				note("peer that goes away", p.Cuts[0][i].At > p.Cuts[1][i].At+400_000)
			}
		}
	}
	for name, n := range got {
		require.Greater(t, n, 1, name)
	}
}
