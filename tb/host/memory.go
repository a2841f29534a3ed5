package host

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// FrameSize is the unit in which memory comes into being, bytes.
const FrameSize = 4096

// Errors of Memory and its allocator.
var (
	ErrBounds = errors.New("outside host memory (EFAULT)")
	ErrNoMem  = errors.New("no host memory left (ENOMEM)")
	ErrAlign  = errors.New("bad size or alignment (EINVAL)")
	ErrGuard  = errors.New("guard bytes overwritten")
)

// MemorySize is the size of the bus address space by default, 64 GiB. Frames
// exist from their first write on; before that they read as zeros.
const MemorySize = 64 << 30

// Memory is a host's memory, addressed as the bus sees it.
type Memory struct {
	size   uint64
	frames map[uint64]*frame
	last   *frame // of the last access
	lastNo uint64

	rng     *rand.Rand
	ranges  []extent       // free contiguous frames, by address
	used    map[uint64]int // contiguous ranges handed out: address to frames
	shuffle map[uint64]bool
	guards  map[uint64]int // address to bytes
	watches map[uint64][]*Watch
}

type frame [FrameSize]byte

// NewMemory makes an empty memory of size bytes, a multiple of FrameSize and at
// least 16 MiB; 0 stands for MemorySize. The seed decides which frames
// AllocFrames hands out.
func NewMemory(size, seed uint64) *Memory {
	if size == 0 {
		size = MemorySize
	}
	n := size / FrameSize
	return &Memory{
		size: size, frames: map[uint64]*frame{},
		rng:    rand.New(rand.NewPCG(seed, 0x4d454d)),
		ranges: []extent{{n / 8, n/2 - n/8}},
		used:   map[uint64]int{}, shuffle: map[uint64]bool{}, guards: map[uint64]int{},
		watches: map[uint64][]*Watch{},
	}
}

// Size is the number of bytes of bus address space.
func (m *Memory) Size() uint64 { return m.size }

// Inside tells whether n bytes at addr are memory.
func (m *Memory) Inside(addr uint64, n int) bool {
	return addr <= m.size && uint64(n) <= m.size-addr
}

func (m *Memory) bounds(addr uint64, n int) error {
	if !m.Inside(addr, n) {
		return fmt.Errorf("%d bytes at %#x: %w", n, addr, ErrBounds)
	}
	return nil
}

// Read copies memory into b. The error wraps ErrBounds.
func (m *Memory) Read(addr uint64, b []byte) error {
	if err := m.bounds(addr, len(b)); err != nil {
		return err
	}
	for len(b) > 0 {
		off := addr % FrameSize
		n := min(len(b), FrameSize-int(off))
		if f := m.at(addr/FrameSize, false); f != nil {
			copy(b[:n], f[off:])
		} else {
			clear(b[:n])
		}
		b, addr = b[n:], addr+uint64(n)
	}
	return nil
}

// Write copies b into memory. The error wraps ErrBounds; nothing is written then.
func (m *Memory) Write(addr uint64, b []byte) error {
	if err := m.bounds(addr, len(b)); err != nil {
		return err
	}
	for len(b) > 0 {
		n := copy(m.at(addr/FrameSize, true)[addr%FrameSize:], b)
		b, addr = b[n:], addr+uint64(n)
	}
	return nil
}

// at is a frame; without make it may be nil.
func (m *Memory) at(no uint64, make bool) *frame {
	if m.last != nil && m.lastNo == no {
		return m.last
	}
	f := m.frames[no]
	if f == nil {
		if !make {
			return nil
		}
		f = new(frame)
		m.frames[no] = f
	}
	m.last, m.lastNo = f, no
	return f
}

// drop gives n frames back to nothingness.
func (m *Memory) drop(no uint64, n int) {
	for i := range uint64(n) {
		delete(m.frames, no+i)
	}
	m.last = nil
}
