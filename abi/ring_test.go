package abi

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestRingWalk compares slot and phase with a ring that is walked for more than
// a wrap of the index.
func TestRingWalk(t *testing.T) {
	for log := uint8(0); log <= MaxLogRing; log++ {
		slot, phase := 0, true
		for i := range 1<<16 + 100 {
			if RingSlot(uint16(i), log) != uint16(slot) || RingPhase(uint16(i), log) != phase {
				require.Failf(t, "differs", "log %d index %d", log, i)
			}
			if slot++; slot == 1<<log {
				slot, phase = 0, !phase
			}
		}
	}
}

func TestKey(t *testing.T) {
	require.Equal(t, Key(0x123456ab), MakeKey(0x123456, 0xab))
	rapid.Check(t, func(t *rapid.T) {
		index, low := rapid.Uint32Max(1<<24-1).Draw(t, "index"), rapid.Uint8().Draw(t, "low")
		k := MakeKey(index, low)
		require.Equal(t, index, k.Index())
		require.Equal(t, low, k.Low())
	})
}

// TestWQEUnits lays elements out one by one: two in the first unit, four in each
// further one; inline bytes 32 and 64.
func TestWQEUnits(t *testing.T) {
	for n := range 2 * MaxSGE {
		units, room := 1, 2
		for range n {
			if room == 0 {
				units, room = units+1, 4
			}
			room--
		}
		require.Equal(t, units, WQEUnits(n, 0), "%d SGEs", n)
	}
	for n := 1; n <= MaxInline+64; n++ {
		units, room := 1, 32
		for range n {
			if room == 0 {
				units, room = units+1, 64
			}
			room--
		}
		require.Equal(t, units, WQEUnits(MaxSGE, n), "%d bytes", n)
	}
	require.LessOrEqual(t, WQEUnits(MaxSGE, 0), MaxUnits)
	require.Equal(t, MaxUnits, WQEUnits(0, MaxInline))
	require.Equal(t, MaxUnits+1, WQEUnits(0, MaxInline+1))
	require.Equal(t, 1, WQEUnits(-5, -5))
}

func TestRQStride(t *testing.T) {
	for n := range 3 * MaxSGE {
		stride := 1
		for stride < 16*(1+n) {
			stride *= 2
		}
		require.Equal(t, stride, RQStride(n), "%d SGEs", n)
		require.Equal(t, stride, 1<<RQLogStride(n))
	}
	require.Equal(t, 16, RQStride(-1))
}

func TestDoorbellPackIsItsLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.Uint64().Draw(t, "w")
		var b [8]byte
		for i := range b {
			b[i] = byte(w >> (8 * i))
		}
		var want Doorbell
		require.NoError(t, DoorbellLayout.Decode(b[:], &want))
		got := UnpackDoorbell(w)
		require.Equal(t, want, got)
		const defined = 0x0000ffff_1fffffff
		require.Equal(t, w&defined, got.Pack())
	})
	require.Equal(t, uint64(0xf)<<24|0xffffff, Doorbell{Number: 0xffffffff, Kind: 0xff}.Pack(), "values too wide are cut")
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	var cqe CQE
	var wqe WQE
	b := make([]byte, 64)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		CQELayout.Encode(&cqe, b)
		_ = WQELayout.Decode(b, &wqe)
		d := UnpackDoorbell(uint64(b[0]))
		b[0] = byte(d.Pack())
		w := RegWord(CapsLayout, DefaultCaps)
		b[1] = byte(RegWord(CapsLayout, RegFields(CapsLayout, w)))
	}))
}
