package pkttx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	pkttx "rnic/rtl/pkt_tx"
	"rnic/rtl/port"
)

// A READ response that needs no payload of memory is a response like others; all
// kinds of one QP leave in order, whatever waits, though acknowledgements of other
// QPs overtake those that wait for payload.
func TestResponsesInOrder(t *testing.T) {
	var l load
	l.read(0x20, roce.RCReadRespFirst, remote(0x1000, 256))
	l.read(0x20, roce.RCReadRespLast, remote(0x1100, 100))
	l.ack(0x20)
	l.read(0x20, roce.RCReadRespOnly)
	l.atomic(0x20)
	for range 3 {
		l.ack(0x22)
	}
	l.ack(0x20)
	l.atomic(0x22)
	r := run(t, setup{dmaCycles: 500}, l)
	compare(t, l, r)
	for i, f := range r.Frames {
		p, err := roce.ParseFrame(f.Frame)
		require.NoError(t, err)
		require.Equal(t, i >= 4, p.BTH.DestQP^0x800001 == 0x20, "frame %d: QP 0x22 does not wait", i)
	}
	require.Less(t, r.Frames[3].Last, uint64(60))
	require.Greater(t, r.Frames[4].First, uint64(500))
}

// An acknowledgement that comes when all is quiet again goes at once.
func TestOrderForgets(t *testing.T) {
	b := build(setup{})
	k := elaborate(t, b)
	var l load
	for round := range uint64(4) {
		l.read(0x20, roce.RCReadRespOnly, remote(0x1000, 256))
		l.ack(0x20)
		b.Resp.Push(l.resp[2*round])
		b.RespPiece.Push(l.data[round])
		require.NoError(t, k.Run(200*round+150))
		b.Resp.Push(l.resp[2*round+1])
		require.NoError(t, k.Run(200*round+200))
	}
	fs := join(t, b.Eth.Got, b.Eth.At)
	require.Len(t, fs, 8)
	for i := 1; i < 8; i += 2 {
		require.Equal(t, uint64(200*(i/2)+151+1+8), fs[i].First)
	}
}

// A READ response never overtakes an acknowledgement of its QP, when the wire is
// slow and acknowledgements wait.
func TestReadBehindAcknowledgement(t *testing.T) {
	b := build(setup{line: 25})
	k := elaborate(t, b)
	var l load
	for range 40 {
		for range 20 {
			l.ack(0x22)
		}
		l.ack(0x20)
		l.read(0x20, roce.RCReadRespOnly)
	}
	b.feed(l)
	require.NoError(t, k.Run(20000))
	last := map[uint32]roce.PSN{}
	fs := join(t, b.Eth.Got, b.Eth.At)
	require.Len(t, fs, 40*22)
	for _, f := range fs {
		p, err := roce.ParseFrame(f.Frame)
		require.NoError(t, err)
		n := uint32(p.BTH.DestQP)
		if psn, ok := last[n]; ok {
			require.True(t, psn.Before(p.BTH.PSN), "QP %#x: PSN %v behind %v", n^0x800001, p.BTH.PSN, psn)
		}
		last[n] = p.BTH.PSN
	}
}

// Requests and READ responses take turns, whatever there is of each, and
// acknowledgements pass both.
func TestPayloadLaneIsFair(t *testing.T) {
	var l load
	for i := range 60 {
		l.request(0x10, roce.RCSendOnly, host(port.VA(i), 200))
		l.read(0x20, roce.RCReadRespMiddle, remote(port.VA(i), 200))
		if i%2 == 0 {
			l.ack(0x30)
		}
	}
	r := run(t, setup{}, l)
	compare(t, l, r)
	lead := 0
	for _, f := range r.Frames[:120] {
		p, err := roce.ParseFrame(f.Frame)
		require.NoError(t, err)
		switch p.BTH.Opcode {
		case roce.RCSendOnly:
			lead++
		case roce.RCReadRespMiddle:
			lead--
		}
		require.LessOrEqual(t, max(lead, -lead), 2)
	}
}

// READ responses leave at the rate of requests; the reads of this bench have no headers.
func TestReadRate(t *testing.T) {
	for _, mtu := range []int{64, 256, 1024, 4096} {
		for _, v6 := range []port.QPN{0, 1} {
			var l load
			n := 40 + 40*256/mtu
			for i := range n {
				l.read(0x10+v6, roce.RCReadRespMiddle, remote(port.VA(i*mtu+13), mtu))
			}
			frame := 54 + int(v6)*20 + mtu + 4
			got := rate(t, setup{dmaCycles: 125, cycles: 40000, params: pkttx.Params{PcieBytes: 64 + 20}}, n, l)
			t.Logf("%d bytes: %.2f cycles a packet", mtu, got)
			require.LessOrEqual(t, got, 1+float64((frame+63)/64))
		}
	}
}

