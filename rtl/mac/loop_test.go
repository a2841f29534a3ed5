package mac_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/mac"
	"rnic/rtl/port"
)

// mine is a frame for the own address, marked so that it is known again.
func mine(n int, seed uint64) []byte {
	f := pattern(n, seed)
	copy(f, own[:])
	if n >= 14 {
		binary.BigEndian.PutUint16(f[12:], 0x88b5)
	}
	return f
}

// both sends frames from both sides; nothing is sent before the own address is known.
func both(t hdltest.T, p mac.Params, cycles uint64, tx, rx []port.EthBeat, set func(b *bench)) (out, in []received) {
	type result struct{ Out, In []received }
	r := hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, result) {
		b, k := newBench(t, p, o)
		b.TxSource.NotBefore = func(int) uint64 { return 4 }
		if set != nil {
			set(b)
		}
		b.TxSource.Push(tx...)
		b.RxWire.Push(rx...)
		if n := len(rx); n > 0 && b.RxWire.NotBefore != nil {
			require.NoError(t, k.Run(b.RxWire.NotBefore(n-1)+1))
			require.Zero(t, b.RxWire.Pending(), "the wire was held up")
		}
		require.NoError(t, k.Run(cycles))
		require.Zero(t, b.TxSource.Pending())
		return k, result{join(t, b.Wire.Got, b.Wire.At), join(t, b.RxSink.Got, b.RxSink.At)}
	})
	return r.Out, r.In
}

// Frames for the own address come back as the wire would bring them, and are not seen
// there; others go out; whatever the lengths, with and without tag.
func TestOwnFramesTurnAround(t *testing.T) {
	var tx []port.EthBeat
	var back []taken
	var away [][]byte
	for n := 14; n <= 300; n++ {
		f := mine(n, 30)
		padded := wire(f)
		tx, back = append(tx, beats(f)...), append(back, taken{frame: padded[:len(padded)-4]})
		other := pattern(n, 31)
		tx, away = append(tx, beats(other)...), append(away, wire(other))
		padded = append(append([]byte{}, f...), make([]byte, max(56-n, 0))...)
		tx, back = append(tx, tagged(f, uint16(n))...), append(back, taken{padded, true, uint16(n), false})
		if n == 100 { // the inner of two
			tx, back = append(tx, tagged(withTag(f, 5), 6)...), append(back, taken{withTag(f, 5), true, 6, false})
		}
		// A tag among the bytes is taken out too.
		tx = append(tx, beats(withTag(f, uint16(n)))...)
		back = append(back, taken{padded, true, uint16(n), false})
	}
	out, in := both(t, mac.Params{}, 20000, tx, nil, nil)
	require.Len(t, out, len(away))
	for i := range away {
		require.Equal(t, away[i], out[i].Frame)
	}
	require.Len(t, in, len(back))
	for i, w := range back {
		require.Equal(t, w, taken{in[i].Frame, in[i].VLAN, in[i].TCI, in[i].Bad}, "frame %d", i)
	}
}

// A beat a cycle, with nothing on the wire.
func TestLoopRate(t *testing.T) {
	var tx []port.EthBeat
	for range 50 {
		tx = append(tx, beats(mine(4160, 32))...)
	}
	_, in := both(t, mac.Params{}, 50*65+200, tx, nil, nil)
	require.Len(t, in, 50)
	require.LessOrEqual(t, in[49].End-in[0].Start, uint64(50*65))
}

