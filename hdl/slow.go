package hdl

import (
	"math/bits"
	"math/rand/v2"
	"unsafe"
)

// strict is what the strict mode needs besides the kernel.
type strict struct {
	order []int32
	rng   *rand.Rand
	of    []owned // by module
}

// owned is what a module can touch.
type owned struct {
	lay  *layout
	outs []*fifo
	ins  []*fifo
	sigs []*level
	rams []*ram
}

func newStrict(k *Kernel) *strict {
	x := &strict{rng: rand.New(rand.NewPCG(k.opt.Order, 0x5eed)), of: make([]owned, len(k.mods))}
	for i := range k.mods {
		x.order = append(x.order, int32(i))
		x.of[i].lay = k.lays[i]
	}
	at := func(i int32) *owned {
		if int(i) < len(x.of) {
			return &x.of[i]
		}
		return &owned{}
	}
	for _, s := range k.streams {
		at(s.src).outs = append(at(s.src).outs, s)
		at(s.dst).ins = append(at(s.dst).ins, s)
		for n := range s.depth {
			s.info.lay.poisonAt(unsafe.Add(s.base, n*s.stride))
		}
	}
	for _, s := range k.sigs {
		at(s.blk.idx).sigs = append(at(s.blk.idx).sigs, s)
	}
	for _, r := range k.rams {
		at(r.owner).rams = append(at(r.owner).rams, r)
		for j := range r.ports {
			r.lay.poisonAt(r.ports[j].in)
		}
	}
	return x
}

// poisonAt overwrites a free slot with a value that nothing should depend on.
func (l *layout) poisonAt(p unsafe.Pointer) {
	for i, w := range l.poison {
		*(*uint64)(unsafe.Add(p, i*8)) = w
	}
}

// stepSlow is eval and edge with all that costs: strict mode, digests, observers.
// Whatever is awake, changes and moves is the same as in the fast step.
func (k *Kernel) stepSlow() {
	n := k.agentWord
	for w := range n {
		k.snap[w], k.awake[w] = k.awake[w], 0
	}
	if x := k.strict; x != nil {
		x.rng.Shuffle(len(x.order), func(i, j int) { x.order[i], x.order[j] = x.order[j], x.order[i] })
		for _, i := range x.order {
			k.evalStrict(i)
		}
	} else {
		for w := range n {
			for set := k.snap[w]; set != 0; set &= set - 1 {
				k.evalTraced(int32(w<<6 | bits.TrailingZeros64(set)))
			}
		}
	}
	k.edgeSlow()
	k.cycle++
	if k.watch != nil {
		k.watch.edge(k)
	}
}

func (k *Kernel) evalTraced(i int32) {
	k.cur = i
	k.mods[i].mod.Eval()
	k.commitSlow(i)
}

func (k *Kernel) commitSlow(i int32) bool {
	if w := k.watch; w != nil {
		if !k.mods[i].commitWords(w.words[i]) {
			return false
		}
		w.module(i)
	} else if !k.mods[i].commit() {
		return false
	}
	k.wake(i)
	if k.trace != nil {
		k.trace.module(k, i)
	}
	return true
}

// evalStrict evaluates a module whether it sleeps or not. That a sleeping one
// stays still is the proof that gating it was right.
func (k *Kernel) evalStrict(i int32) {
	k.cur = i
	m, own := &k.mods[i], &k.strict.of[i]
	k.ghost = k.snap[i>>6]>>(i&63)&1 == 0
	m.mod.Eval()
	blk := m.blk()
	if msg := own.lay.overflow(m.d); msg != "" {
		blk.fail("%s", msg)
	}
	changed := k.commitSlow(i)
	if k.ghost {
		if changed || own.touched() {
			blk.fail("moved while it slept: Eval depends on Now without WakeAt, or on state outside Q, ports and RAMs")
		}
		k.ghost = false
	}
}

func (o *owned) touched() bool {
	for _, s := range o.outs {
		if s.push != 0 {
			return true
		}
	}
	for _, s := range o.ins {
		if s.pop != 0 {
			return true
		}
	}
	for _, s := range o.sigs {
		if s.rec.differs() {
			return true
		}
	}
	for _, r := range o.rams {
		if r.ports[0].op|r.ports[1].op != ramIdle {
			return true
		}
	}
	return false
}

func (k *Kernel) edgeSlow() {
	for w, set := range k.dirty {
		k.dirty[w] = 0
		for ; set != 0; set &= set - 1 {
			i := w<<6 | bits.TrailingZeros64(set)
			switch {
			case w < k.sigWord:
				k.streamSlow(i)
			case w < k.ramWord:
				k.sigSlow(i - k.sigWord<<6)
			default:
				k.ramSlow(i - k.ramWord<<6)
			}
		}
	}
}

func (k *Kernel) streamSlow(i int) {
	s := k.streams[i]
	popped, rd := s.pop != 0, s.rd
	if k.strict != nil && s.push != 0 {
		if msg := s.info.lay.overflow(unsafe.Add(s.base, s.wr)); msg != "" {
			s.info.srcBlk.fail("%s: %s", s.info.srcPath, msg)
		}
	}
	if k.trace != nil {
		k.trace.stream(k, i)
	}
	if k.watch != nil {
		k.watch.put(k, i)
	}
	s.edge(k)
	if k.strict != nil && popped {
		s.info.lay.poisonAt(unsafe.Add(s.base, rd))
	}
}

func (k *Kernel) sigSlow(i int) {
	s := k.sigs[i]
	if k.strict != nil {
		if msg := s.lay.overflow(s.rec.d); msg != "" {
			s.blk.fail("%s: %s", s.path, msg)
		}
	}
	if !s.edge(k) {
		return
	}
	if k.trace != nil {
		k.trace.level(k, i)
	}
	if k.watch != nil {
		k.watch.level(k, i)
	}
}

func (k *Kernel) ramSlow(i int) {
	r := k.rams[i]
	if k.strict != nil {
		for j := range r.ports {
			if p := &r.ports[j]; p.op == ramWrite {
				if msg := r.lay.overflow(p.in); msg != "" {
					r.blk.fail("%s: %s", r.path, msg)
				}
			}
		}
	}
	if k.trace != nil {
		k.trace.ram(k, i)
	}
	if k.watch != nil {
		k.watch.ram(k, i)
	}
	a, b := r.ports[0].op == ramWrite, r.ports[1].op == ramWrite
	r.edge(k)
	if k.strict != nil {
		if a {
			r.lay.poisonAt(r.ports[0].in)
		}
		if b {
			r.lay.poisonAt(r.ports[1].in)
		}
	}
}
