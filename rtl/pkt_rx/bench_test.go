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
}

func (l *level) Eval() {
	if !l.Q.Done {
		l.D.Done = true
		l.PortReg.Set(port.PortReg{Enable: !l.off, MAC: own, MTU: 4096})
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
	b.Level.off = s.off
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

// expect is what should become of a frame: its packet, or a counter.
func expect(frame []byte, want *port.RxStats) (roce.Packet, bool) {
	p, err := roce.ParseFrame(frame)
	class := &want.DropMalformed
	known := len(frame) >= roce.EthernetSize
	switch d, _ := err.(roce.Drop); {
	case known && (p.Eth.Dst != own || p.Eth.Type == roce.EtherTypeVLAN), d.Foreign():
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
	return p, class == nil
}

// packet is the RxPkt that a good frame should give, but for the buffer's part.
func packet(p *roce.Packet) port.RxPkt {
	b := &p.BTH
	k := port.RxPkt{
		Opcode: b.Opcode, QPN: port.QPN(b.DestQP), PSN: b.PSN, AckReq: b.AckReq, Solicited: b.SE, Pad: b.PadCnt,
		PKey: uint16(b.PKey), V6: p.V6, Len: uint16(len(p.Payload)),
		Imm: p.Imm.Imm + p.IETH.RKey, Syndrome: uint8(p.AETH.Syndrome), MSN: port.MSN(p.AETH.MSN),
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

// compare checks a run against the reference, frame by frame. padded: the frames
// went through the MAC.
func compare(t hdltest.T, r result, padded bool, frames [][]byte) {
	t.Helper()
	var want port.RxStats
	i := 0
	for n, f := range frames {
		if padded {
			f = pad(f)
		}
		p, good := expect(f, &want)
		if !good {
			continue
		}
		require.Less(t, i, len(r.Got), "frame %d is missing", n)
		g := r.Got[i]
		i++
		k := packet(&p)
		require.Equal(t, len(p.Payload), len(g.Payload), "frame %d", n)
		require.Equal(t, string(p.Payload), string(g.Payload), "frame %d", n)
		k.BufAddr, k.FrameBeats = g.Pkt.BufAddr, g.Pkt.FrameBeats
		require.Equal(t, k, g.Pkt, "frame %d", n)
	}
	require.Len(t, r.Got, i)
	require.Equal(t, want, r.Stats)
}
