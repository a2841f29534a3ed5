package pktrx_test

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/mac"
	pktrx "rnic/rtl/pkt_rx"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

var own = roce.HostMAC(1)

// beats cuts a frame.
func beats(frame []byte) []port.EthBeat {
	var bs []port.EthBeat
	for len(frame) > 0 {
		var b port.EthBeat
		n := copy(b.Data[:], frame)
		frame = frame[n:]
		b.Len, b.Last = uint8(n), len(frame) == 0
		bs = append(bs, b)
	}
	return bs
}

// wire is a frame as the wire carries it: padded, with FCS.
func wire(frame []byte) []byte {
	w := pad(frame)
	return binary.LittleEndian.AppendUint32(w, crc32.ChecksumIEEE(w))
}

func pad(frame []byte) []byte {
	w := append([]byte{}, frame...)
	for len(w) < 60 {
		w = append(w, 0)
	}
	return w
}

// delivered is what came out for a good frame.
type delivered struct {
	Pkt     port.RxPkt
	Payload []byte
	At      uint64 // cycle in which Pkt was taken
}

// placer takes packets, reads their payload and frees them, as ack_gen and
// scatter do together.
type placer struct {
	Pkt     agent.Sink[port.RxPkt]
	Read    agent.Source[port.RxRead]
	Data    agent.Sink[port.Beat]
	Free    agent.Source[port.RxFree]
	got     []delivered
	reading int // oldest packet that is not complete
	fault   string
}

func (p *placer) connect(rx *pktrx.RX, depth int) {
	hdl.Connect(&rx.Pkt, &p.Pkt.In, depth)
	hdl.Connect(&p.Read.Out, &rx.Read, 2)
	hdl.Connect(&rx.Data, &p.Data.In, 2)
	hdl.Connect(&p.Free.Out, &rx.Free, 2)
	p.Pkt.OnTake = func(pkt port.RxPkt) {
		p.got = append(p.got, delivered{Pkt: pkt})
		if pkt.Len > 0 {
			p.Read.Push(port.RxRead{Addr: pkt.BufAddr, Len: pkt.Len})
		}
		p.retire()
	}
	p.Data.OnTake = func(b port.Beat) {
		if p.reading == len(p.got) {
			p.fault = "payload nobody asked for"
			return
		}
		g := &p.got[p.reading]
		from := 0
		if len(g.Payload) == 0 {
			from = int(g.Pkt.BufAddr % 64)
		}
		g.Payload = append(g.Payload, b.Data[from:b.Len]...)
		if b.Last != (len(g.Payload) == int(g.Pkt.Len)) {
			p.fault = "Last does not agree with the length"
		}
		p.retire()
	}
}

// retire frees the packets that are complete, in order.
func (p *placer) retire() {
	for p.reading < len(p.got) && len(p.got[p.reading].Payload) == int(p.got[p.reading].Pkt.Len) {
		p.Free.Push(port.RxFree{Beats: p.got[p.reading].Pkt.FrameBeats})
		p.reading++
	}
}

// level drives PortReg.
type level struct {
	hdl.Regs[struct{ Done bool }]
	PortReg hdl.Sig[port.PortReg]
	off     bool
	raw     port.QPN
}

func (l *level) Eval() {
	if !l.Q.Done {
		l.D.Done = true
		l.PortReg.Set(port.PortReg{Enable: !l.off, MAC: own, MTU: 4096, RawQPN: l.raw})
	}
}

// setup is how a bench is to be built.
type setup struct {
	params   pktrx.Params
	depth    int // of Pkt; 0: PktDepth
	throttle uint64
	from     uint64 // cycle in which the placer begins to read and to free
	off      bool
	mac      bool // through the MAC, with FCS; else straight in
	raw      port.QPN
}

type bench struct {
	Wire  agent.Source[port.EthBeat]
	Level level
	MAC   *mac.MAC
	RX    *pktrx.RX
	Place placer
}

type result struct {
	Got   []delivered
	Stats port.RxStats
	Data  []uint64 // cycles of the beats of payload
}

