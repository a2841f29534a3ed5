package pkttx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/roce"
	pkttx "rnic/rtl/pkt_tx"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

func elaborate(t *testing.T, b *bench) *hdl.Kernel {
	k, err := hdl.Elaborate("bench", b, hdl.Options{})
	require.NoError(t, err)
	return k
}

// From TxPkt at Req to the first beat at Eth, with a qpc that answers in 4 cycles.
func TestLatency(t *testing.T) {
	for _, c := range []struct {
		name   string
		add    func(l *load)
		cycles uint64
	}{
		{"response", func(l *load) { l.ack(0x10) }, 8},
		{"no payload", func(l *load) { l.request(0x10, roce.RCSendOnly) }, 9},
		{"inline", func(l *load) { l.request(0x10, roce.RCSendOnly, inline(8, 1)) }, 13},
		{"inline over two beats", func(l *load) { l.request(0x10, roce.RCSendOnly, inline(64, 1)) }, 14},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l load
			c.add(&l)
			r := run(t, setup{}, l)
			require.Len(t, r.Frames, 1)
			require.Equal(t, 1+c.cycles, r.Frames[0].First, "put in cycle 0, at Req in cycle 1")
		})
	}
}

// rate is cycles a packet in the steady state, and checks for gaps.
func rate(t *testing.T, s setup, n int, l load) float64 {
	r := run(t, s, l)
	require.Len(t, r.Frames, n)
	for i, f := range r.Frames {
		require.Zero(t, f.Gaps, "frame %d", i)
	}
	first, last := r.Frames[n/4].Last, r.Frames[n-1].Last
	return float64(last-first) / float64(n-1-n/4)
}

// Payload from host memory 125 cycles away leaves at a beat a cycle, which is
// faster than the line at each MTU.
func TestLineRate(t *testing.T) {
	for _, mtu := range []int{256, 512, 1024, 2048, 4096} {
		for _, v6 := range []port.QPN{0, 1} {
			var l load
			n := 40 + 40*256/mtu
			for i := range n {
				l.request(0x10+v6, roce.RCSendMiddle, host(port.VA(i*mtu+13), mtu))
			}
			got := rate(t, setup{dmaCycles: 125, cycles: 40000}, n, l)
			frame := 62 + int(v6)*20 - 4 + mtu + 4 // without FCS
			line := float64(frame+4+20) / 50
			require.LessOrEqual(t, got, max(line, 1+float64((frame+63)/64)), "MTU %d", mtu)
			t.Logf("MTU %d: %.2f cycles a packet, the line takes %.2f", mtu, got, line)
		}
	}
}

// Packets of 64 bytes: at most 4 cycles each, from host memory or inline, over
// one QP or many, with responses between them.
func TestSmallPackets(t *testing.T) {
	for _, c := range []struct {
		name string
		one  func(i int) port.TxPiece
		acks int
		max  float64
	}{
		{"host memory", func(i int) port.TxPiece { return host(port.VA(i*64), 64) }, 0, 2.5},
		{"inline", func(i int) port.TxPiece { return inline(64, byte(i)) }, 0, 2.5},
		{"with responses", func(i int) port.TxPiece { return host(port.VA(i*64), 64) }, 200, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l load
			for i := range 200 {
				l.request(port.QPN(0x10+i%16*2), roce.RCSendOnly, c.one(i))
			}
			for range c.acks {
				l.ack(0x30)
			}
			got := rate(t, setup{dmaCycles: 60}, 200+c.acks, l)
			t.Logf("%.2f cycles a packet", got)
			require.LessOrEqual(t, got, c.max)
		})
	}
}

// Reads do not run ahead of what PCIe can bring, a packet and 1,024 bytes aside, and do
// not fall behind either.
func TestReadsArePaced(t *testing.T) {
	for _, n := range []int{64, 256, 1000, 1024, 4096} {
		b := build(setup{dmaCycles: 400})
		var l load
		for i := range 64 {
			l.request(0x10, roce.RCSendMiddle, host(port.VA(i*n), n))
		}
		k := elaborate(t, b)
		b.feed(l)
		require.NoError(t, k.Run(400))
		sum := 0
		for i, at := range b.Read.At {
			most := int(at-b.Read.At[0])*63 + 1024 + 63
			require.LessOrEqual(t, sum, most, "read %d of %d bytes", i, n)
			got := int(b.Read.Got[i].Len)
			sum += got + (got+255)/256*20
			if n >= 1000 { // others are held by Translate, a packet a cycle, and by the lane
				require.GreaterOrEqual(t, sum, min(most-1024-2*63, 30<<10), "read %d of %d bytes", i, n)
			}
		}
		require.Greater(t, sum, min(60*64, 20<<10))
	}
}

// With reads that take 500 cycles, at least 48 packets and 16 KiB are under way.
func TestReadsAhead(t *testing.T) {
	for _, n := range []int{64, 1024} {
		b := build(setup{dmaCycles: 500})
		var l load
		for i := range 100 {
			l.request(0x10, roce.RCSendMiddle, host(port.VA(i*n), n))
		}
		k := elaborate(t, b)
		b.feed(l)
		require.NoError(t, k.Run(450))
		require.Empty(t, b.Eth.Got)
		if n == 64 {
			require.GreaterOrEqual(t, len(b.Read.Got), 48)
		} else {
			require.GreaterOrEqual(t, len(b.Read.Got)*n, 16<<10)
		}
	}
}

