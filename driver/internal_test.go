package driver

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
)

func TestNumbersAgainstASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		nums := newNumbers(3, uint32(3+n))
		used, last := map[uint32]bool{}, uint32(0)
		for range 60 {
			if len(used) > 0 && rapid.Bool().Draw(t, "give") {
				v := rapid.SampledFrom(keys(used)).Draw(t, "which")
				nums.give(v)
				delete(used, v)
				continue
			}
			v, err := nums.take()
			if len(used) == n {
				require.ErrorIs(t, err, ErrNoMemory)
				continue
			}
			require.NoError(t, err)
			require.False(t, used[v])
			require.True(t, v >= 3 && v < uint32(3+n))
			require.False(t, v == last && len(used) < n-1, "%d again at once", v)
			used[v], last = true, v
		}
	})
}

func keys(m map[uint32]bool) (ks []uint32) {
	for v := range uint32(64) {
		if m[v] {
			ks = append(ks, v)
		}
	}
	return ks
}

// First fit over a bitmap is the model.
func TestExtentsAgainstABitmap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 40
		var free extents
		free.give(0, size)
		var used [size]bool
		var out []extent
		for range 80 {
			if len(out) > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, len(out)-1).Draw(t, "which")
				x := out[i]
				out = append(out[:i], out[i+1:]...)
				free.give(x.first, x.n)
				for k := range x.n {
					used[x.first+k] = false
				}
				continue
			}
			n := rapid.Uint32Range(1, 12).Draw(t, "n")
			want, run := -1, uint32(0)
			for i := range used {
				run++
				if used[i] {
					run = 0
				}
				if run == n {
					want = i + 1 - int(n)
					break
				}
			}
			first, err := free.take(n)
			if want < 0 {
				require.ErrorIs(t, err, ErrNoMemory)
				continue
			}
			require.NoError(t, err)
			require.EqualValues(t, want, first)
			out = append(out, extent{first, n})
			for k := range n {
				used[first+k] = true
			}
		}
		for i := 1; i < len(free); i++ {
			require.Greater(t, free[i].first, free[i-1].first+free[i-1].n, "neighbours are joined")
		}
	})
}

// The pages that the device is told lead each byte to where the frames have it.
func TestPagesLeadToFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const log = 14 // of the larger pages
		sizes := uint64(1<<12 | 1<<log)
		n := rapid.IntRange(1, 12).Draw(t, "frames")
		va := uint64(1)<<40 + uint64(rapid.IntRange(0, 3).Draw(t, "va"))*pageSize
		b := Buffer{Addr: va, size: n * pageSize}
		base := uint64(rapid.IntRange(0, 3).Draw(t, "bus")) * pageSize
		contiguous := rapid.Bool().Draw(t, "contiguous")
		for i := range uint64(n) {
			f := 1<<30 + base + i*pageSize
			if !contiguous {
				f += uint64(rapid.IntRange(0, 1).Draw(t, "jump")) << 20
			}
			b.frames = append(b.frames, f)
		}
		off := rapid.IntRange(0, b.size-1).Draw(t, "off")
		length := rapid.IntRange(1, b.size-off).Draw(t, "length")
		pages, l := b.deviceVisiblePages(off, length, sizes)
		size := uint64(1) << l
		require.Contains(t, []uint8{12, log}, l)
		if contiguous && (va-base)%(1<<log) == 0 {
			require.EqualValues(t, log, l)
		}
		start := (va + uint64(off)) % size
		require.EqualValues(t, (start+uint64(length)+size-1)/size, len(pages))
		for i := 0; i < length; i += 511 {
			at := start + uint64(i)
			k := off + i
			require.Equal(t, b.frames[k/pageSize]+uint64(k%pageSize), pages[at/size]+at%size)
			require.Zero(t, pages[at/size]%size)
		}
	})
}

// Whatever is kept from the device, Entries completions always fit.
func TestCQSize(t *testing.T) {
	for _, most := range []int{1, 2, 64, 1 << abi.MaxLogRing} {
		for entries := 1; entries <= most; entries += 1 + entries/50 {
			d := &Device{Attr: abi.DeviceMailbox{MaxCQE: uint32(most)}}
			log, lazy, err := d.sizeCQ(entries)
			require.NoError(t, err)
			c := cq{rings: []cqRing{{log: log}}, lazy: lazy}
			ring := 1 << log
			require.LessOrEqual(t, ring, most)
			require.GreaterOrEqual(t, c.entries(), entries)
			require.LessOrEqual(t, c.entries()+int(c.lazy)-1, ring)
			require.GreaterOrEqual(t, int(c.lazy), 1)
			require.Less(t, ring, 4*entries+4)
			if 2*ring <= most {
				require.Equal(t, max(1, ring/4), int(c.lazy))
			}
		}
	}
}

func TestKnownStatus(t *testing.T) {
	for _, e := range abi.Enums() {
		if e.Name != "WCStatus" {
			continue
		}
		known := map[uint32]bool{}
		for _, v := range e.Values {
			known[v.Value] = true
		}
		require.Greater(t, len(known), 10)
		for s := range 256 {
			require.Equal(t, known[uint32(s)], knownStatus(abi.WCStatus(s)), "%d", s)
		}
		return
	}
	t.Fatal("no statuses")
}

func TestChosenPSNs(t *testing.T) {
	seen := map[uint32]bool{}
	for qpn := range uint32(1000) {
		p := choosePSN(1, [6]byte{2, 5: 1}, qpn, 0)
		require.True(t, p > 0 && p < 1<<24)
		seen[p] = true
	}
	require.Greater(t, len(seen), 990)
	require.NotEqual(t, choosePSN(1, [6]byte{2, 5: 1}, 5, 0), choosePSN(1, [6]byte{2, 5: 2}, 5, 0))
	require.NotEqual(t, choosePSN(1, [6]byte{2, 5: 1}, 5, 0), choosePSN(2, [6]byte{2, 5: 1}, 5, 0))
	require.NotEqual(t, choosePSN(1, [6]byte{2, 5: 1}, 5, 0), choosePSN(1, [6]byte{2, 5: 1}, 5, 1))
}
