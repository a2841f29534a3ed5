package mac_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/mac"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

// beats cuts a frame.
func beats(frame []byte) []port.EthBeat {
	var bs []port.EthBeat
	for len(frame) > 0 {
		var b port.EthBeat
		n := copy(b.Data[:], frame)
		for i := range b.Data[n:] {
			b.Data[n+i] = 0xEE // means nothing
		}
		frame = frame[n:]
		b.Len, b.Last = uint8(n), len(frame) == 0
		bs = append(bs, b)
	}
	return bs
}

// received is a frame put together again.
type received struct {
	Frame []byte
	Bad   bool
	VLAN  bool
	TCI   uint16
	Start uint64 // cycle of the first beat
	End   uint64 // cycle of the last beat
	Beats int
}

// join puts frames together and checks the rules of beats.
func join(t hdltest.T, bs []port.EthBeat, at []uint64) []received {
	var fs []received
	var f received
	for i, b := range bs {
		require.True(t, b.Len >= 1 && b.Len <= 64, "length %d", b.Len)
		require.True(t, b.Last || b.Len == 64 && !b.Bad, "a beat in the middle")
		if f.Beats == 0 {
			f.Start, f.VLAN, f.TCI = at[i], b.VLAN, b.TCI
		} else {
			require.False(t, b.VLAN || b.TCI != 0, "a tag in the middle")
		}
		f.Frame = append(f.Frame, b.Data[:b.Len]...)
		f.Beats++
		if b.Last {
			f.Bad, f.End = b.Bad, at[i]
			fs = append(fs, f)
			f = received{}
		}
	}
	require.Zero(t, f.Beats, "frame without end")
	return fs
}

func pattern(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// wire is what a frame looks like on the wire.
func wire(frame []byte) []byte {
	w := append([]byte{}, frame...)
	for len(w) < 60 {
		w = append(w, 0)
	}
	return binary.LittleEndian.AppendUint32(w, crc32.ChecksumIEEE(w))
}

// bench has the two directions apart, so that each can be watched.
type bench struct {
	TxSource agent.Source[port.EthBeat]
	Wire     agent.Sink[port.EthBeat]
	RxWire   agent.Source[port.EthBeat]
	RxSink   agent.Sink[port.EthBeat]
	MAC      *mac.MAC
	Level    level
}

// own is the address of the port.
var own = roce.HostMAC(1)

// level drives PortReg.
type level struct {
	hdl.Regs[struct{ Done bool }]
	PortReg hdl.Sig[port.PortReg]
}

func (l *level) Eval() {
	if !l.Q.Done {
		l.D.Done = true
		l.PortReg.Set(port.PortReg{Enable: true, MAC: own})
	}
}

func newBench(t hdltest.T, p mac.Params, o hdl.Options) (*bench, *hdl.Kernel) {
	b := &bench{MAC: mac.New(p)}
	hdl.Connect(&b.TxSource.Out, &b.MAC.Transmit.TxIn, 2)
	hdl.Connect(&b.MAC.Transmit.Tx, &b.Wire.In, 2)
	hdl.Connect(&b.RxWire.Out, &b.MAC.Receive.Rx, 2)
	hdl.Connect(&b.MAC.Receive.RxOut, &b.RxSink.In, 2)
	hdl.Wire(&b.Level.PortReg, &b.MAC.Loop.PortReg)
	k, err := hdl.Elaborate("bench", b, o)
	require.NoError(t, err)
	return b, k
}

// transmit sends frames through the transmitter, in any mode of the kernel.
func transmit(t hdltest.T, p mac.Params, cycles uint64, in []port.EthBeat) []received {
	return hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []received) {
		b, k := newBench(t, p, o)
		b.TxSource.Push(in...)
		require.NoError(t, k.Run(cycles))
		require.Zero(t, b.TxSource.Pending())
		return k, join(t, b.Wire.Got, b.Wire.At)
	})
}

// receive puts beats on the wire, one a cycle.
func receive(t hdltest.T, p mac.Params, in []port.EthBeat) []received {
	return hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []received) {
		b, k := newBench(t, p, o)
		b.RxWire.Push(in...)
		require.NoError(t, k.Run(uint64(len(in)+10)))
		require.Zero(t, b.RxWire.Pending(), "the wire was held up")
		return k, join(t, b.RxSink.Got, b.RxSink.At)
	})
}

