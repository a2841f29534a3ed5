package tb

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/rtl/port"
)

// cross has frames of 64 bytes, FCS included, come one each 8 cycles to a gate, with
// their numbers in front, and gives what arrives: numbers, and the cycles of their
// last beats.
func cross(t require.TestingT, verdicts []Verdict) (numbers []int, cycles []uint64, c Cable) {
	n := 0
	g := gate{fault: func(Frame) Verdict {
		n++
		return verdicts[n-1]
	}}
	for now := uint64(0); now < 8*uint64(len(verdicts)) || g.cable(now).Waiting > 0; now++ {
		g.release(now)
		came := false
		if i := int(now / 8); now%8 == 0 && i < len(verdicts) {
			b := port.EthBeat{Len: 64, Last: true}
			binary.BigEndian.PutUint32(b.Data[:], uint32(i))
			copy(b.Data[:], withFCS(b.Data[:60], false))
			came = true
			require.False(t, g.arrive(&b, now))
		}
		c := g.cable(now)
		require.Equal(t, c.Came+c.Added, c.Lost+c.Arrived+uint64(c.Waiting), "cycle %d", now)
		if came {
			continue // as the wire, which moves one beat at most
		}
		if b, number, ok := g.next(now); ok {
			require.Equal(t, uint64(binary.BigEndian.Uint32(b.Data[:]))+1, number)
			require.LessOrEqual(t, now, c.Until)
			numbers, cycles = append(numbers, int(binary.BigEndian.Uint32(b.Data[:]))), append(cycles, now)
			_, bad := splitFCS(b.Data[:64])
			require.Equal(t, verdicts[numbers[len(numbers)-1]].BadFCS, bad)
		}
		require.Less(t, now, uint64(1_000_000))
	}
	return numbers, cycles, g.cable(0)
}

// TestVerdicts: each does what it says.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name string
		at2  Verdict // what becomes of frame 2 of 0 to 7
		want []int
	}{
		{"pass", Verdict{}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{"drop", Verdict{Drop: true}, []int{0, 1, 3, 4, 5, 6, 7}},
		{"bad FCS", Verdict{BadFCS: true}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{"twice", Verdict{Again: []uint64{0}}, []int{0, 1, 2, 2, 3, 4, 5, 6, 7}},
		{"twice, later", Verdict{Again: []uint64{17}}, []int{0, 1, 2, 3, 4, 2, 5, 6, 7}},
		{"late", Verdict{Delay: 20}, []int{0, 1, 3, 4, 2, 5, 6, 7}},
		{"late, twice", Verdict{Delay: 20, Again: []uint64{8}}, []int{0, 1, 3, 4, 2, 5, 2, 6, 7}},
		{"last", Verdict{Delay: 5000}, []int{0, 1, 3, 4, 5, 6, 7, 2}},
		{"one passes", Verdict{Pass: 1}, []int{0, 1, 3, 2, 4, 5, 6, 7}},
		{"three pass", Verdict{Pass: 3}, []int{0, 1, 3, 4, 5, 2, 6, 7}},
		{"more than come", Verdict{Pass: 9}, []int{0, 1, 3, 4, 5, 6, 7, 2}},
	} {
		v := make([]Verdict, 8)
		v[2] = c.at2
		got, cycles, _ := cross(t, v)
		require.Equal(t, c.want, got, c.name)
		require.True(t, c.name != "last" || cycles[7] == 2*8+5000, "%v", cycles)
		require.True(t, c.name != "more than come" || cycles[7] == 2*8+PassLimit, "%v", cycles)
	}
	got, _, _ := cross(t, []Verdict{{Pass: 1}, {Pass: 1}, {}, {}})
	require.Equal(t, []int{2, 0, 1, 3}, got, "one that is held passes nobody")
	got, _, _ = cross(t, []Verdict{{Pass: 1}, {Drop: true}, {}, {}})
	require.Equal(t, []int{2, 0, 3}, got, "nor does one that is lost")
}

// TestNothingVanishes: whatever is judged, each frame arrives as often as it must.
func TestNothingVanishes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		verdicts := make([]Verdict, rapid.IntRange(1, 40).Draw(t, "frames"))
		var want []int
		for i := range verdicts {
			v := &verdicts[i]
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				v.Drop = true
				continue
			case 1:
				v.Delay = rapid.Uint64Range(1, 300).Draw(t, "delay")
			case 2:
				v.Pass = rapid.IntRange(1, 5).Draw(t, "pass")
			}
			want = append(want, i)
			for range rapid.IntRange(0, 2).Draw(t, "copies") {
				v.Again = append(v.Again, rapid.Uint64Range(0, 300).Draw(t, "after"))
				want = append(want, i)
			}
		}
		got, _, c := cross(t, verdicts)
		slices.Sort(got)
		require.Equal(t, want, got)
		require.Equal(t, uint64(len(want)), c.Arrived)
		require.Zero(t, c.Waiting)
	})
}

// Frames that come as fast as the wire carries them do not wait for each other,
// however many come.
func TestKeepsUp(t *testing.T) {
	for _, size := range []int{64, 65, 66, 128, 400, 1086, 4158} {
		g := gate{fault: func(Frame) Verdict { return Verdict{} }}
		frame := withFCS(make([]byte, size-4), false)
		var lines int // bytes of line time
		var at, came []uint64
		for now, sent := uint64(0), 0; len(came) < 1000; now++ {
			if begin := lines / bytesPerCycle; len(at) < 1000 && int(now) >= begin+sent/port.BeatBytes {
				b := port.EthBeat{Len: uint8(copy((&[64]byte{})[:], frame[sent:]))}
				copy(b.Data[:], frame[sent:])
				sent += int(b.Len)
				b.Last = sent == size
				g.arrive(&b, now)
				if b.Last {
					at, sent = append(at, now), 0
					lines += max(size+gap, (size+port.BeatBytes-1)/port.BeatBytes*bytesPerCycle)
				}
			}
			if b, _, ok := g.next(now); ok && b.Last {
				came = append(came, now)
			}
		}
		for i := range came {
			require.LessOrEqual(t, came[i]-at[i], uint64(size/port.BeatBytes+3), "frame %d of %d bytes", i, size)
		}
	}
}

// A frame that is lost at its first beat holds nothing up: the one before it and the one
// behind it pass in the cycles in which they come.
func TestLossStoresNothing(t *testing.T) {
	n := 0
	g := gate{loss: func() bool { n++; return n == 2 }}
	var passed []bool
	for range 3 {
		for i := range 3 {
			passed = append(passed, g.arrive(&port.EthBeat{Len: 64, Last: i == 2}, uint64(len(passed))))
		}
	}
	require.Equal(t, []bool{true, true, true, false, false, false, true, true, true}, passed)
	require.Equal(t, Cable{Came: 3, Lost: 1, Arrived: 2, Until: 9}, g.cable(9))
	require.Equal(t, 3, n)
}
