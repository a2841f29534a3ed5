package pkttx_test

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/mac"
	pkttx "rnic/rtl/pkt_tx"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

var portReg = port.PortReg{
	Enable: true, MAC: roce.HostMAC(1), MTU: 4096,
}

// Parts of a key: what mpt and dma do with it.
const (
	badKey    port.Key = 0x100
	badPD     port.Key = 0x200
	badAccess port.Key = 0x300
	badBounds port.Key = 0x400
	badRead   port.Key = 0x500 // the DMA fails

	localKey  port.Key = 0x7700
	remoteKey port.Key = 0x8800
)

// remoteRead is what the key of a READ response must allow.
const remoteRead = uint8(abi.AccessRemoteRead)

// translate is where a virtual address lies on the bus: pages are scattered.
func translate(key port.Key, va port.VA) port.BusAddr {
	page := uint64(va) >> 12 * 0x9E3779B97F4A7C15 >> 24
	if key == badRead {
		page |= 1 << 45
	}
	return port.BusAddr(page<<12 | uint64(va)&0xFFF)
}

// memory is the byte at a bus address.
func memory(a port.BusAddr) byte {
	x := uint64(a) * 0xD6E8FEB86659FD93
	return byte(x >> 56)
}

func lookup(q port.MptReq) port.MptRes {
	switch q.Key {
	case badKey:
		return port.MptRes{Status: port.MptBadKey}
	case badPD:
		return port.MptRes{Status: port.MptBadPD}
	case badAccess:
		return port.MptRes{Status: port.MptBadAccess}
	case badBounds:
		return port.MptRes{Status: port.MptBadBounds}
	}
	if (q.Access == remoteRead) != (q.Key == remoteKey) && q.Key != badRead || q.PD != 7 {
		return port.MptRes{Status: port.MptBadAccess}
	}
	r := port.MptRes{Addr0: translate(q.Key, q.VA), Len0: q.Len}
	if room := 4096 - uint16(q.VA&4095); room < q.Len {
		r.Len0, r.Len1 = room, q.Len-room
		r.Addr1 = translate(q.Key, q.VA+port.VA(room))
	}
	return r
}

// answer is what dma returns for a read.
func answer(q port.ReadReq) []port.ReadBeat {
	bad := q.Addr>>57&1 != 0
	var bs []port.ReadBeat
	lane := int(q.Shift)
	var b port.ReadBeat
	for i := range q.Len {
		b.Data[lane] = memory(q.Addr + port.BusAddr(i))
		lane++
		last := i == q.Len-1
		if lane == 64 || last {
			b.Len, b.Last, b.Err = uint8(lane), last, last && bad
			bs = append(bs, b)
			b, lane = port.ReadBeat{}, 0
		}
	}
	if bad && len(bs) > 1 { // an error may cut the data short
		return bs[len(bs)-1:]
	}
	return bs
}

// qp is the test's choice of what qpc answers for a number.
func qp(n port.QPN) port.TxHdr {
	h := port.TxHdr{
		Drop: n&0xF000 == 0xD000, PD: 7, DestQPN: n ^ 0x800001, PKey: 0xFFFF, DMAC: roce.HostMAC(2),
		V6: n&1 != 0, SPort: 0xC000 | uint16(n), TOS: uint8(n), TTL: uint8(60 + n&3), Flow: uint32(n) << 4 & 0xFFFFF,
		DIP: roce.GIDFromIPv4(roce.HostIPv4(2)), SIP: roce.GIDFromIPv4(roce.HostIPv4(uint8(3 + n&1))),
		VLAN: n&4 != 0, QKey: uint32(n) * 77,
	}
	if h.V6 {
		h.DIP, h.SIP = roce.HostIPv6(2), roce.HostIPv6(uint8(3+n&7))
	}
	if h.VLAN {
		h.TCI = uint16(n) * 3
	}
	return h
}

// badAH is an address handle that does not exist.
const badAH port.AHN = 0xBAD

// headers is what qpc answers. A datagram goes where its address handle says.
func headers(q port.TxHdrReq) port.TxHdr {
	h := qp(q.QPN)
	if q.UD {
		ah := qp(port.QPN(q.AH))
		h.DMAC, h.V6, h.SIP, h.DIP, h.SPort, h.VLAN, h.TCI = ah.DMAC, ah.V6, ah.SIP, ah.DIP, ah.SPort, ah.VLAN, ah.TCI
		h.BadAH = q.AH == badAH
	}
	return h
}