// What the NAK says of a READ response that cannot be read.
func TestReadFault(t *testing.T) {
	for key, want := range map[port.Key]port.SQFault{
		badKey:    {Status: abi.StatusRemAccess, Vendor: abi.VendorRKeyUnknown},
		badPD:     {Status: abi.StatusRemAccess, Vendor: abi.VendorRKeyPD},
		badBounds: {Status: abi.StatusRemAccess, Vendor: abi.VendorRKeyBounds},
		badAccess: {Status: abi.StatusRemAccess, Vendor: abi.VendorRKeyAccess},
		badRead:   {Status: abi.StatusRemOp, Vendor: abi.VendorDMARead},
	} {
		bad := remote(0x5000, 150)
		bad.Key = key
		var l load
		l.read(0x20, roce.RCReadRespFirst, remote(0x1000, 256))
		l.read(0x20, roce.RCReadRespMiddle, bad)
		l.read(0x20, roce.RCReadRespLast, bad)
		l.read(0x20, roce.RCReadRespOnly, remote(0x1000, 30))
		l.read(0x22, roce.RCReadRespOnly, remote(0x1000, 30))
		for range 4 { // positive ones are behind the NAK, the last is it
			l.ack(0x20)
		}
		l.resp[len(l.resp)-1].Syndrome = 0x62
		l.request(0x20, roce.RCSendOnly, host(1, 100))
		r := run(t, setup{}, l)
		compare(t, l, r)
		want.QPN, want.PSN = 0x20, l.resp[1].PSN
		require.Equal(t, []port.SQFault{want}, r.Refuse)
		require.Empty(t, r.Faults)
	}
}

// The result of an atomic that has read nothing is told instead of sent, after what
// came before it, and the QP says nothing but the NAK from then on.
func TestUnreadAtomic(t *testing.T) {
	b := build(setup{})
	k := elaborate(t, b)
	resp := func(psn roce.PSN, op roce.Opcode) port.TxPkt {
		return port.TxPkt{QPN: 0x20, Resp: true, PSN: psn, Opcode: op, Syndrome: 31}
	}
	unread := resp(3, roce.RCAtomicAck)
	unread.Unread = true
	nak := resp(3, roce.RCAck)
	nak.Syndrome = 0x63
	b.Resp.Push(resp(1, roce.RCAck), resp(2, roce.RCAtomicAck), unread, resp(4, roce.RCAtomicAck), resp(5, roce.RCAck), nak)
	require.NoError(t, k.Run(400))
	require.Equal(t, []port.SQFault{{QPN: 0x20, PSN: 3, Status: abi.StatusRemOp, Vendor: abi.VendorDMARead}}, b.Refuse.Got)
	require.Len(t, join(t, b.Eth.Got, b.Eth.At), 3, "the two before it, and the NAK")
}

// After its fault a QP says nothing but the NAK, in whichever lane, until the
// marker of its purge.
func TestMuteUntilPurge(t *testing.T) {
	b := build(setup{})
	k := elaborate(t, b)
	bad := remote(0x5000, 150)
	bad.Key = badKey
	step := func(n uint64, resp ...port.TxPkt) []sent {
		b.Resp.Push(resp...)
		before := len(join(t, b.Eth.Got, b.Eth.At))
		require.NoError(t, k.Run(n*200))
		return join(t, b.Eth.Got, b.Eth.At)[before:]
	}
	var l load
	for _, n := range []port.QPN{0x20, 0x22} {
		l.read(n, roce.RCReadRespOnly, bad)
	}
	b.RespPiece.Push(l.data...)
	require.Empty(t, step(1, l.resp...))
	require.Len(t, b.Refuse.Got, 2)
	require.Equal(t, uint16(2), b.TX.Send.Q.Muted)
	ack := func(n port.QPN, syndrome uint8) port.TxPkt {
		return port.TxPkt{QPN: n, Resp: true, Opcode: roce.RCAck, Syndrome: syndrome, PSN: l.resp[0].PSN}
	}
	late := ack(0x20, 0x62) // of a request behind the one that failed
	late.PSN = late.PSN.Add(1)
	require.Empty(t, step(2, late))
	zero := port.TxPkt{QPN: 0x20, Resp: true, Opcode: roce.RCReadRespOnly}
	all := []port.TxPkt{ack(0x20, 31), ack(0x20, 0x62), zero, ack(0x20, 0x60), ack(0x20, 0x21), ack(0x24, 31), ack(0x22, 31)}
	require.Len(t, step(3, all...), 2)
	b.Req.Push(port.TxPkt{Purge: true, QPN: 0x20})
	require.Empty(t, step(4))
	require.Equal(t, []port.Purge{{QPN: 0x20}}, b.Purge.Got)
	require.Len(t, step(5, all...), 6, "QP 0x22 still says nothing")
	b.Req.Push(port.TxPkt{Purge: true, QPN: 0x20}, port.TxPkt{Purge: true, QPN: 0x22})
	require.Empty(t, step(6))
	require.Len(t, step(7, all...), 7)
	require.Zero(t, b.TX.Send.Q.Muted)
	require.Zero(t, *b.TX.Send.Mute.Peek(0x22))
}

// A fault that nobody takes holds back the lane, and nothing is lost.
func TestRefusedFaultWaits(t *testing.T) {
	var l load
	for i := range 20 {
		bad := remote(0x5000, 150)
		bad.Key = badKey
		l.read(port.QPN(0x20+2*i), roce.RCReadRespOnly, bad)
		l.read(port.QPN(0x21+2*i), roce.RCReadRespOnly, remote(0x5000, 77))
	}
	r := run(t, setup{seed: 3, params: pkttx.Params{PayloadBeats: 66, Packets: 2, Asked: 2}}, l)
	compare(t, l, r)
	require.Len(t, r.Refuse, 20)
}
