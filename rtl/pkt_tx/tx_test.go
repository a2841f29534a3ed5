package pkttx_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/roce"
	pkttx "rnic/rtl/pkt_tx"
	"rnic/rtl/port"
)

// request adds a packet with its pieces.
func (l *load) request(qpn port.QPN, op roce.Opcode, pieces ...port.TxPiece) {
	n := len(l.req)
	p := packet(qpn, op, n)
	for _, x := range pieces {
		p.Len += x.Len
	}
	p.NumPieces = uint8(len(pieces))
	if op.Transport() != roce.RC {
		p.AckReq, p.Unacked = false, true
	}
	if op.HasDETH() {
		p.UD, p.AH, p.DestQPN, p.QKey = true, port.AHN(n%16), port.QPN(0x700000+n), 0x11111111|uint32(n&8)<<28
	}
	l.req = append(l.req, p)
	l.piece = append(l.piece, pieces...)
}

// raw adds a frame that is all payload.
func (l *load) raw(qpn port.QPN, pieces ...port.TxPiece) {
	l.request(qpn, 0, pieces...)
	p := &l.req[len(l.req)-1]
	p.Raw, p.AckReq, p.Unacked = true, false, true
}

func (l *load) ack(qpn port.QPN) {
	p := packet(qpn, roce.RCAck, len(l.resp))
	p.Resp, p.AckReq, p.Solicited = true, false, false
	l.resp = append(l.resp, p)
}

// read adds a READ response with its pieces.
func (l *load) read(qpn port.QPN, op roce.Opcode, pieces ...port.TxPiece) {
	p := packet(qpn, op, len(l.resp))
	p.Resp, p.AckReq, p.Solicited = true, false, false
	for _, x := range pieces {
		p.Len += x.Len
	}
	p.NumPieces = uint8(len(pieces))
	l.resp = append(l.resp, p)
	l.data = append(l.data, pieces...)
}

// atomic adds the acknowledgement of an atomic.
func (l *load) atomic(qpn port.QPN) {
	p := packet(qpn, roce.RCAtomicAck, len(l.resp))
	p.Resp, p.AckReq, p.Solicited = true, false, false
	l.resp = append(l.resp, p)
}

func packet(qpn port.QPN, op roce.Opcode, n int) port.TxPkt {
	psn := roce.PSN(0xFFFFF0).Add(uint32(n))
	return port.TxPkt{
		QPN: qpn, Opcode: op, PSN: psn, LastPSN: psn.Add(uint32(n % 3)), AckReq: n&1 != 0, Solicited: n&2 != 0,
		Imm: 0xA1B2C3D4 + uint32(n), Syndrome: [...]uint8{0x1F, 0x00, 0x2C, 0x61}[n%4], MSN: port.MSN(n),
		Reth: port.Reth{VA: 0x1122334455667788, RKey: 0x99AABBCC, Len: uint32(n) << 8, Swap: 0x0102030405060708, Compare: 0x1112131415161718},
	}
}

// host is a piece in host memory.
func host(va port.VA, n int) port.TxPiece { return port.TxPiece{Key: localKey, VA: va, Len: uint16(n)} }

// remote is a piece of a READ response.
func remote(va port.VA, n int) port.TxPiece {
	return port.TxPiece{Key: remoteKey, VA: va, Len: uint16(n), Access: remoteRead}
}

func inline(n int, seed byte) port.TxPiece {
	p := port.TxPiece{Inline: true, Len: uint16(n)}
	for i := range p.Data {
		p.Data[i] = seed + byte(i)*3 // also behind the end
	}
	return p
}

// Every opcode, every length that matters, one piece, both IP versions.
func TestOpcodesAndLengths(t *testing.T) {
	for _, v6 := range []port.QPN{0, 1} {
		var l load
		for op := range 256 {
			if roce.Opcode(op).Valid() && roce.Opcode(op) != roce.CNP {
				l.request(0x100+v6, roce.Opcode(op), host(port.VA(op), 5+op%70))
				l.request(0x100+v6, roce.Opcode(op))
			}
		}
		for n := 1; n <= 300; n++ {
			l.request(0x200+v6, roce.RCSendOnly, host(port.VA(n*777), n))
		}
		for _, mtu := range []int{256, 512, 1024, 2048, 4096} {
			for n := mtu - 4; n <= mtu; n++ {
				l.request(0x300+v6, roce.RCSendFirst, host(port.VA(n*4099), n))
				l.request(0x300+v6, roce.RCWriteOnlyImm, host(port.VA(n*4099), n))
			}
		}
		for n := 1; n <= 64; n++ {
			l.request(0x400+v6, roce.RCSendOnlyImm, inline(n, byte(n)))
		}
		for n := range 40 {
			l.ack(0x500 + v6 + port.QPN(n)<<1)
		}
		r := run(t, setup{}, l)
		compare(t, l, r)
		for i, f := range r.Frames {
			require.Zero(t, f.Gaps, "frame %d", i)
		}
	}
}