func TestTransmitLengths(t *testing.T) {
	var in []port.EthBeat
	var want [][]byte
	add := func(n int) {
		f := pattern(n, 1)
		in, want = append(in, beats(f)...), append(want, wire(f))
	}
	for n := 1; n <= 300; n++ {
		add(n)
	}
	for n := 4090; n <= 4212; n += 3 {
		add(n)
	}
	got := transmit(t, mac.Params{}, 10000, in)
	require.Len(t, got, len(want))
	for i, f := range got {
		require.Equal(t, want[i], f.Frame, "frame %d", i)
		require.Equal(t, (len(want[i])+63)/64, f.Beats)
	}
}

// Each beat leaves in the cycle in which the line has sent all before it, and one
// a cycle.
func TestPace(t *testing.T) {
	for _, c := range []struct {
		num, den uint32
		period   uint32
	}{{10, 1, 4000}, {25, 1, 4000}, {40, 1, 4000}, {50, 1, 4000}, {100, 1, 4000}, {400, 4, 3333}, {100, 3, 4000}, {103125, 10000, 4000}} {
		t.Run(fmt.Sprintf("%d over %d at %d ps", c.num, c.den, c.period), func(t *testing.T) {
			b, k := newBench(t, mac.Params{RateNum: c.num, RateDen: c.den, PeriodPs: c.period}, hdl.Options{})
			for i := range 40 {
				b.TxSource.Push(beats(pattern(60+i*i*2, 2))...)
			}
			require.NoError(t, k.Run(40000))
			sent, last := uint64(0), uint64(0) // bytes, cycle
			frames := join(t, b.Wire.Got, b.Wire.At)
			require.Len(t, frames, 40)
			for i, beat := range b.Wire.Got {
				due := sent * 8 * 1000 * uint64(c.den) / (uint64(c.num) * uint64(c.period))
				if i > 0 {
					last = max(last+1, due)
				}
				require.Equal(t, last, b.Wire.At[i]-b.Wire.At[0], "beat %d", i)
				sent += uint64(beat.Len)
				if beat.Last {
					sent += 20
				}
			}
		})
	}
}

// A line faster than the data path takes a beat a cycle and never more.
func TestPaceFasterThanDataPath(t *testing.T) {
	for _, rate := range []uint32{200, 400} {
		b, k := newBench(t, mac.Params{RateNum: rate}, hdl.Options{})
		for range 50 {
			b.TxSource.Push(beats(pattern(4100, 3))...)
		}
		require.NoError(t, k.Run(5000))
		require.Len(t, b.Wire.Got, 50*65)
		require.LessOrEqual(t, b.Wire.At[50*65-1]-b.Wire.At[0], uint64(50*65-1), "%d Gb/s", rate)
	}
}

func TestIdleLineGivesNoCredit(t *testing.T) {
	b, k := newBench(t, mac.Params{RateNum: 10}, hdl.Options{})
	b.TxSource.NotBefore = func(n int) uint64 { return map[bool]uint64{true: 0, false: 1000}[n == 0] }
	for range 3 {
		b.TxSource.Push(beats(pattern(60, 4))...)
	}
	require.NoError(t, k.Run(2000))
	at := b.Wire.At
	require.Len(t, at, 3)
	require.GreaterOrEqual(t, at[1], uint64(1000))
	require.Equal(t, uint64((64+20)/5), at[2]-at[1])
}

func TestUnderrunSpoilsTheFrame(t *testing.T) {
	first, second := pattern(200, 5), pattern(100, 6)
	got := hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []received) {
		b, k := newBench(t, mac.Params{}, o)
		b.TxSource.NotBefore = func(n int) uint64 { return map[bool]uint64{true: 20, false: 0}[n >= 2] }
		b.TxSource.Push(beats(first)...)
		b.TxSource.Push(beats(second)...)
		require.NoError(t, k.Run(100))
		require.Equal(t, uint32(1), b.MAC.Transmit.Q.Underruns)
		return k, join(t, b.Wire.Got, b.Wire.At)
	})
	require.Len(t, got, 2)
	require.Equal(t, first, got[0].Frame[:200])
	require.NotEqual(t, wire(first), got[0].Frame)
	require.Equal(t, wire(second), got[1].Frame)
}

func TestFrameGivenUp(t *testing.T) {
	f := pattern(130, 7)
	in := beats(f)
	in[2].Bad = true
	got := transmit(t, mac.Params{}, 100, append(in, beats(f)...))
	require.NotEqual(t, wire(f), got[0].Frame)
	require.Equal(t, wire(f), got[1].Frame)
	back := receive(t, mac.Params{}, append(beats(got[0].Frame), beats(got[1].Frame)...))
	require.True(t, back[0].Bad)
	require.False(t, back[1].Bad)
}

