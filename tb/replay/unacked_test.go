package replay_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/tb/replay"
)

// TestUnacked: what is not acknowledged, in both roles: UC and UD of the kernel.
func TestUnacked(t *testing.T) {
	for name, want := range map[string][]string{
		"uc_pingpong_s64_mtu1024":       {"5/0/0 5/0/0 5 SUCCESS", "5/0/0 5/0/0 5 SUCCESS"},
		"uc_pingpong_s64_mtu4096":       {"5/0/0 5/0/0 5 SUCCESS", "5/0/0 5/0/0 5 SUCCESS"},
		"uc_pingpong_s10002_mtu1024":    {"3/0/0 30/0/0 3 SUCCESS", "3/0/0 30/0/0 3 SUCCESS"},
		"ib_write_bw_uc_mtu1024":        {"5/0/0 25/0/0 5 SUCCESS"},
		"v_uc_all_ops":                  {"6/0/0 12/0/0 6 SUCCESS"},
		"ud_pingpong_s1000_mtu1024":     {"5/0/0 5/0/0 5 SUCCESS", "5/0/0 5/0/0 5 SUCCESS"},
		"ud_pingpong_s1000_mtu4096":     {"5/0/0 5/0/0 5 SUCCESS", "5/0/0 5/0/0 5 SUCCESS"},
		"ud_pingpong_ipv6_s777_mtu1024": {"3/0/0 3/0/0 3 SUCCESS", "3/0/0 3/0/0 3 SUCCESS"},
		"ib_send_bw_ud_mtu1024":         {"5/0/0 5/0/0 5 SUCCESS"},
		"ib_send_bw_ud_mtu4096":         {"5/0/0 5/0/0 5 SUCCESS"},
		"v_ud_all_ops":                  {"5/0/0 5/0/0 5 SUCCESS"},
	} {
		t.Run(name, func(t *testing.T) {
			cs := conversations(t, name, replay.Options{})
			require.Equal(t, want, outcome(t, cs, replay.Options{Seed: 1}))
			require.Equal(t, want, outcome(t, cs, replay.Options{Seed: 2, SRQ: true}), "its receives are shared")
		})
	}
}

// TestSharedReceives: with a shared receive queue the model tells no credits, as
// Soft-RoCE never does: then nothing differs at all.
func TestSharedReceives(t *testing.T) {
	for _, name := range []string{"srq_pingpong_q4_mtu1024", "rc_pingpong_ipv6_s3001_mtu1024", "v_rc_rnr_nak", "v_rc_rnr_exhausted"} {
		for _, c := range conversations(t, name, replay.Options{}) {
			r, err := c.Responder(replay.Options{Seed: 1, SRQ: true})
			require.NoError(t, err)
			require.Positive(t, r.Same)
			require.Zero(t, r.Legal+r.Wrong, "%s: %+v", name, r.Rows)
		}
	}
}

// model is what the model did with the requests of frames, as receiver.
func model(t *testing.T, c *replay.Conversation) map[int]string {
	r, err := c.Responder(replay.Options{Seed: 1})
	require.NoError(t, err)
	require.Zero(t, r.Wrong, "%+v", r.Rows)
	out := map[int]string{}
	for _, row := range r.Rows {
		if row.Model != "" {
			out[row.GivenFrame] = row.Model
		}
	}
	return out
}

// TestBrokenMessages: a packet of UC that is lost takes its message with it, and no
// other.
func TestBrokenMessages(t *testing.T) {
	all := map[int]string{
		1: "receives 100 B", 4: "receives 2500 B imm deadbeef", 7: "has 3001 B written", 8: "receives 64 B imm 000055aa",
		11: "receives 2050 B imm 000066bb", 12: "receives 1 B imm 00000077",
	}
	const missing, of = "drops: PSNs before it are missing", "drops: of a message that is dropped"
	for _, c := range []struct {
		lost []int
		want map[int]string // what differs
	}{
		{nil, nil},
		{[]int{2}, map[int]string{3: of, 4: of}},
		{[]int{3}, map[int]string{4: missing}},
		{[]int{4}, map[int]string{4: ""}},
		{[]int{3, 4}, map[int]string{4: ""}},
		{[]int{5}, map[int]string{6: of, 7: of}},
		{[]int{6, 10}, map[int]string{7: missing, 11: missing}},
		{[]int{4, 5, 6}, map[int]string{4: "", 7: missing}},
		{[]int{1, 8, 12}, map[int]string{1: "", 8: "", 12: ""}},
	} {
		lost := map[int]bool{}
		for _, f := range c.lost {
			lost[f] = true
		}
		want := map[int]string{}
		for f, s := range all {
			want[f] = s
		}
		for f, s := range c.want {
			if want[f] = s; s == "" {
				delete(want, f)
			}
		}
		require.Equal(t, want, model(t, conversations(t, "v_uc_all_ops", replay.Options{Lost: lost})[0]), "lost: %v", c.lost)
		packets := without(t, "v_uc_all_ops", c.lost...)
		require.Equal(t, want, model(t, replay.Conversations(packets, replay.Options{})[0]), "not in the capture: %v", c.lost)
	}
}

