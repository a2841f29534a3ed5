package pkttx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// Raw frames of each length are their payload and nothing else.
func TestRawFrames(t *testing.T) {
	var l load
	for n := 14; n <= 300; n++ {
		l.raw(0x10, host(port.VA(n*777), n))
		if n%5 == 0 {
			l.request(0x12, roce.RCSendOnly, host(port.VA(n), n))
			l.raw(0x14, inline(14, byte(n)), host(port.VA(n*4095), n), inline(3, 1))
		}
	}
	for n := 4090; n <= 4096; n++ {
		l.raw(0x11, host(port.VA(n*4099), n))
	}
	r := run(t, setup{}, l)
	compare(t, l, r)
	require.Equal(t, uint64(287+58+7), r.Stats.RawFrames)
	for i, f := range r.Frames {
		require.Zero(t, f.Gaps, "frame %d", i)
	}
}

// A raw frame that looks like an acknowledgement is none, and takes no identification.
func TestRawIsNoPacket(t *testing.T) {
	var l load
	l.raw(0x10, host(0, 100))
	l.req[0].Opcode, l.req[0].Syndrome = roce.RCAck, 0x61
	l.request(0x10, roce.RCSendOnly)
	r := run(t, setup{}, l)
	compare(t, l, r)
	require.Zero(t, r.Stats.NaksSent)
}

// A datagram without address is a fault of its QP: nothing of it is sent, read or looked
// up, what came before it leaves, and nothing of its QP follows.
func TestBadAddressHandle(t *testing.T) {
	for _, pieces := range [][]port.TxPiece{nil, {host(1, 300)}, {inline(5, 5), host(4000, 200), host(9, 9)}} {
		var l load
		l.request(0x10, roce.UDSendOnly, host(1, 100))
		l.request(0x10, roce.UDSendOnlyImm, pieces...)
		l.req[1].AH = badAH
		l.request(0x10, roce.UDSendOnly, host(2, 100))
		l.request(0x12, roce.UDSendOnly, host(3, 100))
		r := run(t, setup{}, l)
		compare(t, l, r)
		require.Equal(t, []port.SQFault{{QPN: 0x10, PSN: l.req[1].PSN, Status: abi.StatusLocQPOp, Vendor: abi.VendorAH}}, r.Faults)
		require.Len(t, r.Frames, 2)
	}
	var l load
	l.request(0x10, roce.UDSendOnly, host(1, 300))
	l.req[0].AH = badAH
	require.Empty(t, run(t, setup{}, l).Reads)
}

// The Q_Key of the packet counts, or with its top bit set that of the QP.
func TestQKey(t *testing.T) {
	var l load
	for _, key := range []uint32{0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF} {
		l.request(0x21, roce.UDSendOnly)
		l.req[len(l.req)-1].QKey = key
	}
	r := run(t, setup{}, l)
	compare(t, l, r)
	own := uint32(0x21 * 77)
	for i, want := range []uint32{0, 0x7FFFFFFF, own, own} {
		p, err := roce.ParseFrame(r.Frames[i].Frame)
		require.NoError(t, err)
		require.Equal(t, roce.DETH{QKey: want, SrcQP: 0x21}, p.DETH)
		require.Equal(t, roce.QPN(l.req[i].DestQPN), p.BTH.DestQP)
	}
}

// A port that is off has sent what nobody acknowledges.
func TestUnackedOnPortOff(t *testing.T) {
	var l load
	l.request(0x10, roce.UCSendOnly, host(0, 300))
	l.request(0x10, roce.UDSendOnly)
	l.raw(0x10, host(0, 60))
	r := run(t, setup{off: true}, l)
	require.Empty(t, r.Frames)
	require.Len(t, r.Left, 3)
	for i, x := range r.Left {
		require.Equal(t, port.Left{QPN: 0x10, LastPSN: l.req[i].LastPSN, Unacked: true}, x)
	}
}

// Each lookup says for whom it is: a window may be one QP's.
func TestLookupsNameTheirQP(t *testing.T) {
	var l load
	l.request(0x10, roce.RCSendOnly, host(0, 30), host(64, 20))
	l.request(0x13, roce.UCSendOnly, host(0, 30))
	l.read(0x15, roce.RCReadRespOnly, remote(3, 200))
	b := build(setup{})
	k := elaborate(t, b)
	b.feed(l)
	require.NoError(t, k.Run(500))
	seen := map[port.QPN]int{}
	for _, q := range b.MPT.Seen {
		seen[q.QPN]++
	}
	require.Equal(t, map[port.QPN]int{0x10: 2, 0x13: 1, 0x15: 1}, seen)
}
