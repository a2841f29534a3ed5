package host

import (
	"fmt"
	"maps"
	"slices"
)

// guardByte is what a guarded byte holds.
func guardByte(addr uint64) byte { return byte(addr*0x9d>>3) ^ 0xa5 }

// Guard fills n bytes with a pattern that CheckGuards expects to stay.
func (m *Memory) Guard(addr uint64, n int) {
	b := make([]byte, n)
	for i := range b {
		b[i] = guardByte(addr + uint64(i))
	}
	if m.Write(addr, b) == nil {
		m.guards[addr] = n
	}
}

// Unguard ends a Guard.
func (m *Memory) Unguard(addr uint64) { delete(m.guards, addr) }

// CheckGuards names the first guarded byte that was overwritten; the error wraps
// ErrGuard.
func (m *Memory) CheckGuards() error {
	for _, addr := range slices.Sorted(maps.Keys(m.guards)) {
		b := make([]byte, m.guards[addr])
		if err := m.Read(addr, b); err != nil {
			return err
		}
		for i, v := range b {
			if a := addr + uint64(i); v != guardByte(a) {
				return fmt.Errorf("%#x at %#x, byte %d of a guard: %w", v, a, i, ErrGuard)
			}
		}
	}
	return nil
}
