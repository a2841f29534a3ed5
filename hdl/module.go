package hdl

import (
	"bytes"
	"unsafe"
)

// Module is a clocked block. Eval is its always_comb: it reads Q, port heads and
// parameters, writes D, and calls Put and Take. The interface is sealed; the one
// way to be a Module is to embed Regs.
type Module interface {
	Eval()
	sealed
}

type sealed interface {
	state() (blk *block, q, d unsafe.Pointer)
}

// block is what the kernel knows of anything that it can wake: a module, an
// agent or a thread.
type block struct {
	k    *Kernel
	path string
	idx  int32 // bit in Kernel.awake
}

// Regs is the flip-flops of a module. Q is the present state and D the next; D
// equals Q when Eval starts, so that Eval assigns only what changes. S is flat:
// booleans, integers, arrays and structs of them.
type Regs[S comparable] struct {
	Q   S
	_   [0]uint64 // Q and D each fill whole, aligned words
	D   S
	_   [0]uint64
	blk block
}

var _ sealed = (*Regs[struct{}])(nil)

func (r *Regs[S]) state() (blk *block, q, d unsafe.Pointer) {
	return &r.blk, unsafe.Pointer(&r.Q), unsafe.Pointer(&r.D)
}

// Now is the present cycle. A sleeping module does not see time pass: one that
// compares Now with a deadline asks for that cycle with WakeAt.
func (r *Regs[S]) Now() uint64 { return r.blk.k.cycle }

// WakeAt has Eval called at the given cycle, whatever else wakes the module
// before or after. Cycles that are not in the future are ignored; asking twice
// for one cycle is asking once; no request cancels another.
func (r *Regs[S]) WakeAt(cycle uint64) { r.blk.wakeAt(cycle) }

// Path is the module's name in the hierarchy.
func (r *Regs[S]) Path() string { return r.blk.path }

// Fail reports a broken invariant of the module: Run ends with this Fault.
func (r *Regs[S]) Fail(format string, args ...any) { r.blk.fail(format, args...) }

// modrec is the kernel's own record of a module.
type modrec struct {
	mod   Module
	q, d  unsafe.Pointer
	mask  unsafe.Pointer // words of ones where S has fields
	bytes uintptr        // of S in whole words
}

func (m *modrec) blk() *block {
	b, _, _ := m.mod.state()
	return b
}

// commit moves next state into present state and tells whether it changed, what
// lies in padding aside. A module's Q is private, so this happens right after its
// own Eval.
func (m *modrec) commit() bool {
	q0, d0, mask, n := m.q, m.d, m.mask, m.bytes
	if n > wide {
		return m.commitWide()
	}
	var diff uint64
	for i := uintptr(0); i < n; i += 8 {
		q, d := (*uint64)(unsafe.Add(q0, i)), *(*uint64)(unsafe.Add(d0, i))
		diff |= (*q ^ d) & *(*uint64)(unsafe.Add(mask, i))
		*q = d
	}
	return diff != 0
}

// wide is the size of state in bytes from which commitWide is faster.
const wide = 128

// commitWide is commit for large states.
func (m *modrec) commitWide() bool {
	q, d := unsafe.Slice((*byte)(m.q), m.bytes), unsafe.Slice((*byte)(m.d), m.bytes)
	if bytes.Equal(q, d) {
		return false
	}
	diff := m.differs()
	copy(q, d)
	return diff
}

// commitWords is commit that also notes which words changed, if any did, a bit each.
func (m *modrec) commitWords(moved []uint64) bool {
	n := m.bytes / 8
	if m.bytes > wide && bytes.Equal(unsafe.Slice((*byte)(m.q), m.bytes), unsafe.Slice((*byte)(m.d), m.bytes)) {
		return false
	}
	q, d, mask := unsafe.Slice((*uint64)(m.q), n), unsafe.Slice((*uint64)(m.d), n), unsafe.Slice((*uint64)(m.mask), n)
	var changed uint64
	for g := range moved {
		var set uint64
		at := g * 64
		for i := at; i < min(at+64, len(q)); i++ {
			x := (q[i] ^ d[i]) & mask[i]
			q[i] = d[i]
			set |= (x | -x) >> 63 << (i & 63)
		}
		moved[g] = set
		changed |= set
	}
	return changed != 0
}

// differs compares present and next state.
func (m *modrec) differs() bool {
	var diff uint64
	for i := uintptr(0); i < m.bytes; i += 8 {
		x := *(*uint64)(unsafe.Add(m.q, i)) ^ *(*uint64)(unsafe.Add(m.d, i))
		diff |= x & *(*uint64)(unsafe.Add(m.mask, i))
	}
	return diff != 0
}
