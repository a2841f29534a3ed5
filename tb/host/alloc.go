package host

import (
	"fmt"
	"slices"
)

// extent is a run of frames.
type extent struct{ no, n uint64 }

// Alloc hands out size bytes at consecutive bus addresses, zeroed, aligned to
// align (a power of two; at least FrameSize is given). Behind it, up to the end of
// its last frame and for another frame, lie guard bytes. Errors wrap ErrAlign or
// ErrNoMem.
func (m *Memory) Alloc(size, align int) (uint64, error) {
	if size <= 0 || align < 0 || align&(align-1) != 0 {
		return 0, fmt.Errorf("%d bytes aligned to %d: %w", size, align, ErrAlign)
	}
	step := uint64(max(align, FrameSize)) / FrameSize
	frames := (uint64(size) + FrameSize - 1) / FrameSize
	need := frames + 1
	for i, e := range m.ranges {
		no := (e.no + step - 1) / step * step
		if no+need > e.no+e.n {
			continue
		}
		m.ranges = slices.Delete(m.ranges, i, i+1)
		m.give(extent{e.no, no - e.no})
		m.give(extent{no + need, e.no + e.n - no - need})
		addr := no * FrameSize
		m.used[addr] = int(frames)
		m.Guard(addr+uint64(size), int(need*FrameSize)-size)
		return addr, nil
	}
	return 0, fmt.Errorf("%d bytes in a row: %w", size, ErrNoMem)
}

// Free takes back what Alloc handed out; other addresses are left alone. The
// guard bytes of the range are no longer looked after: check them before.
func (m *Memory) Free(addr uint64) {
	frames, ok := m.used[addr]
	if !ok {
		return
	}
	delete(m.used, addr)
	no, need := addr/FrameSize, uint64(frames)+1
	for g := range m.guards {
		if g >= addr && g < addr+need*FrameSize {
			delete(m.guards, g)
		}
	}
	m.drop(no, int(need))
	m.give(extent{no, need})
}

// give puts a run of frames among the free ones, joined with its neighbours.
func (m *Memory) give(e extent) {
	if e.n == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(m.ranges, e, func(a, b extent) int {
		if a.no < b.no {
			return -1
		}
		return 1
	})
	if i < len(m.ranges) && e.no+e.n == m.ranges[i].no {
		e.n += m.ranges[i].n
		m.ranges = slices.Delete(m.ranges, i, i+1)
	}
	if i > 0 && m.ranges[i-1].no+m.ranges[i-1].n == e.no {
		m.ranges[i-1].n += e.n
		return
	}
	m.ranges = slices.Insert(m.ranges, i, e)
}

// AllocFrames hands out n frames, zeroed, from all over the upper half of memory:
// what a kernel gives to ordinary buffers. The error wraps ErrNoMem.
func (m *Memory) AllocFrames(n int) ([]uint64, error) {
	half := m.size / FrameSize / 2
	if n < 0 || uint64(n+len(m.shuffle)) > half/2 {
		return nil, fmt.Errorf("%d frames: %w", n, ErrNoMem)
	}
	addrs := make([]uint64, 0, n)
	for len(addrs) < n {
		no := half + m.rng.Uint64N(half)
		if !m.shuffle[no] {
			m.shuffle[no] = true
			addrs = append(addrs, no*FrameSize)
		}
	}
	return addrs, nil
}

// FreeFrames takes frames back; addresses that AllocFrames did not hand out are
// left alone.
func (m *Memory) FreeFrames(addrs []uint64) {
	for _, a := range addrs {
		if m.shuffle[a/FrameSize] && a%FrameSize == 0 {
			delete(m.shuffle, a/FrameSize)
			m.drop(a/FrameSize, 1)
		}
	}
}