// The wire loses nothing and is not held up, at a beat in every cycle or with the gaps
// of the link, while the loop is full; and all frames of the loop come.
func TestWireBesideLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.OneOf(rapid.IntRange(60, 4190), rapid.IntRange(60, 200), rapid.IntRange(60, 60))
		var tx, rx []port.EthBeat
		var loop, line [][]byte
		for i, n := range rapid.SliceOfN(lengths, 1, 12).Draw(t, "loop") {
			f := mine(n, uint64(i))
			tx, loop = append(tx, beats(f)...), append(loop, f)
		}
		for i, n := range rapid.SliceOfN(lengths, 1, 30).Draw(t, "wire") {
			f := pattern(n, uint64(100+i))
			rx, line = append(rx, beats(wire(f))...), append(line, f)
		}
		at := make([]uint64, len(rx))
		gaps, slow := rapid.Bool().Draw(t, "gaps"), rapid.SampledFrom([]uint64{1, 1, 2, 5}).Draw(t, "cycles a beat")
		now := uint64(rapid.IntRange(0, 120).Draw(t, "start"))
		for i, b := range rx {
			at[i] = now
			now += slow
			if gaps && b.Last {
				now += uint64(rapid.IntRange(0, 4).Draw(t, "gap"))
			}
		}
		_, in := both(t, mac.Params{}, now+2500, tx, rx, func(b *bench) {
			b.RxWire.NotBefore = func(n int) uint64 { return at[n] }
		})
		var gotLoop, gotLine [][]byte
		for _, f := range in {
			require.False(t, f.Bad)
			if [6]byte(f.Frame) == own {
				gotLoop = append(gotLoop, f.Frame)
			} else {
				gotLine = append(gotLine, f.Frame)
			}
		}
		require.Equal(t, loop, gotLoop)
		require.Equal(t, line, gotLine)
	})
}

// The longest frame of the loop begins in the last cycle before the wire has a beat in
// every one.
func TestLateBeats(t *testing.T) {
	var rx []port.EthBeat
	for range 6 {
		rx = append(rx, beats(wire(pattern(4216-4, 60)))...)
	}
	at := uint64(0)
	for start := uint64(60); start < 90; start++ {
		_, in := both(t, mac.Params{}, 1000, beats(mine(4216-4, 61)), rx, func(b *bench) {
			b.RxWire.NotBefore = func(n int) uint64 { return start + uint64(n) }
		})
		require.Len(t, in, 7)
		for i, f := range in {
			if [6]byte(f.Frame) == own {
				at |= 1 << i
			}
		}
	}
	require.Equal(t, uint64(1<<0|1<<1), at, "before the wire, or behind its first frame")
}

// A wire at its line rate has a free cycle now and then, within its frames or between them.
// The loop loses nothing.
func TestWireAtItsRate(t *testing.T) {
	f := pattern(4150, 47) // 65 beats
	var rx, tx []port.EthBeat
	for range 200 {
		rx = append(rx, beats(wire(f))...)
	}
	for range 20 {
		tx = append(tx, beats(mine(4150, 48))...)
	}
	within := func(n int) uint64 { // one long pause in each frame
		at := uint64(n / 65 * 84)
		if n %= 65; n > 32 {
			n += 84 - 65
		}
		return at + uint64(n)
	}
	fourth := func(n int) uint64 { return uint64(n + n/3) }
	for i, pace := range []func(n int) uint64{within, fourth, func(n int) uint64 { return fourth(n + 1) }, func(n int) uint64 { return fourth(n + 2) }} {
		_, in := both(t, mac.Params{}, 22000, tx, rx, func(b *bench) { b.RxWire.NotBefore = pace })
		require.Equal(t, 220, len(in), "pace %d", i)
	}
}

// A wire that leaves no cycle free: the first frame of the loop comes between two of its
// frames, which are late for ever. The next one waits for its 4,096 beats, then it is lost,
// and what is behind it goes out.
func TestWireWithoutGap(t *testing.T) {
	f := pattern(124, 40) // two beats without FCS
	var rx []port.EthBeat
	for range 3000 {
		rx = append(rx, beats(wire(f[:120]))...)
	}
	tx := append(beats(mine(300, 41)), beats(mine(300, 42))...)
	for range 5 { // more than the loop holds
		for range 30 {
			tx = append(tx, beats(mine(370, 43))...) // not a divisor of its size
		}
	}
	tx = append(tx, beats(pattern(60, 44))...)
	var last *bench
	out, in := both(t, mac.Params{}, 9000, tx, rx, func(b *bench) {
		last = b
		b.RxWire.NotBefore = func(n int) uint64 { return uint64(n) }
	})
	require.Len(t, out, 1)
	require.Equal(t, wire(pattern(60, 44)), out[0].Frame)
	require.Greater(t, out[0].Start, uint64(4096))
	require.Len(t, in, 3000+152-1, "one frame is lost")
	require.Equal(t, uint64(1), last.MAC.Receive.Losses.Get(), "and counted")
	turned := 0
	for _, x := range in {
		if [6]byte(x.Frame) == own {
			want := mine(370, 43)
			if turned == 0 {
				want = mine(300, 41)
			}
			require.Equal(t, want, x.Frame)
			turned++
		}
	}
}

