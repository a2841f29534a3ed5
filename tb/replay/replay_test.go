package replay_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"rnic/tb/replay"
)

func frames(t *testing.T, name string) (list [][]byte) {
	f, err := os.Open(filepath.Join("../../testdata/pcaps", name))
	require.NoError(t, err)
	defer f.Close()
	r, err := pcapgo.NewReader(f)
	require.NoError(t, err)
	for {
		b, _, err := r.ReadPacketData()
		if err != nil {
			return list
		}
		list = append(list, b)
	}
}

// TestLinuxAnswers: what Linux answered to a Linux peer, the model answers too.
func TestLinuxAnswers(t *testing.T) {
	for _, name := range []string{
		"rc_pingpong_s1_mtu1024", "rc_pingpong_s1027_mtu256", "rc_pingpong_s4096_mtu1024", "rc_pingpong_s4096_mtu4096",
		"rc_pingpong_s64_mtu4096", "rc_pingpong_s10001_mtu1024", "rc_pingpong_ipv6_s3001_mtu1024",
		"ib_send_bw_rc_mtu1024", "ib_send_bw_rc_mtu4096", "ib_write_bw_rc_mtu1024", "ib_write_bw_rc_mtu4096",
		"ib_read_bw_rc_mtu1024", "ib_atomic_bw_cas_mtu1024", "ib_atomic_bw_faa_mtu1024", "ib_atomic_bw_faa_mtu4096",
		"ib_write_lat_rc_mtu1024", "ib_write_lat_rc_mtu4096", "v_rc_all_ops", "v_rc_psn_wrap", "v_rc_tc_ttl_ecn",
		"v_rc_nak_remote_access",
	} {
		t.Run(name, func(t *testing.T) {
			cs := replay.Conversations(frames(t, name+".pcap"))
			require.NotEmpty(t, cs)
			for _, c := range cs {
				got, err := c.Run(1)
				require.NoError(t, err)
				require.NoError(t, replay.Compare(got, c.Captured()), "QP %06x, %d requests", c.SelfQP, len(c.Requests))
			}
		})
	}
}

// TestDifferencesShow: each part of an answer counts.
func TestDifferencesShow(t *testing.T) {
	c := replay.Conversations(frames(t, "v_rc_all_ops.pcap"))[0]
	want := c.Captured()
	for name, change := range map[string]func(a *replay.Answer){
		"opcode":   func(a *replay.Answer) { a.Opcode++ },
		"PSN":      func(a *replay.Answer) { a.PSN++ },
		"syndrome": func(a *replay.Answer) { a.Kind++ },
		"value":    func(a *replay.Answer) { a.Value++ },
		"MSN":      func(a *replay.Answer) { a.MSN++ },
		"original": func(a *replay.Answer) { a.Original++ },
		"data":     func(a *replay.Answer) { a.Data += "x" },
	} {
		got := c.Captured()
		require.NoError(t, replay.Compare(got, want))
		change(&got[len(got)/2])
		require.Error(t, replay.Compare(got, want), name)
	}
	require.Error(t, replay.Compare(want[1:], want))
	require.Error(t, replay.Compare(want, want[1:]))
}