// run puts frames, without FCS and not padded, through the block in all modes of
// the kernel.
func run(t hdltest.T, s setup, frames [][]byte) result {
	t.Helper()
	var in []port.EthBeat
	for _, f := range frames {
		if s.mac {
			f = wire(f)
		}
		in = append(in, beats(f)...)
	}
	return runBeats(t, s, in)
}

func runBeats(t hdltest.T, s setup, in []port.EthBeat) result {
	t.Helper()
	return hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, result) {
		b := build(s)
		k, err := hdl.Elaborate("bench", b, o)
		require.NoError(t, err)
		b.Wire.Push(in...)
		b.Wire.NotBefore = func(int) uint64 { return 2 }
		require.NoError(t, k.Run(uint64(len(in)*8+2000)+s.from))
		require.Zero(t, b.Wire.Pending(), "the MAC was held up")
		require.Empty(t, b.Place.fault)
		require.Len(t, b.Place.got, b.Place.reading)
		require.Zero(t, b.RX.Q.Used, "beats of rx_buf are lost")
		for i := range b.Place.got {
			b.Place.got[i].At = b.Place.Pkt.At[i]
		}
		return k, result{Got: b.Place.got, Stats: b.RX.Stats.Get(), Data: b.Place.Data.At}
	})
}

func build(s setup) *bench {
	b := &bench{RX: pktrx.New(s.params)}
	b.Level.off, b.Level.raw = s.off, s.raw
	b.Place.Pkt.Throttle.Seed, b.Place.Data.Throttle.Seed, b.Place.Free.Throttle.Seed = s.throttle, s.throttle, s.throttle
	start := func(int) uint64 { return s.from }
	b.Place.Read.NotBefore, b.Place.Free.NotBefore = start, start
	if s.depth == 0 {
		s.depth = pktrx.PktDepth
	}
	if s.mac {
		b.MAC = mac.New(mac.Params{})
		hdl.Connect(&b.Wire.Out, &b.MAC.Receive.Rx, 2)
		hdl.Connect(&b.MAC.Receive.RxOut, &b.RX.Eth, 2)
		hdl.Wire(&b.Level.PortReg, &b.MAC.Loop.PortReg)
		hdl.TieOff(&b.MAC.Transmit.TxIn, &b.MAC.Transmit.Tx)
	} else {
		hdl.Connect(&b.Wire.Out, &b.RX.Eth, 2)
	}
	hdl.Wire(&b.Level.PortReg, &b.RX.PortReg)
	b.Place.connect(b.RX, s.depth)
	return b
}

// outcome is what should become of a frame: a RoCE packet, a raw frame, or neither.
type outcome struct {
	packet roce.Packet
	good   bool
	raw    []byte // without tag
}

// expect counts a frame. Through the MAC it loses its tag.
func expect(frame []byte, s setup, want *port.RxStats) outcome {
	p, err := roce.ParseFrame(frame)
	class := &want.DropMalformed
	known := len(frame) >= roce.EthernetSize
	bare := frame
	tag := len(frame) >= 16 && p.Eth.Type == roce.EtherTypeVLAN
	if tag && s.mac {
		bare = append(append([]byte{}, frame[:12]...), frame[16:]...)
	}
	if known && s.raw != 0 && (p.Eth.Dst == own && !namesRoCE(bare) || p.Eth.Dst != own && p.Eth.Dst[0]&1 != 0) {
		if len(bare) <= 4096 {
			want.RawFrames++
			return outcome{raw: bare, packet: p}
		}
		want.DropNotRoCE++
		return outcome{}
	}
	switch d, _ := err.(roce.Drop); {
	case known && (p.Eth.Dst != own || p.Eth.Type == roce.EtherTypeVLAN && !s.mac), d.Foreign():
		class = &want.DropNotRoCE
	case d == roce.DropICRC:
		class = &want.DropICRC
	case err == nil && p.BTH.Opcode == roce.CNP:
		class = &want.DropOther
	case err == nil:
		class = nil
	}
	if class != &want.DropNotRoCE && p.UDP.DstPort == roce.Port {
		want.RxPackets++
		want.RxBytes += uint64(len(frame))
	}
	if class != nil {
		*class++
	}
	return outcome{packet: p, good: class == nil}
}

