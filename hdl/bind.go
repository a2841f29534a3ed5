package hdl

import (
	"reflect"
	"slices"
	"unsafe"
)

func (i *In[T]) bind(e *elab, path string, own *block) {
	if i.info == nil {
		e.errorf(path, "the port is not connected")
		return
	}
	if i.info.in != unsafe.Pointer(i) {
		e.errorf(path, "the port was copied after Connect")
		return
	}
	if i.info.twice {
		e.errorf(path, "the port is connected twice")
	}
	if !i.info.tied && i.info.depth < 2 {
		e.errorf(path, "a stream of depth %d: at least 2", i.info.depth)
	}
	i.info.dstBlk, i.info.inPath = own, path
	i.info.lay = e.layout(path, reflect.TypeFor[T]())
	i.info.idx = len(e.ins)
	e.ins = append(e.ins, &i.fifo)
	if !i.info.tied {
		e.list(func(l *lister) { l.in(&i.fifo) })
	}
}

func (o *Out[T]) bind(e *elab, path string, own *block) {
	if o.s == nil {
		e.errorf(path, "the port is not connected")
		return
	}
	if o.s.info.out != unsafe.Pointer(o) && !o.twice {
		e.errorf(path, "the port was copied after Connect")
		return
	}
	if o.twice {
		e.errorf(path, "the port is connected twice")
	}
	if o.s.info.tied {
		o.s.info.srcPath, o.s.info.dstBlk = path, own
		o.s.info.lay = e.layout(path, reflect.TypeFor[T]())
	}
	o.s.info.srcBlk, o.s.info.srcPath = own, path
	e.outs = append(e.outs, outPort{o.s, path})
	if !o.s.info.tied {
		e.list(func(l *lister) { l.out(o.s) })
	}
}

func (s *Sig[T]) bind(e *elab, path string, own *block) {
	c := &s.core
	if c.self != nil && c.self != unsafe.Pointer(s) {
		e.errorf(path, "the level was copied after Wire")
		return
	}
	c.rec.q, c.rec.d = unsafe.Pointer(&s.cur), unsafe.Pointer(&s.next)
	c.blk, c.path = own, path
	if c.lay = e.layout(path, reflect.TypeFor[T]()); c.lay != nil {
		c.rec.bytes, c.rec.mask = c.lay.words*8, unsafe.Pointer(unsafe.SliceData(c.lay.mask))
	}
	c.idx = len(e.k.sigs)
	e.k.sigs = append(e.k.sigs, c)
	e.list(func(l *lister) { l.level(c) })
}

func (t *Tap[T]) bind(e *elab, path string, own *block) {
	if t.cur == nil {
		e.errorf(path, "the tap is not wired")
		return
	}
	if t.tap.self != unsafe.Pointer(t) {
		e.errorf(path, "the tap was copied after Wire")
		return
	}
	if t.tap.twice {
		e.errorf(path, "the tap is wired twice")
	}
	t.tap.blk = own
	t.tap.path = path
	e.taps = append(e.taps, &t.tap)
}

func (r *RAM[T]) bind(e *elab, path string, own *block) {
	c := &r.core
	if c.depth < 1 {
		e.errorf(path, "the RAM has no size: Init before Elaborate")
		return
	}
	if c.self != unsafe.Pointer(r) {
		e.errorf(path, "the RAM was copied after Init")
		return
	}
	if own.idx < 0 {
		e.errorf(path, "a RAM belongs to a module")
		return
	}
	c.blk, c.path = own, path
	c.lay = e.layout(path, reflect.TypeFor[T]())
	c.idx = len(e.k.rams)
	e.k.rams = append(e.k.rams, c)
	e.list(func(l *lister) { l.ram(c) })
}

// check finds ports whose other end is missing from the design.
func (e *elab) check() {
	for _, s := range e.ins {
		if s.info.srcBlk == nil && !s.info.tied {
			e.errorf(s.info.inPath, "the port's producer is not part of the design")
		}
	}
	for _, o := range e.outs {
		if o.s.info.dstBlk == nil {
			e.errorf(o.path, "the port's consumer is not part of the design")
		}
	}
	for _, t := range e.taps {
		if t.lvl.blk == nil {
			e.errorf(t.path, "the tap's level is not part of the design")
		}
	}
	for _, g := range e.k.sigs {
		for _, t := range g.taps {
			if t.blk == nil {
				e.errorf(g.path, "a tap of the level is not part of the design")
			}
		}
	}
}

// finish numbers everything and allocates storage.
func (e *elab) finish() {
	k := e.k
	words := func(n int) int { return (n + 63) / 64 }
	k.agentWord = words(len(k.mods))
	k.mods = slices.Grow(k.mods, k.agentWord<<6-len(k.mods)) // eval goes by 64
	k.agentEnd = k.agentWord + words(len(k.agents))
	k.awake, k.snap = make([]uint64, k.agentEnd), make([]uint64, k.agentEnd)
	k.timers.grow(k.agentEnd << 6)
	k.blocks = append(k.blocks, make([]*block, k.agentEnd<<6-len(k.blocks))...)
	for i := range k.mods {
		k.wake(int32(i))
	}
	for j, a := range k.agents {
		b := &a.behave().blk
		b.idx = int32(k.agentWord<<6 + j)
		k.blocks[b.idx] = b
		k.wake(b.idx)
	}
	for _, s := range e.ins {
		k.streams = append(k.streams, s)
		in := s.info
		if in.tied {
			in.srcBlk = in.dstBlk
		}
		s.src, s.dst = in.srcBlk.idx, in.dstBlk.idx
		s.word, s.wakes = uint32(s.src)>>6, 1<<(s.src&63)
		if s.apart = uint32(s.dst)>>6 != s.word; !s.apart {
			s.wakes |= 1 << (s.dst & 63)
		}
		s.stride, s.depth = uint32(in.lay.words*8), uint32(in.depth)
		s.end = s.stride * s.depth
		s.base = buffer(uintptr(s.end))
	}
	k.sigWord = words(len(k.streams))
	k.streams = slices.Grow(k.streams, k.sigWord<<6-len(k.streams)) // as edge
	k.ramWord = k.sigWord + words(len(k.sigs))
	k.dirty = make([]uint64, k.ramWord+words(len(k.rams)))
	for i, s := range k.streams {
		s.dirty, s.bit = &k.dirty[i>>6], 1<<(i&63)
	}
	for i, s := range k.sigs {
		s.dirty, s.bit = &k.dirty[k.sigWord+i>>6], 1<<(i&63)
		s.wakes = []int32{s.blk.idx}
		for _, t := range s.taps {
			s.wakes = append(s.wakes, t.blk.idx)
		}
	}
	for i, r := range k.rams {
		r.dirty, r.bit = &k.dirty[k.ramWord+i>>6], 1<<(i&63)
		r.owner, r.stride = r.blk.idx, r.lay.words*8
		r.mem = make([]uint64, uintptr(r.depth)*r.lay.words)
		for p := range r.ports {
			r.ports[p].data, r.ports[p].in = buffer(r.stride), buffer(r.stride)
		}
	}
	if k.opt.Strict {
		k.strict = newStrict(k)
	}
	if k.opt.Digest {
		k.trace = &trace{digest: make([]uint64, len(k.mods))}
	}
	k.slow = k.strict != nil || k.trace != nil
}

// buffer allocates zeroed storage, at least a word, for flat values.
func buffer(bytes uintptr) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(make([]uint64, max(1, bytes/8))))
}