// level drives PortReg.
type level struct {
	hdl.Regs[struct{ Done bool }]
	PortReg hdl.Sig[port.PortReg]
	reg     port.PortReg
}

func (l *level) Eval() {
	if !l.Q.Done {
		l.D.Done = true
		l.PortReg.Set(l.reg)
	}
}

type bench struct {
	Level     level
	Req       agent.Source[port.TxPkt]
	Piece     agent.Source[port.TxPiece]
	Resp      agent.Source[port.TxPkt]
	RespPiece agent.Source[port.TxPiece] // of Resp
	QPC       agent.Responder[port.TxHdrReq, port.TxHdr]
	MPT       agent.Responder[port.MptReq, port.MptRes]
	Read      agent.Sink[port.ReadReq]
	Data      agent.Source[port.ReadBeat]
	Fault     agent.Sink[port.SQFault]
	Refuse    agent.Sink[port.SQFault] // RespFault
	Purge     agent.Sink[port.Purge]
	Stale     agent.Source[port.Stale]
	Left      agent.Sink[port.Left]
	Eth       agent.Sink[port.EthBeat]
	Mark      marker
	TX        *pkttx.TX
	MAC       *mac.MAC // nil, or both ends of a line between Seal and Eth
	failed    map[port.QPN]bool
	due       []uint64 // cycle of each beat of Data
	t         hdltest.T
}

// setup is how a bench is to be built.
type setup struct {
	params    pkttx.Params
	seed      uint64 // of throttles and latencies; 0: none, fixed latencies
	qpcCycles uint64 // 0: 4
	dmaCycles uint64 // 0: 20
	off       bool
	cycles    uint64 // to run; 0: 30000
	line      uint32 // Gb/s of a line behind Eth; 0: none
	marks     uint64 // seed of markers among the answers of mpt; 0: none
	markMax   int    // under way at once
	t         hdltest.T
}

func build(s setup) *bench {
	b := &bench{TX: pkttx.New(s.params), failed: map[port.QPN]bool{}}
	b.Level.reg = portReg
	b.Level.reg.Enable = !s.off
	t := b.TX
	hdl.Wire(&b.Level.PortReg, &t.Send.PortReg)
	hdl.Connect(&b.Req.Out, &t.Ask.Req, 2)
	hdl.Connect(&b.Piece.Out, &t.Translate.ReqPiece, 2)
	hdl.Connect(&b.Resp.Out, &t.Ask.Resp, 2)
	hdl.Connect(&b.RespPiece.Out, &t.Translate.RespPiece, 2)
	hdl.Connect(&t.Ask.HdrReq, &b.QPC.In, 2)
	hdl.Connect(&b.QPC.Out, &t.Ask.Hdr, 2)
	hdl.Connect(&t.Translate.Mpt, &b.MPT.In, 2)
	hdl.Connect(&b.MPT.Out, &b.Mark.In, 2)
	hdl.Connect(&b.Mark.Out, &t.Load.MptRes, pkttx.MptDepth)
	b.Mark.b, b.Mark.seed, b.Mark.max, b.t = b, s.marks, s.markMax, s.t
	b.Mark.rng = rand.New(rand.NewPCG(s.marks, 6))
	hdl.Connect(&t.Load.Read, &b.Read.In, 2)
	hdl.Connect(&b.Data.Out, &t.Buffer.Data, 2)
	hdl.Connect(&t.Buffer.Fenced, &b.Mark.Back, 2)
	hdl.Connect(&t.Send.Fault, &b.Fault.In, 2)
	hdl.Connect(&t.Send.RespFault, &b.Refuse.In, 2)
	hdl.Connect(&t.Send.Purge, &b.Purge.In, 2)
	hdl.Connect(&b.Stale.Out, &t.Send.Stale, 2)
	hdl.Connect(&t.Send.Left, &b.Left.In, 2)
	if s.line == 0 {
		hdl.Connect(&t.Seal.Eth, &b.Eth.In, 2)
	} else {
		b.MAC = mac.New(mac.Params{RateNum: s.line})
		hdl.Connect(&t.Seal.Eth, &b.MAC.Transmit.TxIn, 2)
		hdl.Connect(&b.MAC.Transmit.Tx, &b.MAC.Receive.Rx, 2)
		hdl.Connect(&b.MAC.Receive.RxOut, &b.Eth.In, 2)
		hdl.Wire(&b.Level.PortReg, &b.MAC.Loop.PortReg)
	}
	draw := func(n uint32) uint64 { return 0 }
	if s.seed != 0 {
		rng := rand.New(rand.NewPCG(s.seed, 1))
		draw = func(n uint32) uint64 { return uint64(rng.Uint32N(n)) }
		for _, t := range []*agent.Throttle{
			&b.Req.Throttle, &b.Piece.Throttle, &b.Resp.Throttle, &b.RespPiece.Throttle, &b.Refuse.Throttle,
			&b.QPC.Throttle, &b.MPT.Throttle,
			&b.Read.Throttle, &b.Data.Throttle, &b.Fault.Throttle, &b.Purge.Throttle, &b.Eth.Throttle,
		} {
			t.Seed = s.seed
		}
	}
	qpc := s.qpcCycles
	if qpc == 0 {
		qpc = 4
	}
	b.QPC.Latency = func() uint64 { return qpc + draw(30) }
	b.MPT.Latency = func() uint64 { return 4 + draw(20) }
	b.QPC.Answer = func(q port.TxHdrReq) port.TxHdr {
		h := headers(q)
		h.Drop = h.Drop || b.failed[q.QPN] && !q.Resp
		return h
	}
	b.MPT.Answer = lookup
	b.Fault.OnTake = func(f port.SQFault) { b.failed[f.QPN] = true }
	dma := s.dmaCycles
	if dma == 0 {
		dma = 20
	}
	b.Read.OnTake = func(q port.ReadReq) {
		at := b.Read.Now() + dma + draw(200)
		beats := answer(q)
		b.Mark.asked(q, len(beats))
		for _, beat := range beats {
			b.due = append(b.due, at)
			b.Data.Push(beat)
		}
	}
	b.Data.NotBefore = func(n int) uint64 { return b.due[n] }
	return b
}

