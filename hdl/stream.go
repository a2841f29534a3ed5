package hdl

import "unsafe"

// fifo is a register slice or FIFO between two blocks: everything but the type
// of its payload. It lives in the consuming port.
//
// Valid, ready and head depend on present state only. Put and Take set push and
// pop and the stream's bit in the kernel's dirty map; the edge does the rest.
type fifo struct {
	base     unsafe.Pointer
	dirty    *uint64
	bit      uint64
	n, depth uint32
	rd, wr   uint32 // byte offsets of head and free slot
	stride   uint32
	end      uint32
	push     uint32 // all ones when asked for
	pop      uint32
	wakes    uint64 // what to wake in a word of Kernel.awake: both ends,
	word     uint32 // unless they are
	apart    bool   // in two words; then it is the source alone
	src, dst int32  // blocks to wake
	since    uint64 // cycle that the last transfer was seen in
	info     *streamInfo
}

const all = ^uint32(0)

// streamInfo is the part of a stream that no clock cycle needs.
type streamInfo struct {
	in, out         unsafe.Pointer // addresses of the ports, to notice copies
	srcBlk, dstBlk  *block
	srcPath, inPath string // full paths of the ports
	lay             *layout
	depth           int
	tied            bool
	twice           bool
	digest          uint64
	idx             int // in Kernel.streams
}

// In is the consuming end of a stream, a field of the module that reads it.
type In[T any] struct{ fifo }

// Out is the producing end of a stream, a field of the module that writes it.
type Out[T any] struct {
	s     *fifo
	twice bool
}

// Connect joins a producer to a consumer through depth registers. A depth of 2,
// the least, sustains a beat every cycle; more make it a FIFO.
func Connect[T any](o *Out[T], i *In[T], depth int) {
	if o.s != nil {
		o.twice = true
	}
	if i.info != nil {
		i.info.twice = true
		return
	}
	i.info = &streamInfo{in: unsafe.Pointer(i), out: unsafe.Pointer(o), depth: depth}
	o.s = &i.fifo
}

// Port is any stream port, for TieOff.
type Port interface{ tieOff() }

// TieOff leaves ports unused on purpose: an In never becomes valid, an Out is
// never ready.
func TieOff(ports ...Port) {
	for _, p := range ports {
		p.tieOff()
	}
}

func (i *In[T]) tieOff() {
	if i.info != nil {
		i.info.twice = true
		return
	}
	i.info = &streamInfo{in: unsafe.Pointer(i), tied: true, depth: 2}
}

func (o *Out[T]) tieOff() {
	if o.s != nil {
		o.twice = true
		return
	}
	o.s = &fifo{info: &streamInfo{out: unsafe.Pointer(o), tied: true}}
}

// Valid tells whether there is a beat to take.
func (i *In[T]) Valid() bool { return i.n != 0 }

// Len is the number of beats waiting, as of the last edge.
func (i *In[T]) Len() int { return int(i.n) }

// Head is the oldest beat, not taken. It must be Valid. The pointer is good until
// the edge after Take.
func (i *In[T]) Head() *T {
	if i.n == 0 {
		panic(takeMisuse{&i.fifo})
	}
	return (*T)(unsafe.Add(i.base, i.rd))
}

// Take removes the oldest beat at the coming edge and returns it, good until
// that edge. It must be Valid, once a cycle.
func (i *In[T]) Take() *T {
	if i.n == 0 || i.pop != 0 {
		panic(takeMisuse{&i.fifo})
	}
	i.pop = all
	*i.dirty |= i.bit
	return (*T)(unsafe.Add(i.base, i.rd))
}

// Ready tells whether there is room for a beat, as of the last edge.
func (o *Out[T]) Ready() bool { return o.s.n < o.s.depth }

// Space is the number of beats that there is room for, as of the last edge.
func (o *Out[T]) Space() int { return int(o.s.depth - o.s.n) }

// Next is a Put whose beat is filled in place: the caller sets every field of
// the slot, which holds a stale beat, before Eval returns. The stream must be
// Ready, and Put or Next called once a cycle.
func (o *Out[T]) Next() *T {
	s := o.s
	if s.n >= s.depth || s.push != 0 {
		panic(putMisuse{s})
	}
	s.push = all
	*s.dirty |= s.bit
	return (*T)(unsafe.Add(s.base, s.wr))
}

// Put adds a beat, which the consumer sees after the coming edge. The stream
// must be Ready, and Put or Next called once a cycle.
func (o *Out[T]) Put(v T) { *o.Next() = v }

// advance commits what Put and Take asked for, at the edge that begins a cycle.
func (s *fifo) advance(now uint64) {
	push, pop := s.push, s.pop
	s.push, s.pop = 0, 0
	s.n += pop - push
	// Where a ring of two wraps is as random as the stalls: conditional moves, not branches.
	wr, rd := s.wr+s.stride&push, s.rd+s.stride&pop
	if wr == s.end {
		wr = 0
	}
	if rd == s.end {
		rd = 0
	}
	s.wr, s.rd = wr, rd
	s.since = now
}

// edge commits what Put and Take asked for and wakes both ends.
func (s *fifo) edge(k *Kernel) {
	s.advance(k.cycle + 1)
	k.wake(s.src)
	k.wake(s.dst)
}
