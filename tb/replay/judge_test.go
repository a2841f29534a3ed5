package replay_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/tb/replay"
)

// runs plays the packets in both roles; those that can't be played are left out.
func runs(packets []replay.Captured, o replay.Options) (out []*replay.Result) {
	for _, c := range replay.Conversations(packets, o) {
		for _, f := range []func(replay.Options) (*replay.Result, error){c.Responder, c.Requester} {
			if r, err := f(replay.Options{Seed: 1}); err == nil {
				out = append(out, r)
			}
		}
	}
	return out
}

// changed is a capture with one packet changed.
func changed(t testing.TB, name string, frame int, change func(p *roce.Packet)) []replay.Captured {
	packets := capture(t, name).Packets
	for i := range packets {
		if packets[i].Frame == frame {
			packets[i].Payload = slices.Clone(packets[i].Payload)
			change(&packets[i].Packet)
		}
	}
	return packets
}

// TestWrong: each part of a packet counts, in the role that shows it.
func TestWrong(t *testing.T) {
	for name, c := range map[string]struct {
		frame  int // of v_rc_all_ops
		role   replay.Role
		change func(p *roce.Packet)
	}{
		"NAK for ACK":    {2, replay.AsResponder, func(p *roce.Packet) { p.AETH.Syndrome = roce.NAKSyndrome(roce.NAKRemoteOperation) }},
		"MSN":            {10, replay.AsResponder, func(p *roce.Packet) { p.AETH.MSN++ }},
		"opcode":         {29, replay.AsResponder, func(p *roce.Packet) { p.BTH.Opcode = roce.RCAck }},
		"PSN":            {37, replay.AsResponder, func(p *roce.Packet) { p.BTH.PSN += 5 }},
		"less data":      {24, replay.AsResponder, func(p *roce.Packet) { p.SetPayload(p.Payload[:1000]) }},
		"SE":             {5, replay.AsRequester, func(p *roce.Packet) { p.BTH.SE = true }},
		"pad":            {5, replay.AsRequester, func(p *roce.Packet) { p.BTH.PadCnt = 2 }},
		"request opcode": {6, replay.AsRequester, func(p *roce.Packet) { p.BTH.Opcode = roce.RCWriteMiddle }},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := 0
			for _, r := range runs(changed(t, "v_rc_all_ops", c.frame, c.change), replay.Options{}) {
				if r.Role == c.role {
					wrong += r.Wrong
				}
			}
			require.Positive(t, wrong)
		})
	}
}

