package hdl

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unsafe"
)

// What follows reads a kernel that is not running, for diagnosis. No Eval may.

// Stream is a stream as of the last edge.
type Stream struct {
	From, Out string // the block that puts and its port, full paths
	To, In    string // the block that takes and its port
	N, Depth  int
	Since     uint64 // cycle of the last beat in or out

	s *fifo
}

// Full tells whether there is no room for another beat.
func (s *Stream) Full() bool { return s.N == s.Depth }

// Streams lists the streams in the order of elaboration, but for ports that are tied
// off.
func (k *Kernel) Streams() []Stream {
	var l []Stream
	for _, s := range k.streams {
		if in := s.info; !in.tied {
			l = append(l, Stream{
				From: in.srcBlk.path, Out: in.srcPath, To: in.dstBlk.path, In: in.inPath,
				N: int(s.n), Depth: int(s.depth), Since: s.since, s: s,
			})
		}
	}
	return l
}

// Fields names the fields of the beats of a stream, as waves do.
func (s *Stream) Fields() []string {
	var l []string
	for i := range s.s.info.lay.leaves {
		l = append(l, s.s.info.lay.leaves[i].name)
	}
	return l
}

// Beat reads a field of the i-th beat that waits, from 0 for the oldest. Beyond N, or
// for a field that there is not, ok is false.
func (s *Stream) Beat(i int, field string) (v Value, ok bool) {
	if i < 0 || i >= s.N {
		return v, false
	}
	at := (s.s.rd + uint32(i)*s.s.stride) % s.s.end
	return s.s.info.lay.value(unsafe.Add(s.s.base, at), field)
}

// Register reads a flip-flop of a module. Both are named as in waves, the module with
// its full path.
func (k *Kernel) Register(module, field string) (v Value, ok bool) {
	for i := range k.mods {
		if k.mods[i].blk().path == module {
			return k.lays[i].value(k.mods[i].q, field)
		}
	}
	return v, false
}

// Word reads a field of a word of a RAM.
func (k *Kernel) Word(ram string, addr int, field string) (v Value, ok bool) {
	for _, r := range k.rams {
		if r.path == ram && addr >= 0 && addr < r.depth {
			return r.lay.value(r.word(addr), field)
		}
	}
	return v, false
}

// Value is the value of a field of at most 64 bits.
type Value struct {
	Bits uint64
	typ  reflect.Type
	enum bool
}

// True tells whether any bit is set.
func (v Value) True() bool { return v.Bits != 0 }

// String is the number, or the name of an enum's value.
func (v Value) String() string {
	if v.enum {
		return enumNames(v.typ)(v.Bits)
	}
	return strconv.FormatUint(v.Bits, 10)
}

// value reads a field of the flat value at p.
func (l *layout) value(p unsafe.Pointer, field string) (v Value, ok bool) {
	i := slices.IndexFunc(l.leaves, func(f leaf) bool { return f.name == field })
	if i < 0 || l.leaves[i].kind == Bytes {
		return v, false
	}
	f := &l.leaves[i]
	return Value{load(unsafe.Add(p, f.off), f.size), f.typ, f.kind == Enum}, true
}

// Activity tells whether a block will run by itself: when it is awake, or at the cycle
// due, ^uint64(0): never. ok is false if there is no such block.
func (k *Kernel) Activity(path string) (awake bool, due uint64, ok bool) {
	for i, b := range k.blocks {
		if b == nil || b.path != path {
			continue
		}
		due = never
		if d := &k.timers.of[i]; d.pos >= 0 {
			due = d.min()
		}
		return k.awake[i>>6]>>(i&63)&1 != 0, due, true
	}
	return false, never, false
}

// Waiter is a thread that waits for an event without limit.
type Waiter struct {
	Thread string // full path
	Event  string // its name; "" if it has none
	Since  uint64 // cycle
}

// String says who waits for what, since when.
func (w Waiter) String() string {
	event := w.Event
	if event == "" {
		event = "an event"
	}
	return fmt.Sprintf("thread %s waits for %s since cycle %d", w.Thread, event, w.Since)
}

// Waiters lists the threads that wait for an event without limit, in the order in
// which they were added.
func (k *Kernel) Waiters() []Waiter {
	var l []Waiter
	for _, t := range k.threads {
		if t.waits != nil && !t.limited && !t.done {
			l = append(l, Waiter{t.blk.path, t.waits.Name, t.since})
		}
	}
	return l
}