// TestWrongUnacked: each part of a packet counts, in the role that shows it. What can't
// be as it was captured is dropped.
func TestWrongUnacked(t *testing.T) {
	for name, c := range map[string]struct {
		capture string
		frame   int
		change  func(p *roce.Packet)
		model   string // as receiver
		wrong   bool   // as requester
	}{
		"UC opcode":     {"v_uc_all_ops", 3, func(p *roce.Packet) { p.BTH.Opcode = roce.UCWriteMiddle }, "drops: of another operation", true},
		"UC too short":  {"v_uc_all_ops", 3, func(p *roce.Packet) { p.SetPayload(p.Payload[:1000]) }, "drops: of a wrong length", true},
		"UC length":     {"v_uc_all_ops", 7, func(p *roce.Packet) { p.SetPayload(p.Payload[:952]) }, "drops: of a wrong length", true},
		"UC AckReq":     {"v_uc_all_ops", 12, func(p *roce.Packet) { p.BTH.AckReq = true }, "receives 1 B imm 00000077", false},
		"UC SE":         {"v_uc_all_ops", 12, func(p *roce.Packet) { p.BTH.SE = true }, "receives 1 B imm 00000077", false},
		"UD length":     {"v_ud_all_ops", 3, func(p *roce.Packet) { p.SetPayload(make([]byte, 5000)) }, "drops: longer than the MTU", true},
		"UD Q_Key":      {"v_ud_all_ops", 3, func(p *roce.Packet) { p.DETH.QKey++ }, "drops: another Q_Key", false},
		"UD of the QP":  {"v_ud_all_ops", 3, func(p *roce.Packet) { p.DETH.QKey |= 1 << 31 }, "drops: another Q_Key", true},
		"UD PSN":        {"v_ud_all_ops", 3, func(p *roce.Packet) { p.BTH.PSN += 77 }, "receives 1064 B", false},
		"UD immediate":  {"v_ud_all_ops", 2, func(p *roce.Packet) { p.Imm.Imm++ }, "receives 141 B imm 0000caff", false},
		"UD nothing in": {"v_ud_all_ops", 5, func(p *roce.Packet) { p.IP4.TTL = 1 }, "receives 40 B", false},
	} {
		t.Run(name, func(t *testing.T) {
			v := replay.Conversations(changed(t, c.capture, c.frame, c.change), replay.Options{})[0]
			require.Equal(t, c.model, model(t, v)[c.frame])
			r, err := v.Requester(replay.Options{Seed: 1})
			require.NoError(t, err)
			require.Equal(t, c.wrong, r.Wrong > 0, "%+v", r)
		})
	}
}

// TestLegalUnacked: what may differ.
func TestLegalUnacked(t *testing.T) {
	twice := capture(t, "v_uc_all_ops").Packets
	twice = slices.Insert(twice, 8, twice[7])
	require.Equal(t, []string{"doubled"}, legalIn(t, twice, replay.Options{}))
	require.Equal(t, []string{"others"}, legalIn(t, without(t, "v_ud_all_ops", 2), replay.Options{}))
	require.Equal(t, []string{"partial"}, legalIn(t, without(t, "v_uc_all_ops", 6), replay.Options{}))
	cs := replay.Conversations(without(t, "v_uc_all_ops", 6), replay.Options{})
	require.Contains(t, cs[0].Notes, "the capture has no packet of PSN 001005: as requester replayed is what is before frame 7")
	require.Contains(t, conversations(t, "v_ud_all_ops", replay.Options{})[0].Notes,
		"the Q_Key of 1 datagrams is not 11111111, which most have and which is taken for the receiver's: it drops them")
}

// TestUnackedFlows: who sends to whom is told apart.
func TestUnackedFlows(t *testing.T) {
	var names []string
	packets := slices.Concat(capture(t, "v_rc_loss_atomic_ack").Packets, capture(t, "v_uc_all_ops").Packets, capture(t, "v_ud_all_ops").Packets)
	packets[len(packets)-1].DETH.SrcQP++ // another QP
	for _, c := range replay.Conversations(packets, replay.Options{}) {
		names = append(names, c.String())
	}
	require.Equal(t, []string{
		"10.0.0.2 QP 00004a -> 10.0.0.1 QP 00004a",
		"UC 10.0.0.2 QP 000053 -> 10.0.0.1 QP 000053", "UD 10.0.0.2 QP 000055 -> 10.0.0.1 QP 000055", "UD 10.0.0.2 QP 000056 -> 10.0.0.1 QP 000055",
	}, names)
}
