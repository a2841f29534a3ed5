package tb_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/host"
)

// packet is a RoCE frame for host k with n bytes of payload; nobody has its QP.
func packet(k uint8, psn roce.PSN, n int) []byte {
	p := roce.Packet{
		Eth: roce.Ethernet{Dst: roce.HostMAC(k), Src: roce.HostMAC(9)},
		IP4: roce.IPv4{DF: true, TTL: 64, Src: roce.HostIPv4(9), Dst: roce.HostIPv4(k)},
		BTH: roce.BTH{Opcode: roce.RCSendOnly, PKey: roce.DefaultPKey, DestQP: 5, PSN: psn},
	}
	p.SetPayload(make([]byte, n))
	return p.Append(nil)
}

// TestInject: frames arrive whole, in order, at the pace of the wire, and no fault
// sees them.
func TestInject(t *testing.T) {
	b, err := tb.New(tb.Config{})
	require.NoError(t, err)
	defer b.Close()
	h := b.Hosts[1]
	var seen []tb.Frame
	h.SetFault(tb.Lose)
	h.Tap(func(f tb.Frame) {
		f.Data = append([]byte(nil), f.Data...)
		seen = append(seen, f)
	})
	var frames [][]byte
	for i, n := range []int{100, 4096, 1, 700} {
		frames = append(frames, packet(2, roce.PSN(i), n))
		h.Inject(frames[i])
	}
	h.Go("idle", func(th *hdl.Thread, _ *host.Bus) { th.Sleep(500) })
	require.NoError(t, b.Run(1000))
	require.Len(t, seen, len(frames))
	for i, f := range seen {
		require.Equal(t, frames[i], f.Data)
		require.False(t, f.Tx || f.BadFCS)
		require.Zero(t, f.Number)
	}
	cycles := (seen[3].TimePs - seen[0].TimePs) / tb.PeriodPs
	require.GreaterOrEqual(t, cycles, int64(len(frames[1])+len(frames[2])+2*24)/50, "faster than the wire")
}

// TestStrikes: each strikes its own packets, as often as it should, and says when
// it has not.
func TestStrikes(t *testing.T) {
	is := func(psn roce.PSN) func(*roce.Packet) bool {
		return func(p *roce.Packet) bool { return p.BTH.PSN == psn }
	}
	lost := &tb.Strike{Name: "second 7", Match: is(7), Skip: 1}
	bad := &tb.Strike{Name: "8, twice", Match: is(8), Times: 2, Do: func(tb.Frame) tb.Verdict { return tb.Verdict{BadFCS: true} }}
	f := tb.Strikes(lost, bad)
	give := func(psn roce.PSN) tb.Verdict { return f(tb.Frame{Data: packet(2, psn, 10)}) }
	for _, c := range []struct {
		psn  roce.PSN
		want tb.Verdict
	}{{7, tb.Verdict{}}, {8, tb.Verdict{BadFCS: true, Name: "8, twice"}}, {7, tb.Verdict{Drop: true, Name: "second 7"}}, {7, tb.Verdict{}}, {9, tb.Verdict{}}} {
		require.Equal(t, c.want, give(c.psn))
	}
	require.Equal(t, tb.Verdict{}, f(tb.Frame{Data: make([]byte, 60)}), "no packet")
	require.ErrorContains(t, tb.Missed(lost, bad), `"8, twice" fired 1 of 2 times`)
	give(8)
	require.NoError(t, tb.Missed(lost, bad))
}