// split cuts n bytes into pieces at odd places.
func split(rng *rand.Rand, n int, fault float64) []port.TxPiece {
	var ps []port.TxPiece
	for n > 0 {
		size := n
		if len(ps) < 3 && rng.Uint32N(4) != 0 {
			size = 1 + int(rng.Uint32N(uint32(min(n, 1+int(rng.Uint32N(200))))))
		}
		if size <= 64 && rng.Uint32N(3) == 0 {
			ps = append(ps, inline(size, byte(rng.Uint32())))
		} else {
			p := host(port.VA(rng.Uint64()>>16), size)
			if rng.Uint32N(3) == 0 { // into the next page
				p.VA = p.VA&^4095 + 4096 - port.VA(1+rng.Uint32N(uint32(size)))
			}
			if rng.Float64() < fault {
				p.Key = port.Key(1+rng.Uint32N(5)) << 8
			}
			ps = append(ps, p)
		}
		n -= size
	}
	return ps
}

func random(seed uint64, packets int, fault float64) load {
	rng := rand.New(rand.NewPCG(seed, 2))
	ops := []roce.Opcode{roce.RCSendFirst, roce.RCSendMiddle, roce.RCSendLast, roce.RCSendLastImm, roce.RCSendOnly, roce.RCSendOnlyImm,
		roce.RCSendLastInv, roce.RCSendOnlyInv, roce.RCWriteOnly, roce.RCWriteOnlyImm, roce.RCWriteLastImm, roce.RCReadRequest, roce.RCCmpSwap,
		roce.UCSendFirst, roce.UCWriteOnlyImm, roce.UDSendOnly, roce.UDSendOnlyImm}
	var l load
	for range packets {
		qpn := port.QPN(0x1000 + rng.Uint32N(24))
		if rng.Uint32N(12) == 0 {
			qpn |= 0xD000
		}
		op := ops[rng.IntN(len(ops))]
		n := 0
		switch rng.Uint32N(8) {
		case 0:
		case 1:
			n = int(rng.Uint32N(4097))
		default:
			n = int(rng.Uint32N(300))
		}
		if op == roce.RCReadRequest || op == roce.RCCmpSwap {
			n = 0
		}
		if rng.Uint32N(8) == 0 {
			l.raw(qpn, split(rng, max(14, min(n, 4096)), fault)...)
		} else {
			l.request(qpn, op, split(rng, n, fault)...)
			if op.HasDETH() && fault > 0 && rng.Uint32N(20) == 0 {
				l.req[len(l.req)-1].AH = badAH
			}
		}
		responder := port.QPN(0x2000 + rng.Uint32N(24))
		switch rng.Uint32N(9) {
		case 0, 1, 2:
			l.ack(responder)
		case 3:
			l.atomic(responder)
		case 4, 5:
			if rng.Uint32N(10) == 0 {
				responder = responder&0xFFF | 0xD000
			}
			for range 1 + rng.Uint32N(4) {
				n := 1 + int(rng.Uint32N(300))
				if rng.Uint32N(4) == 0 {
					n = 1 + int(rng.Uint32N(4096))
				}
				p := split(rng, n, fault)
				for i := range p {
					if p[i].Access = remoteRead; p[i].Key == localKey {
						p[i].Key = remoteKey
					}
				}
				l.read(responder, [...]roce.Opcode{roce.RCReadRespFirst, roce.RCReadRespMiddle, roce.RCReadRespLast}[rng.Uint32N(3)], p...)
				l.resp[len(l.resp)-1].Again = rng.Uint32N(3) == 0
			}
		case 6:
			l.read(responder, roce.RCReadRespOnly)
		}
		if rng.Uint32N(30) == 0 {
			l.ack(0xD001)
		}
		if rng.Uint32N(40) == 0 {
			l.req = append(l.req, port.TxPkt{Purge: true, QPN: port.QPN(len(l.req))})
		}
	}
	return l
}

// Pieces with odd splits, page crossings, drops, faults and markers, with random
// latencies and throttling, and buffers of default and of smallest size.
func TestRandom(t *testing.T) {
	for seed := uint64(1); seed <= 12; seed++ {
		s := setup{seed: seed, cycles: 100000}
		if seed%3 == 0 {
			s.params = pkttx.Params{PayloadBeats: 66, Packets: 2, Asked: 2}
		}
		fault := 0.0
		if seed%2 == 0 {
			fault = 0.03
		}
		l := random(seed, 250, fault)
		r := run(t, s, l)
		compare(t, l, r)
		if fault > 0 {
			require.NotEmpty(t, r.Faults)
			require.NotEmpty(t, r.Refuse)
		}
	}
}

