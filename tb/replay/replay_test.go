package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/replay"
)

const pcaps = "../../testdata/pcaps"

func capture(t testing.TB, name string) *replay.Capture {
	f, err := os.Open(filepath.Join(pcaps, name+".pcap"))
	require.NoError(t, err)
	defer f.Close()
	c, err := replay.Read(f)
	require.NoError(t, err)
	return c
}

func conversations(t testing.TB, name string, o replay.Options) []*replay.Conversation {
	cs := replay.Conversations(capture(t, name).Packets, o)
	require.NotEmpty(t, cs)
	return cs
}

// outcome is what came of a capture: of each conversation in each role same/legal/wrong,
// and how the work requests ended.
func outcome(t testing.TB, cs []*replay.Conversation, o replay.Options) (out []string) {
	for _, c := range cs {
		a, err := c.Responder(o)
		require.NoError(t, err)
		q, err := c.Requester(o)
		require.NoError(t, err)
		for _, r := range []*replay.Result{a, q} {
			require.Empty(t, r.Faults, "%v", c)
			for _, row := range r.Rows {
				require.NotEqual(t, replay.Wrong, row.Verdict, "%v as %s: %+v", c, r.Role, row)
			}
		}
		out = append(out, fmt.Sprintf("%d/%d/%d %d/%d/%d %s", a.Same, a.Legal, a.Wrong, q.Same, q.Legal, q.Wrong, strings.Join(q.Done, " ")))
	}
	return out
}

// TestLinux: the model does in both roles what Linux did, whatever was lost.
func TestLinux(t *testing.T) {
	for name, want := range map[string][]string{
		"rc_pingpong_s1_mtu1024":         {"0/2/0 2/0/0 2 SUCCESS", "0/2/0 2/0/0 2 SUCCESS"},
		"rc_pingpong_s1_mtu4096":         {"0/2/0 2/0/0 2 SUCCESS", "0/2/0 2/0/0 2 SUCCESS"},
		"rc_pingpong_s64_mtu1024":        {"0/6/0 6/0/0 5 SUCCESS", "0/5/0 5/0/0 5 SUCCESS"},
		"rc_pingpong_s64_mtu4096":        {"0/5/0 5/0/0 5 SUCCESS", "0/5/0 5/0/0 5 SUCCESS"},
		"rc_pingpong_s1027_mtu256":       {"0/2/0 9/1/0 2 SUCCESS", "0/2/0 10/0/0 2 SUCCESS"},
		"rc_pingpong_s4096_mtu1024":      {"0/3/0 12/0/0 3 SUCCESS", "0/3/0 11/1/0 3 SUCCESS"},
		"rc_pingpong_s4096_mtu4096":      {"0/3/0 3/0/0 3 SUCCESS", "0/3/0 3/0/0 3 SUCCESS"},
		"rc_pingpong_s10001_mtu1024":     {"0/3/0 28/2/0 3 SUCCESS", "0/3/0 29/1/0 3 SUCCESS"},
		"rc_pingpong_ipv6_s3001_mtu1024": {"0/3/0 9/0/0 3 SUCCESS", "0/3/0 9/0/0 3 SUCCESS"},
		"srq_pingpong_q4_mtu1024":        {"0/2/0 5/1/0 2 SUCCESS", "0/2/0 6/0/0 2 SUCCESS", "0/2/0 6/0/0 2 SUCCESS", "0/2/0 6/0/0 2 SUCCESS", "0/2/0 5/1/0 2 SUCCESS", "0/2/0 6/0/0 2 SUCCESS", "0/2/0 6/0/0 2 SUCCESS", "0/2/0 6/0/0 2 SUCCESS"},
		"go_peer":                        {"0/3/0 8/1/0 3 SUCCESS", "0/3/0 9/0/0 3 SUCCESS", "2/4/0 5/1/0 3 SUCCESS 1 REM_ACCESS_ERR", "21/45/0 26/0/0 24 SUCCESS"},
		"ib_send_bw_rc_mtu1024":          {"0/5/0 23/2/0 5 SUCCESS"},
		"ib_send_bw_rc_mtu4096":          {"0/5/0 9/1/0 5 SUCCESS"},
		"ib_write_bw_rc_mtu1024":         {"0/5/0 24/1/0 5 SUCCESS"},
		"ib_write_bw_rc_mtu4096":         {"0/5/0 9/1/0 5 SUCCESS"},
		"ib_write_lat_rc_mtu1024":        {"0/5/0 5/0/0 5 SUCCESS", "0/5/0 5/0/0 5 SUCCESS"},
		"ib_write_lat_rc_mtu4096":        {"0/5/0 5/0/0 5 SUCCESS", "0/5/0 5/0/0 5 SUCCESS"},
		"ib_read_bw_rc_mtu1024":          {"35/10/0 5/0/0 5 SUCCESS"},
		"ib_atomic_bw_cas_mtu1024":       {"0/5/0 5/0/0 5 SUCCESS"},
		"ib_atomic_bw_faa_mtu1024":       {"0/5/0 5/0/0 5 SUCCESS"},
		"ib_atomic_bw_faa_mtu4096":       {"0/5/0 5/0/0 5 SUCCESS"},
		"v_rc_all_ops":                   {"1/16/0 20/0/0 15 SUCCESS"},
		"v_rc_psn_wrap":                  {"1/4/0 4/1/0 3 SUCCESS"},
		"v_rc_tc_ttl_ecn":                {"0/1/0 2/0/0 1 SUCCESS"},
		"v_rc_nak_remote_access":         {"1/0/0 1/0/0 1 REM_ACCESS_ERR", "1/0/0 1/0/0 1 REM_ACCESS_ERR", "1/0/0 1/0/0 1 REM_ACCESS_ERR"},
		"v_rc_loss_seq_nak":              {"1/1/0 7/0/0 1 SUCCESS"},
		"v_rc_loss_last_timeout":         {"0/1/0 2/0/0 1 SUCCESS"},
		"v_rc_loss_atomic_ack":           {"0/2/0 2/0/0 1 SUCCESS"},
		"v_rc_rnr_nak":                   {"5/1/0 6/0/0 1 SUCCESS"},
		"v_rc_rnr_exhausted":             {"2/0/0 2/0/0 1 RNR_RETRY_EXC_ERR"},
		"v_rc_retry_exhausted":           {"0/0/0 3/0/0 1 RETRY_EXC_ERR"},
		"v_rc_bad_icrc":                  {"0/1/0 2/0/0 1 SUCCESS"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, want, outcome(t, conversations(t, name, replay.Options{}), replay.Options{Seed: 1}))
		})
	}
}