// legalIn are the legal differences of a replay.
func legalIn(t testing.TB, packets []replay.Captured, o replay.Options) (names []string) {
	for _, r := range runs(packets, o) {
		for _, row := range r.Rows {
			require.NotEqual(t, replay.Wrong, row.Verdict, "%+v", row)
			names = append(names, row.Legal...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// without is a capture without some frames.
func without(t testing.TB, name string, frames ...int) []replay.Captured {
	return slices.DeleteFunc(capture(t, name).Packets, func(p replay.Captured) bool { return slices.Contains(frames, p.Frame) })
}

// TestLegal: differences that are legal are found to be.
func TestLegal(t *testing.T) {
	for name, c := range map[string]struct {
		packets []replay.Captured
		want    []string
	}{
		"an ACK is merged":     {without(t, "v_rc_all_ops", 2), []string{"credits", "merged"}},
		"the end is not there": {without(t, "v_rc_all_ops", 37), []string{"credits"}},
		"the NAK came early":   {without(t, "v_rc_loss_seq_nak", 4), []string{"ahead", "credits"}},
		"captured at the far end": {
			without(t, "v_rc_loss_seq_nak", 2), []string{"credits", "unseen"},
		},
		"another timer":    {changed(t, "v_rc_rnr_nak", 4, func(p *roce.Packet) { p.AETH.Syndrome = roce.RNRSyndrome(3) }), []string{"credits", "rnr-timer"}},
		"memory of others": {changed(t, "v_rc_all_ops", 33, func(p *roce.Packet) { p.AtomicAckETH.Orig++ }), []string{"credits", "memory"}},
		"AckReq":           {changed(t, "v_rc_loss_last_timeout", 1, func(p *roce.Packet) { p.BTH.AckReq = false }), []string{"ack-request", "credits"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, legalIn(t, c.packets, replay.Options{}))
		})
	}
}

// TestLateConnection: a connection that began before the capture.
func TestLateConnection(t *testing.T) {
	packets := without(t, "rc_pingpong_s4096_mtu1024", 12, 13, 14, 15, 16, 17, 18)
	cs := replay.Conversations(packets, replay.Options{})
	outcome(t, cs, replay.Options{Seed: 1})
	notes := ""
	for _, c := range cs {
		for _, n := range c.Notes {
			notes += n + "\n"
		}
	}
	require.Contains(t, notes, "their message began before the capture")
	require.Contains(t, notes, "MSNs count from 1")
}

// TestMissingFrame: behind a frame that the capture lacks nothing can be said.
func TestMissingFrame(t *testing.T) {
	c := replay.Conversations(without(t, "v_rc_all_ops", 12), replay.Options{})[0]
	require.Contains(t, c.Notes, "the capture has no packet of PSN 001007: replayed is what is before frame 13")
	outcome(t, []*replay.Conversation{c}, replay.Options{Seed: 1})
	require.Equal(t, []string{"credits", "partial"}, legalIn(t, without(t, "v_rc_all_ops", 12), replay.Options{}))
}

// TestTable: names of differences are unique in a role, and every one says why.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range replay.Differences {
		require.False(t, seen[d.Name+string(d.Role)], d.Name)
		seen[d.Name+string(d.Role)] = true
		require.NotEmpty(t, d.What+d.Why+d.Clause)
		require.Same(t, replay.Find(d.Role, d.Name), replay.Find(d.Role, d.Name))
		require.Contains(t, replay.Table(), "| "+d.Name+" | "+string(d.Role)+" | "+d.What+" |")
	}
}

// TestDamaged: whatever a capture says, the replay comes to an end, and twice to the
// same.
func TestDamaged(t *testing.T) {
	var all [][]replay.Captured
	for _, name := range []string{"v_rc_all_ops", "v_rc_loss_seq_nak", "v_rc_rnr_nak", "v_rc_loss_atomic_ack", "v_rc_psn_wrap", "go_probes_not_golden", "v_uc_all_ops", "v_ud_all_ops"} {
		all = append(all, capture(t, name).Packets)
	}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 0))
		packets := slices.Clone(all[rng.IntN(len(all))])
		for range rng.IntN(5) + 1 {
			i := rng.IntN(len(packets))
			p := &packets[i]
			switch rng.IntN(9) {
			case 0:
				packets = append(slices.Delete(packets, i, i+1), *p)
			case 1:
				packets = slices.Insert(packets, i, *p)
			case 2:
				p.BTH.PSN = p.BTH.PSN.Add(rng.Uint32N(4))
			case 3:
				p.BTH.Opcode = []roce.Opcode{roce.RCReadRequest, roce.RCAck, roce.RCWriteFirst, roce.RCSendOnlyInv, roce.RCFetchAdd, roce.UCSendFirst, roce.UCWriteLast, roce.UDSendOnly}[rng.IntN(8)]
			case 4:
				p.RETH.Length = rng.Uint32() >> rng.IntN(32)
			case 5:
				p.RETH.VA = ^uint64(rng.IntN(5000))
			case 6:
				p.AETH.Syndrome = roce.Syndrome(rng.IntN(256))
			case 7:
				p.SetPayload(make([]byte, rng.IntN(2000)))
			case 8:
				p.BTH.PSN = roce.PSN(rng.Uint32N(1 << 24))
			}
		}
		o := replay.Options{MTU: roce.MTU(rng.IntN(6))}
		require.Equal(t, runs(packets, o), runs(packets, o), "seed %d", seed)
	}
}
