package hdl

import "unsafe"

// Sig is a registered level that other modules see, a field of the module that
// drives it. It holds its value until it is set, and is zero at reset.
type Sig[T comparable] struct {
	cur  T
	_    [0]uint64
	next T
	_    [0]uint64
	core level
}

// level is a Sig without its type.
type level struct {
	rec    modrec // cur as q, next as d
	dirty  *uint64
	bit    uint64
	wakes  []int32 // the driver and the readers
	self   unsafe.Pointer
	blk    *block
	path   string
	lay    *layout
	taps   []*tap
	digest uint64
	idx    int // in Kernel.sigs
}

// Tap is a reading end of a Sig, a field of the module that reads it.
type Tap[T comparable] struct {
	cur *T
	tap tap
}

type tap struct {
	lvl   *level
	path  string
	self  unsafe.Pointer
	blk   *block
	twice bool
}

// Wire connects readers to a level.
func Wire[T comparable](s *Sig[T], taps ...*Tap[T]) {
	s.core.self = unsafe.Pointer(s)
	for _, t := range taps {
		if t.cur != nil {
			t.tap.twice = true
			continue
		}
		t.cur, t.tap.lvl, t.tap.self = &s.cur, &s.core, unsafe.Pointer(t)
		s.core.taps = append(s.core.taps, &t.tap)
	}
}

// Set gives the level its value after the coming edge. The last Set of a cycle
// counts.
func (s *Sig[T]) Set(v T) {
	s.next = v
	*s.core.dirty |= s.core.bit
}

// Get is the driver's own view: the present value.
func (s *Sig[T]) Get() T { return s.cur }

// Get is the present value of the level.
func (t *Tap[T]) Get() T { return *t.cur }

// edge commits the level and, if it changed, wakes its driver and readers.
func (s *level) edge(k *Kernel) bool {
	if !s.rec.commit() {
		return false
	}
	for _, i := range s.wakes {
		k.wake(i)
	}
	return true
}