// namesRoCE tells whether a frame's headers are those of UDP port 4791.
func namesRoCE(f []byte) bool {
	port := func(at int) bool { return len(f) >= at+4 && f[at+2] == 0x12 && f[at+3] == 0xB7 }
	switch {
	case len(f) < 34:
		return false
	case f[12] == 0x86 && f[13] == 0xDD:
		return f[20] == 17 && port(54)
	case f[12] == 8 && f[13] == 0 && f[20]&31 == 0 && f[21] == 0 && f[23] == 17:
		options := 14 + 4*int(f[14]&15)
		return port(34) || options > 34 && options <= 60 && port(options)
	}
	return false
}

// packet is the RxPkt that a good frame should give, but for the buffer's part.
func packet(p *roce.Packet) port.RxPkt {
	b := &p.BTH
	k := port.RxPkt{
		Opcode: b.Opcode, QPN: port.QPN(b.DestQP), PSN: b.PSN, AckReq: b.AckReq, Solicited: b.SE, Pad: b.PadCnt,
		PKey: uint16(b.PKey), V6: p.V6, Len: uint16(len(p.Payload)),
		QKey: p.DETH.QKey, SrcQPN: port.QPN(p.DETH.SrcQP), Imm: p.Imm.Imm + p.IETH.RKey, Syndrome: uint8(p.AETH.Syndrome), MSN: port.MSN(p.AETH.MSN),
		Reth: port.Reth{
			VA: port.VA(p.RETH.VA + p.AtomicETH.VA), RKey: port.Key(p.RETH.RKey + p.AtomicETH.RKey), Len: p.RETH.Length,
			Swap: p.AtomicETH.SwapAdd + p.AtomicAckETH.Orig, Compare: p.AtomicETH.Compare,
		},
	}
	if p.V6 {
		k.SIP, k.DIP, k.CE = p.IP6.Src, p.IP6.Dst, p.IP6.ECN == roce.ECNCongestion
	} else {
		k.SIP, k.DIP, k.CE = roce.GIDFromIPv4(p.IP4.Src), roce.GIDFromIPv4(p.IP4.Dst), p.IP4.ECN == roce.ECNCongestion
	}
	return k
}

// describe is the RxPkt of a frame that is not dropped, but for the buffer's part, when
// its payload lies at addr.
func (o *outcome) describe(s setup, addr uint32) (k port.RxPkt, payload []byte) {
	p := &o.packet
	if o.raw != nil {
		k, payload = port.RxPkt{Raw: true, QPN: s.raw, Len: uint16(len(o.raw))}, o.raw
	} else {
		log := s.params.LogBeats
		if log == 0 {
			log = 11
		}
		k, payload = packet(p), p.Payload
		k.IPAddr = (addr - uint32(p.Size()-p.L3()-len(p.Payload)-int(p.BTH.PadCnt)-4-len(p.Trailer))) & (64<<log - 1)
	}
	if s.mac && p.Eth.Type == roce.EtherTypeVLAN {
		k.VLAN, k.TCI = true, uint16(p.VLAN.PCP)<<13|uint16(b2i(p.VLAN.DEI))<<12|p.VLAN.VID
	}
	return k, payload
}

// compare checks a run against the reference, frame by frame.
func compare(t hdltest.T, r result, s setup, frames [][]byte) {
	t.Helper()
	var want port.RxStats
	i := 0
	for n, f := range frames {
		if s.mac {
			f = pad(f)
		}
		o := expect(f, s, &want)
		if !o.good && o.raw == nil {
			continue
		}
		require.Less(t, i, len(r.Got), "frame %d is missing", n)
		g := r.Got[i]
		i++
		k, payload := o.describe(s, g.Pkt.BufAddr)
		require.Equal(t, len(payload), len(g.Payload), "frame %d", n)
		require.Equal(t, string(payload), string(g.Payload), "frame %d", n)
		k.BufAddr, k.FrameBeats = g.Pkt.BufAddr, g.Pkt.FrameBeats
		require.Equal(t, k, g.Pkt, "frame %d", n)
	}
	require.Len(t, r.Got, i)
	require.Equal(t, want, r.Stats)
}