func TestFaultStatus(t *testing.T) {
	for key, want := range map[port.Key]port.SQFault{
		badKey:    {Status: 4, Vendor: 7},
		badPD:     {Status: 4, Vendor: 8},
		badBounds: {Status: 4, Vendor: 9},
		badAccess: {Status: 4, Vendor: 10},
		badRead:   {Status: 2, Vendor: 15},
	} {
		bad := port.TxPiece{Key: key, VA: 0x5000, Len: 150}
		var l load
		l.request(0x10, roce.RCSendFirst, host(1, 100))
		l.request(0x10, roce.RCSendMiddle, host(0, 30), bad, host(7, 40), bad)
		l.request(0x10, roce.RCSendLast, bad)
		l.request(0x10, roce.RCSendOnly, host(1, 100))
		l.request(0x12, roce.RCSendOnly, host(1, 100))
		r := run(t, setup{}, l)
		compare(t, l, r)
		want.QPN, want.PSN = 0x10, l.req[1].PSN
		require.Equal(t, []port.SQFault{want}, r.Faults)
	}
}

// A packet that qpc drops costs no read.
func TestDropReadsNothing(t *testing.T) {
	var l load
	for range 20 {
		l.request(0xD000, roce.RCSendOnly, host(0x100, 500), inline(3, 3), host(0x200, 20))
	}
	l.request(0x10, roce.RCSendOnly, host(0x300, 9))
	r := run(t, setup{}, l)
	compare(t, l, r)
	require.Len(t, r.Reads, 1)
}

// A port that is off is a wire that loses all: the ACK timer runs.
func TestPortOff(t *testing.T) {
	var l load
	l.request(0x10, roce.RCSendOnly, host(0, 300))
	l.request(0x10, roce.RCSendOnly)
	l.ack(0x10)
	l.req = append(l.req, port.TxPkt{Purge: true, QPN: 5})
	r := run(t, setup{off: true}, l)
	require.Empty(t, r.Frames)
	require.Equal(t, []port.Purge{{QPN: 5}}, r.Purges)
	require.Equal(t, []port.Left{{QPN: 0x10, LastPSN: l.req[1].LastPSN}}, r.Left)
}

// The marker leaves behind the frames before it, responses too.
func TestPurgeKeepsItsPlace(t *testing.T) {
	b := build(setup{line: 10}) // so that frames wait
	var sealed []uint64
	b.Purge.OnTake = func(port.Purge) { sealed = append(sealed, b.TX.Seal.Stats.Get().TxPackets) }
	k := elaborate(t, b)
	var l load
	for i := range 10 {
		l.request(0x10, roce.RCSendOnly, inline(i+1, 0))
		l.ack(0x20)
	}
	b.feed(l)
	b.Req.Push(port.TxPkt{Purge: true, QPN: 0x10})
	require.NoError(t, k.Run(1000))
	for range 10 {
		l.ack(0x20)
	}
	b.Resp.Push(l.resp[10:]...)
	require.NoError(t, k.Run(1020)) // qpc has answered, and nearly all wait
	b.Req.Push(port.TxPkt{Purge: true, QPN: 0x11})
	require.NoError(t, k.Run(1040))
	for range 5 { // behind the markers
		b.Resp.Push(l.resp[0])
		b.Req.Push(port.TxPkt{QPN: 0x10, Opcode: roce.RCSendOnly})
	}
	require.NoError(t, k.Run(3000))
	require.Equal(t, []port.Purge{{QPN: 0x10}, {QPN: 0x11}}, b.Purge.Got)
	require.GreaterOrEqual(t, sealed[0], uint64(20-2), "at most two frames are between Send and Seal")
	require.GreaterOrEqual(t, sealed[1], uint64(30-2))
	require.Equal(t, uint64(40), b.TX.Seal.Stats.Get().TxPackets)
}

// A flood of responses does not hold the marker back.
func TestPurgePassesResponses(t *testing.T) {
	b := build(setup{line: 10})
	k := elaborate(t, b)
	var l load
	for range 200 {
		l.ack(0x20)
	}
	b.Resp.Push(l.resp...)
	require.NoError(t, k.Run(500))
	b.Req.Push(port.TxPkt{Purge: true, QPN: 0x10})
	require.NoError(t, k.Run(1500))
	require.Len(t, b.Purge.Got, 1)
	require.NotZero(t, b.Resp.Pending())
}
