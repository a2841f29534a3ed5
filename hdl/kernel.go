package hdl

import (
	"math/bits"
	"unsafe"
)

// Options are the choices of a kernel. The zero value runs fast.
type Options struct {
	Seed     uint64 // of every Rand
	Strict   bool   // random order of evaluation, no module gated, every rule checked
	Order    uint64 // seed of the order of evaluation in strict mode
	Digest   bool   // Digest covers all that ever happened, not only present state
	PeriodPs int64  // clock period; 4000 if zero
}

// Kernel runs one clock domain: the modules, agents and threads of one host.
//
// A cycle is: Eval of every awake module, the edge, then agents and threads. They
// see the state of the cycle that the edge began, and what they put and take
// commits with that cycle's own edge.
type Kernel struct {
	cycle uint64
	slow  bool // stepSlow instead of eval and edge
	ghost bool // evaluating a module that sleeps, in strict mode
	cur   int32

	// awake has a bit a block: modules, then agents, then threads, each from a
	// word of its own.
	awake               []uint64
	snap                []uint64
	agentWord, agentEnd int
	dirty               []uint64 // a bit a stream, sig and RAM, likewise
	sigWord, ramWord    int
	mods                []modrec
	lays                []*layout // of mods
	streams             []*fifo
	sigs                []*level
	rams                []*ram
	agents              []Agent
	threads             []*Thread
	timers              timers
	started, stopped    bool
	blocks              []*block // by bit in awake
	name                string
	opt                 Options
	err                 error
	strict              *strict
	trace               *trace
	watch               *watch
	listing             []func(*lister)
	steps, jumped       uint64
}

// Cycle is the present cycle; the first is 0.
func (k *Kernel) Cycle() uint64 { return k.cycle }

// Name is the name given to Elaborate.
func (k *Kernel) Name() string { return k.name }

// PeriodPs is the clock period in picoseconds.
func (k *Kernel) PeriodPs() int64 { return k.opt.PeriodPs }

// Options are those given to Elaborate.
func (k *Kernel) Options() Options { return k.opt }

func (k *Kernel) wake(i int32) { k.awake[uint32(i)>>6] |= 1 << (uint32(i) & 63) }

func (b *block) wakeAt(cycle uint64) {
	k := b.k
	switch {
	case cycle <= k.cycle || k.ghost:
	case cycle == k.cycle+1:
		k.wake(b.idx)
	default:
		k.timers.add(b.idx, cycle)
	}
}

// Step runs one clock cycle. A broken rule panics; Run recovers it.
func (k *Kernel) Step() {
	k.start()
	k.steps++
	if k.slow {
		k.stepSlow()
	} else {
		k.eval()
		k.edge()
		k.cycle++
	}
	k.settle()
}

// start runs agents and threads of cycle 0.
func (k *Kernel) start() {
	if !k.started {
		k.started = true
		k.settle()
	}
}

// eval evaluates what is awake and commits each module after its Eval. What it
// clears here is set again by what changes now or moves at the edge.
func (k *Kernel) eval() {
	for w, set := range k.awake[:k.agentWord] {
		if set != 0 {
			k.awake[w] = 0
			k.awake[w] |= k.evalWord(int32(w<<6), set, (*[64]modrec)(k.mods[w<<6:w<<6+64]))
		}
	}
}

// evalWord evaluates those of 64 modules that are in set, and returns those whose
// state changed.
func (k *Kernel) evalWord(base int32, set uint64, mods *[64]modrec) (live uint64) {
	for ; set != 0; set &= set - 1 {
		b := bits.TrailingZeros64(set)
		m := &mods[b&63]
		k.cur = base + int32(b)
		m.mod.Eval()
		// This is modrec.commit, written out: a call would cost a tenth of a step.
		n := m.bytes
		if n-1 >= wide {
			if n != 0 && m.commitWide() {
				live |= 1 << b
			}
			continue
		}
		q, d, mask := m.q, m.d, m.mask
		var diff uint64
		for i := uintptr(0); i < n; i += 8 {
			q, d := (*uint64)(unsafe.Add(q, i)), *(*uint64)(unsafe.Add(d, i))
			diff |= (*q ^ d) & *(*uint64)(unsafe.Add(mask, i))
			*q = d
		}
		if diff != 0 {
			live |= 1 << b
		}
	}
	return live
}

// edge commits what moved.
func (k *Kernel) edge() {
	for w, set := range k.dirty[:k.sigWord] {
		if set != 0 {
			k.dirty[w] = 0
			k.edgeWord(set, (*[64]*fifo)(k.streams[w<<6:w<<6+64]))
		}
	}
	for w, set := range k.dirty[k.sigWord:] {
		if set != 0 {
			k.dirty[k.sigWord+w] = 0
			k.edgeOther(w, set)
		}
	}
}

// edgeWord commits those of 64 streams that are in set. Waking goes through a word
// of the awake map kept at hand while it stays the same.
func (k *Kernel) edgeWord(set uint64, streams *[64]*fifo) {
	now := k.cycle + 1
	word, wakes := uint32(0), uint64(0)
	for ; set != 0; set &= set - 1 {
		s := streams[bits.TrailingZeros64(set)&63]
		s.advance(now)
		if s.word != word {
			k.awake[word] |= wakes
			word, wakes = s.word, 0
		}
		wakes |= s.wakes
		if s.apart {
			k.wake(s.dst)
		}
	}
	k.awake[word] |= wakes
}

func (k *Kernel) edgeOther(w int, set uint64) {
	for ; set != 0; set &= set - 1 {
		i := w<<6 | bits.TrailingZeros64(set)
		if sigWords := k.ramWord - k.sigWord; w < sigWords {
			k.sigs[i].edge(k)
		} else {
			k.rams[i-sigWords<<6].edge(k)
		}
	}
}

// settle runs what comes after the edge: timers, agents, threads. Whatever is
// woken meanwhile runs next time round.
func (k *Kernel) settle() {
	if k.timers.first <= k.cycle {
		k.timers.fire(k)
	}
	lo, mid := k.agentWord, k.agentEnd
	for w := lo; w < mid; w++ {
		k.snap[w], k.awake[w] = k.awake[w], 0
	}
	for w := lo; w < mid; w++ {
		for set := k.snap[w]; set != 0; set &= set - 1 {
			i := w<<6 | bits.TrailingZeros64(set)
			k.cur = int32(i)
			k.agents[i-lo<<6].Tick()
		}
	}
	end := len(k.awake)
	for w := mid; w < end; w++ {
		k.snap[w], k.awake[w] = k.awake[w], 0
	}
	for w := mid; w < end; w++ {
		for set := k.snap[w]; set != 0; set &= set - 1 {
			i := w<<6 | bits.TrailingZeros64(set)
			k.cur = int32(i)
			k.threads[i-mid<<6].resume()
		}
	}
}

// idle tells whether nothing can happen before the next deadline.
func (k *Kernel) idle() bool {
	any := uint64(0)
	for _, w := range k.awake {
		any |= w
	}
	for _, w := range k.dirty {
		any |= w
	}
	return any == 0
}