// TestEveryCapture: no capture is left out.
func TestEveryCapture(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(pcaps, "*.pcap"))
	require.NoError(t, err)
	require.Greater(t, len(files), 40)
	for _, path := range files {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		_, err = replay.Read(f)
		require.NoError(t, err, path)
	}
}

// TestSeeds: where the pages are matters to nothing.
func TestSeeds(t *testing.T) {
	for _, name := range []string{"v_rc_all_ops", "v_rc_loss_seq_nak", "ib_read_bw_rc_mtu1024"} {
		cs := conversations(t, name, replay.Options{})
		want := outcome(t, cs, replay.Options{Seed: 1})
		for seed := uint64(1); seed < 4; seed++ {
			require.Equal(t, want, outcome(t, cs, replay.Options{Seed: seed}))
		}
	}
}

// TestLost: which frames were lost is seen from the others.
func TestLost(t *testing.T) {
	for name, want := range map[string][]int{
		"v_rc_loss_seq_nak": {2}, "v_rc_loss_last_timeout": {1}, "v_rc_loss_atomic_ack": {2}, "v_rc_rnr_nak": nil,
		"v_rc_rnr_exhausted": nil, "v_rc_retry_exhausted": {1, 2, 3}, "v_rc_bad_icrc": {1}, "v_rc_all_ops": nil, "v_rc_nak_remote_access": nil,
	} {
		var lost []int
		for _, c := range conversations(t, name, replay.Options{}) {
			for i := range c.Events {
				if c.Events[i].Lost != "" {
					lost = append(lost, c.Events[i].Frame)
				}
			}
		}
		require.Equal(t, want, lost, name)
	}
}

// TestToldLost: what --lost says is done, though it be wrong.
func TestToldLost(t *testing.T) {
	c := conversations(t, "v_rc_loss_seq_nak", replay.Options{Lost: map[int]bool{}})[0]
	r, err := c.Responder(replay.Options{Seed: 1})
	require.NoError(t, err)
	require.Positive(t, r.Wrong, "nothing was lost, so there is no reason for a NAK")
	c = conversations(t, "v_rc_loss_seq_nak", replay.Options{Lost: map[int]bool{2: true}})[0]
	require.Equal(t, []string{"1/1/0 7/0/0 1 SUCCESS"}, outcome(t, []*replay.Conversation{c}, replay.Options{Seed: 1}))
}
