package host_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/tb/host"
)

// TestMemoryModel compares memory with a flat array, across frames.
func TestMemoryModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const base, size = 5<<32 + 100, 3 * host.FrameSize
		m, want := host.NewMemory(0, 1), make([]byte, size)
		for range rapid.IntRange(1, 20).Draw(rt, "writes") {
			b := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(rt, "bytes")
			off := rapid.IntRange(0, size-len(b)).Draw(rt, "off")
			copy(want[off:], b)
			require.NoError(rt, m.Write(base+uint64(off), b))
		}
		got := make([]byte, size)
		require.NoError(rt, m.Read(base, got))
		require.Equal(rt, want, got)
	})
}

func TestMemoryBounds(t *testing.T) {
	m := host.NewMemory(1<<30, 1)
	for _, a := range []struct {
		addr uint64
		n    int
		ok   bool
	}{
		{1<<30 - 8, 8, true}, {1 << 30, 0, true}, {1<<30 - 8, 9, false}, {1<<30 + 1, 0, false}, {1 << 30, 1, false},
		{^uint64(0), 1, false}, {^uint64(0) - 3, 8, false},
	} {
		for _, err := range []error{m.Read(a.addr, make([]byte, a.n)), m.Write(a.addr, make([]byte, a.n))} {
			if a.ok {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, host.ErrBounds, "%#x", a.addr)
			}
		}
	}
}

// TestAlloc: ranges never overlap, are aligned and zeroed, and come back: when
// all are free, the largest range can be had again.
func TestAlloc(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := host.NewMemory(64<<20, 1)
		type span struct {
			addr uint64
			n    int
		}
		var live []span
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			if len(live) > 0 && rapid.Bool().Draw(rt, "free") {
				i := rapid.IntRange(0, len(live)-1).Draw(rt, "which")
				m.Free(live[i].addr)
				live = slices.Delete(live, i, i+1)
				continue
			}
			n := rapid.IntRange(1, 100_000).Draw(rt, "size")
			align := 1 << rapid.IntRange(0, 16).Draw(rt, "align")
			a, err := m.Alloc(n, align)
			require.NoError(rt, err)
			require.Zero(rt, a%uint64(align))
			b := make([]byte, n)
			require.NoError(rt, m.Read(a, b))
			require.Equal(rt, make([]byte, n), b)
			for _, s := range live {
				require.True(rt, a+uint64(n) < s.addr || s.addr+uint64(s.n) < a)
			}
			for i := range b {
				b[i] = 0xff
			}
			require.NoError(rt, m.Write(a, b))
			live = append(live, span{a, n})
		}
		require.NoError(rt, m.CheckGuards())
		for _, s := range live {
			m.Free(s.addr)
		}
		whole := 64<<20/2 - 64<<20/8 - host.FrameSize
		a, err := m.Alloc(whole, 0)
		require.NoError(rt, err, "ranges were lost or not joined")
		_, err = m.Alloc(1, 0)
		require.ErrorIs(rt, err, host.ErrNoMem)
		m.Free(a)
	})
}

func TestAllocRefuses(t *testing.T) {
	m := host.NewMemory(0, 1)
	for _, a := range [][2]int{{0, 1}, {-1, 1}, {1, 3}, {1, -4}} {
		_, err := m.Alloc(a[0], a[1])
		require.ErrorIs(t, err, host.ErrAlign)
	}
	_, err := m.Alloc(1<<40, 1)
	require.ErrorIs(t, err, host.ErrNoMem)
	m.Free(12345)
}

func TestAllocFrames(t *testing.T) {
	a, err := host.NewMemory(0, 1).AllocFrames(300)
	require.NoError(t, err)
	b, err := host.NewMemory(0, 1).AllocFrames(300)
	require.NoError(t, err)
	c, err := host.NewMemory(0, 2).AllocFrames(300)
	require.NoError(t, err)
	require.Equal(t, a, b)
	require.NotEqual(t, a, c)
	require.False(t, slices.IsSorted(a))
	sorted := slices.Sorted(slices.Values(a))
	require.Len(t, slices.Compact(sorted), 300)

	m := host.NewMemory(16<<20, 1)
	_, err = m.AllocFrames(1025)
	require.ErrorIs(t, err, host.ErrNoMem)
	f, err := m.AllocFrames(1024)
	require.NoError(t, err)
	require.NoError(t, m.Write(f[0], []byte{1}))
	_, err = m.AllocFrames(1)
	require.ErrorIs(t, err, host.ErrNoMem)
	m.FreeFrames(append(f, 1, 4096))
	f, err = m.AllocFrames(1024)
	require.NoError(t, err)
	got := make([]byte, 4096)
	for _, a := range f {
		require.NoError(t, m.Read(a, got))
		require.Equal(t, make([]byte, 4096), got)
	}
}

// TestGuards: each byte around a range is guarded, none inside.
func TestGuards(t *testing.T) {
	for _, off := range []int{-1, 0, 999, 1000, 4095, 8191, 8192} {
		m := host.NewMemory(0, 1)
		_, err := m.Alloc(10, 0)
		require.NoError(t, err)
		a, err := m.Alloc(1000, 0)
		require.NoError(t, err)
		b := make([]byte, 1)
		addr := uint64(int64(a) + int64(off))
		require.NoError(t, m.Read(addr, b))
		b[0]++
		require.NoError(t, m.Write(addr, b))
		if off == 0 || off == 999 || off == 8192 {
			require.NoError(t, m.CheckGuards(), "offset %d", off)
		} else {
			require.ErrorIs(t, m.CheckGuards(), host.ErrGuard, "offset %d", off)
		}
		m.Free(a)
	}
	m := host.NewMemory(0, 1)
	m.Guard(100, 10)
	require.NoError(t, m.Write(109, []byte{0}))
	require.ErrorIs(t, m.CheckGuards(), host.ErrGuard)
	m.Unguard(100)
	require.NoError(t, m.CheckGuards())
}

func TestWatch(t *testing.T) {
	m := host.NewMemory(0, 1)
	w := m.Watch(4090, 12)
	for _, d := range []struct {
		addr uint64
		n    int
		hit  uint64
	}{{4080, 10, 0}, {4080, 11, 1}, {4102, 8, 0}, {4101, 1, 1}, {4000, 4000, 1}, {4095, 2, 1}, {4090, 0, 0}} {
		before := w.Count
		require.NoError(t, m.DMAWrite(d.addr, make([]byte, d.n)))
		require.Equal(t, d.hit, w.Count-before, "%d bytes at %d", d.n, d.addr)
	}
	require.NoError(t, m.Write(4090, []byte{1}))
	require.EqualValues(t, 4, w.Count, "a write of the CPU")
	m.Unwatch(w)
	require.NoError(t, m.DMAWrite(4090, []byte{1}))
	require.EqualValues(t, 4, w.Count)
	require.ErrorIs(t, m.DMAWrite(m.Size(), []byte{1}), host.ErrBounds)
}
