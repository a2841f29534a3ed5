package scatter

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/rtl/port"
)

// TestOverlap compares with a walk over the list byte by byte.
func TestOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w port.RQWQE
		w.Num = uint8(rapid.IntRange(0, port.MaxSGE).Draw(t, "num"))
		total := 0
		for i := range port.MaxSGE { // those beyond Num are not to be looked at
			w.SGE[i] = port.SGE{
				VA:  port.VA(rapid.Uint64().Draw(t, "va")),
				Len: uint32(rapid.SampledFrom([]int{0, 1, 2, 63, 64, 65, 4095, 4096, 4097, 9000}).Draw(t, "len")),
				Key: port.Key(i + 1),
			}
			if i < int(w.Num) {
				total += int(w.SGE[i].Len)
			}
		}
		offset := rapid.IntRange(0, total+2).Draw(t, "offset")
		n := rapid.IntRange(0, 4096).Draw(t, "n")
		need := rapid.SampledFrom([]int{0, total, total + 1, rapid.IntRange(0, 4136).Draw(t, "any")}).Draw(t, "need") & 0xffff
		p, count, fits := overlap(&w, uint32(offset), uint16(n), uint16(need))
		require.Equal(t, max(offset+n, need) <= total, fits)
		if !fits {
			require.Zero(t, count)
			return
		}
		type byteAt struct {
			key port.Key
			va  port.VA
		}
		var want, got []byteAt
		at := 0
		for _, s := range w.SGE[:w.Num] {
			for i := range s.Len {
				if at >= offset && at < offset+n {
					want = append(want, byteAt{s.Key, s.VA + port.VA(i)})
				}
				at++
			}
		}
		for _, x := range p[:count] {
			require.NotZero(t, x.Len)
			for i := range x.Len {
				got = append(got, byteAt{x.Key, x.VA + port.VA(i)})
			}
		}
		require.Equal(t, want, got)
	})
}

// TestOverlapHuge: elements may be as long as 32 bits allow.
func TestOverlapHuge(t *testing.T) {
	w := port.RQWQE{Num: 4}
	for i := range w.SGE {
		w.SGE[i] = port.SGE{Len: 0xffffffff, VA: port.VA(i) << 40, Key: port.Key(i)}
	}
	p, n, fits := overlap(&w, 0xfffffffe, 4096, 0)
	require.True(t, fits)
	require.EqualValues(t, 2, n)
	require.Equal(t, piece{Key: 0, VA: 0xfffffffe, Len: 1}, p[0])
	require.Equal(t, piece{Key: 1, VA: 1 << 40, Len: 4095}, p[1])
	w.Num = 1
	_, _, fits = overlap(&w, 0xffffffff, 1, 0)
	require.False(t, fits)
}