// Whatever comes, one beat a cycle: good frames come out whole, the others Bad.
func TestReceiveLengths(t *testing.T) {
	var in []port.EthBeat
	type want struct {
		frame []byte
		bad   bool
	}
	var wants []want
	add := func(w []byte, bad bool) {
		in, wants = append(in, beats(w)...), append(wants, want{w, bad})
	}
	for n := 1; n < 64; n++ { // runts
		add(wireExact(pattern(max(0, n-4), 8), n), true)
	}
	for n := 60; n <= 400; n++ {
		add(wire(pattern(n, 9)), false)
		if n%7 == 0 {
			w := wire(pattern(n, 9))
			w[n%len(w)] ^= 1 << (n & 7)
			add(w, true)
		}
	}
	for n := 4200; n <= 4212; n++ {
		add(wire(pattern(n, 10)), false)
	}
	got := receive(t, mac.Params{}, in)
	require.Len(t, got, len(wants))
	for i, w := range wants {
		require.Equal(t, w.bad, got[i].Bad, "frame %d of %d", i, len(w.frame))
		if len(w.frame) > 4 {
			require.Equal(t, w.frame[:len(w.frame)-4], got[i].Frame, "frame %d of %d", i, len(w.frame))
		}
	}
}

// wireExact is a runt: a right FCS behind n-4 bytes, or n bytes of nothing.
func wireExact(b []byte, n int) []byte {
	return binary.LittleEndian.AppendUint32(append([]byte{}, b...), crc32.ChecksumIEEE(b))[:n]
}

func TestJabberIsCut(t *testing.T) {
	good := wire(pattern(100, 11))
	for n := 4213; n < 4700; n += 13 {
		got := receive(t, mac.Params{}, append(append(beats(wire(pattern(n, 12))), beats(good)...), beats(good)...))
		require.Len(t, got, 3)
		require.True(t, got[0].Bad)
		require.LessOrEqual(t, len(got[0].Frame), 4216+60)
		for _, f := range got[1:] {
			require.False(t, f.Bad)
			require.Equal(t, good[:100], f.Frame)
		}
	}
}

func TestBadOnTheWire(t *testing.T) {
	in := beats(wire(pattern(100, 13)))
	in[1].Bad = true
	require.True(t, receive(t, mac.Params{}, in)[0].Bad)
}

func TestLatency(t *testing.T) {
	b, k := newBench(t, mac.Params{}, hdl.Options{})
	b.TxSource.Push(beats(pattern(200, 14))...)
	b.RxWire.Push(beats(wire(pattern(200, 14)))...)
	require.NoError(t, k.Run(100))
	// A beat put in cycle 0 is a port's head in cycle 1.
	require.Equal(t, uint64(1+1), b.Wire.At[0])
	require.Equal(t, []uint64{1 + 2, 1 + 3, 1 + 4, 1 + 5}, b.RxSink.At)
}

// A frame that goes out comes in, whatever its length and the throttling of the
// consumer, which holds nothing but the wire up.
func TestLoopback(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 4200), 1, 8).Draw(t, "sizes")
		seed := rapid.Uint64().Draw(t, "seed")
		got := hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []received) {
			var b struct {
				Source agent.Source[port.EthBeat]
				MAC    *mac.MAC
				Sink   agent.Sink[port.EthBeat]
				Level  level
			}
			b.MAC = mac.New(mac.Params{})
			b.Sink.Throttle.Seed = seed
			hdl.Connect(&b.Source.Out, &b.MAC.Transmit.TxIn, 2)
			hdl.Connect(&b.MAC.Transmit.Tx, &b.MAC.Receive.Rx, 2)
			hdl.Connect(&b.MAC.Receive.RxOut, &b.Sink.In, 2)
			hdl.Wire(&b.Level.PortReg, &b.MAC.Loop.PortReg)
			k, err := hdl.Elaborate("bench", &b, o)
			require.NoError(t, err)
			for i, n := range sizes {
				b.Source.Push(beats(pattern(n, uint64(i)))...)
			}
			require.NoError(t, k.Run(5000))
			return k, join(t, b.Sink.Got, b.Sink.At)
		})
		require.Len(t, got, len(sizes))
		for i, f := range got {
			want := wire(pattern(sizes[i], uint64(i)))
			require.False(t, f.Bad)
			require.Equal(t, want[:len(want)-4], f.Frame)
		}
	})
}

func TestNoAllocations(t *testing.T) {
	b, k := newBench(t, mac.Params{}, hdl.Options{})
	for range 200 {
		b.TxSource.Push(beats(pattern(1000, 15))...)
	}
	b.Wire.Got, b.Wire.At = make([]port.EthBeat, 0, 4000), make([]uint64, 0, 4000)
	require.NoError(t, k.Run(50))
	require.Zero(t, testing.AllocsPerRun(1000, k.Step))
}