// sent is a frame on Eth.
type sent struct {
	Frame []byte
	VLAN  bool
	TCI   uint16
	First uint64 // cycle of the first beat
	Last  uint64
	Gaps  int // cycles without a beat inside the frame
}

type result struct {
	Frames []sent
	Faults []port.SQFault
	Refuse []port.SQFault
	Purges []port.Purge
	Left   []port.Left
	Reads  []port.ReadReq
	Stats  port.TxStats
}

// load is what a bench is fed with.
type load struct {
	req   []port.TxPkt
	piece []port.TxPiece
	resp  []port.TxPkt
	data  []port.TxPiece // of resp
}

// feed gives a bench its load.
func (b *bench) feed(l load) {
	b.Req.Push(l.req...)
	b.Piece.Push(l.piece...)
	b.Resp.Push(l.resp...)
	b.RespPiece.Push(l.data...)
}

func run(t hdltest.T, s setup, l load) result {
	t.Helper()
	return hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, result) {
		b := build(s)
		k, err := hdl.Elaborate("bench", b, o)
		require.NoError(t, err)
		b.feed(l)
		cycles := s.cycles
		if cycles == 0 {
			cycles = 30000
		}
		require.NoError(t, k.Run(cycles))
		require.Zero(t, b.Req.Pending(), "requests left over")
		require.Zero(t, b.Piece.Pending(), "pieces left over")
		require.Zero(t, b.Resp.Pending(), "responses left over")
		require.Zero(t, b.RespPiece.Pending(), "pieces of responses left over")
		require.Zero(t, b.Data.Pending(), "payload left over")
		return k, result{join(t, b.Eth.Got, b.Eth.At), b.Fault.Got, b.Refuse.Got, b.Purge.Got, b.Left.Got, b.Read.Got, b.TX.Seal.Stats.Get()}
	})
}

// join puts frames together.
func join(t hdltest.T, bs []port.EthBeat, at []uint64) []sent {
	var fs []sent
	var f sent
	for i, b := range bs {
		require.True(t, b.Len >= 1 && b.Len <= 64 && (b.Last || b.Len == 64) && !b.Bad)
		if f.Frame == nil {
			f.First, f.VLAN, f.TCI = at[i], b.VLAN, b.TCI
		} else {
			require.False(t, b.VLAN || b.TCI != 0, "a tag in the middle")
			f.Gaps += int(at[i] - at[i-1] - 1)
		}
		f.Frame = append(f.Frame, b.Data[:b.Len]...)
		if b.Last {
			f.Last = at[i]
			fs = append(fs, f)
			f = sent{}
		}
	}
	require.Nil(t, f.Frame, "frame without end")
	return fs
}