// Responses overtake requests whose payload is not there, and requests that are
// ready come through a flood of responses.
func TestLanesAreFair(t *testing.T) {
	var l load
	l.request(0x10, roce.RCSendOnly, host(0, 100))
	for range 30 {
		l.ack(0x20)
	}
	r := run(t, setup{dmaCycles: 1000}, l)
	compare(t, l, r)
	require.Len(t, r.Frames[30].Frame, 54+100+4)
	require.Less(t, r.Frames[29].Last, uint64(100))

	l = load{}
	for i := range 40 {
		l.request(0x10, roce.RCSendOnly, host(port.VA(i), 100))
	}
	for range 1000 {
		l.ack(0x20)
	}
	r = run(t, setup{}, l)
	compare(t, l, r)
	requests := 0
	for i, f := range r.Frames {
		if len(f.Frame) > 100 {
			requests++
			require.Less(t, i, 100+requests*5)
		}
	}
	require.Equal(t, 40, requests)
}

// directory is a qpc without memory of its own, for it is to allocate nothing.
type directory struct {
	hdl.Regs[struct{ _ bool }]
	In  hdl.In[port.TxHdrReq]
	Out hdl.Out[port.TxHdr]
}

func (d *directory) Eval() {
	if d.In.Valid() && d.Out.Ready() {
		d.Out.Put(headers(*d.In.Take()))
	}
}

func TestNoAllocations(t *testing.T) {
	var b struct {
		Level level
		Req   agent.Source[port.TxPkt]
		Piece agent.Source[port.TxPiece]
		Resp  agent.Source[port.TxPkt]
		Data  agent.Source[port.TxPiece]
		QPC   directory
		Left  agent.Sink[port.Left]
		Eth   agent.Sink[port.EthBeat]
		TX    *pkttx.TX
	}
	b.Level.reg, b.TX = portReg, pkttx.New(pkttx.Params{})
	tx := b.TX
	hdl.Wire(&b.Level.PortReg, &tx.Send.PortReg)
	hdl.Connect(&b.Req.Out, &tx.Ask.Req, 2)
	hdl.Connect(&b.Piece.Out, &tx.Translate.ReqPiece, 2)
	hdl.Connect(&b.Resp.Out, &tx.Ask.Resp, 2)
	hdl.Connect(&b.Data.Out, &tx.Translate.RespPiece, 2)
	hdl.Connect(&tx.Ask.HdrReq, &b.QPC.In, 2)
	hdl.Connect(&b.QPC.Out, &tx.Ask.Hdr, 2)
	hdl.Connect(&tx.Seal.Eth, &b.Eth.In, 2)
	hdl.Connect(&tx.Send.Left, &b.Left.In, 2)
	hdl.TieOff(&tx.Send.Stale)
	hdl.TieOff(&tx.Translate.Mpt, &tx.Load.MptRes, &tx.Load.Read, &tx.Buffer.Data, &tx.Buffer.Fenced, &tx.Send.Fault, &tx.Send.RespFault, &tx.Send.Purge)
	k, err := hdl.Elaborate("bench", &b, hdl.Options{})
	require.NoError(t, err)
	var l load
	for i := range 500 {
		l.request(port.QPN(0x10+i%2), roce.RCWriteOnlyImm, inline(50, 1), inline(60, 2))
		l.ack(0x10)
		l.read(0x11, roce.RCReadRespMiddle, inline(40, 3))
	}
	b.Req.Push(l.req...)
	b.Piece.Push(l.piece...)
	b.Resp.Push(l.resp...)
	b.Data.Push(l.data...)
	b.Eth.Got, b.Eth.At = make([]port.EthBeat, 0, 8000), make([]uint64, 0, 8000)
	b.Left.Got, b.Left.At = make([]port.Left, 0, 1000), make([]uint64, 0, 1000)
	require.NoError(t, k.Run(100))
	require.Zero(t, testing.AllocsPerRun(1000, k.Step))
	require.Greater(t, tx.Seal.Stats.Get().TxPackets, uint64(400))
}

// Whatever the rate of the line, the MAC never waits for a beat inside a frame.
func TestNoUnderrun(t *testing.T) {
	for _, rate := range []uint32{25, 100, 400} {
		b := build(setup{params: pkttx.Params{PayloadBeats: 70}, line: rate})
		k := elaborate(t, b)
		l := random(uint64(rate), 300, 0)
		b.feed(l)
		require.NoError(t, k.Run(100000))
		require.Zero(t, b.MAC.Transmit.Q.Underruns)
		frames := uint64(0)
		for _, x := range b.Eth.Got {
			require.False(t, x.Bad)
			if x.Last {
				frames++
			}
		}
		stats := b.TX.Seal.Stats.Get()
		require.Equal(t, stats.TxPackets+stats.RawFrames, frames)
		require.Greater(t, frames, uint64(300))
	}
}