// A wire with few gaps costs the loop time and no frame, however long it takes in all.
func TestWireWithFewGaps(t *testing.T) {
	f := pattern(120, 45)
	var rx, tx []port.EthBeat
	for range 6000 {
		rx = append(rx, beats(wire(f))...)
	}
	for range 20 {
		tx = append(tx, beats(mine(60, 46))...)
	}
	var last *bench
	_, in := both(t, mac.Params{}, 14000, tx, rx, func(b *bench) {
		last = b
		b.RxWire.NotBefore = func(n int) uint64 { return uint64(n) + uint64(n/600)*2 }
	})
	require.Len(t, in, 6020)
	require.Zero(t, last.MAC.Receive.Losses.Get())
}

// A line so slow that a frame takes long is not one without a free cycle.
func TestSlowWire(t *testing.T) {
	rx := beats(wire(pattern(1300, 55)))
	_, in := both(t, mac.Params{}, 8000, beats(mine(60, 56)), rx, func(b *bench) {
		b.TxSource.NotBefore = func(int) uint64 { return 700 }
		b.RxWire.NotBefore = func(n int) uint64 { return uint64(n) * 300 }
	})
	require.Len(t, in, 2)
	require.Equal(t, mine(60, 56), in[1].Frame)
}

// The end of a frame on the wire does not wait for a frame of the loop behind it.
func TestLoopBehindSpill(t *testing.T) {
	f := pattern(62, 47)
	out, in := both(t, mac.Params{}, 300, append(beats(f), beats(mine(4000, 48))...), nil, nil)
	require.Len(t, in, 1)
	require.Equal(t, wire(f), out[0].Frame)
	require.LessOrEqual(t, out[0].End-out[0].Start, uint64(2))
}

// A frame of the loop that is too long is cut, and one that is Bad stays so.
func TestLoopOfBadFrames(t *testing.T) {
	for _, tag := range []bool{false, true} {
		long, bad := mine(5000, 50), beats(mine(150, 51))
		if tag {
			long, bad = withTag(long, 1), beats(withTag(mine(150, 51), 1))
		}
		bad[len(bad)-1].Bad = true
		tx := append(append(beats(long), bad...), beats(mine(100, 52))...)
		_, in := both(t, mac.Params{}, 1000, tx, nil, nil)
		require.Len(t, in, 3)
		require.True(t, in[0].Bad)
		require.LessOrEqual(t, len(in[0].Frame), 4216+60)
		require.True(t, in[1].Bad)
		require.Equal(t, mine(150, 51), in[1].Frame)
		require.False(t, in[2].Bad)
		require.Equal(t, mine(100, 52), in[2].Frame)
	}
}

// A consumer that is held up loses nothing of the loop.
func TestLoopThrottled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tx []port.EthBeat
		var want [][]byte
		for i, n := range rapid.SliceOfN(rapid.IntRange(60, 1000), 1, 20).Draw(t, "sizes") {
			f := mine(n, uint64(i))
			tx, want = append(tx, beats(f)...), append(want, f)
		}
		seed := rapid.Uint64().Draw(t, "seed")
		_, in := both(t, mac.Params{}, 5000, tx, nil, func(b *bench) { b.RxSink.Throttle.Seed = seed })
		require.Len(t, in, len(want))
		for i := range want {
			require.Equal(t, want[i], in[i].Frame)
		}
	})
}

// The frame is whole when it is passed on.
func TestLoopLatency(t *testing.T) {
	for n := 60; n <= 1000; n += 47 {
		_, in := both(t, mac.Params{}, 200, beats(mine(n, 70)), nil, nil)
		require.Equal(t, uint64(4+1+4+(n+63)/64), in[0].Start, "put in cycle 4, at TxIn in cycle 5")
	}
}
