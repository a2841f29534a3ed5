package hdl

import "math/bits"

// Observer sees every edge.
type Observer interface {
	// Edge comes after the edge that begins a cycle, before agents and threads.
	Edge(cycle uint64, ch *Changes)
	// Jump comes when the cycles from..to-1 are skipped: nothing happens in them.
	Jump(from, to uint64, ch *Changes)
}

// Changes lists owners of signals whose values may differ from before, each in
// ascending order. The slices are good until the call returns.
type Changes struct {
	State []int32 // holds from the new cycle on
	Past  []int32 // holds for the cycle that ended (Role.Past): cycle-1 at Edge, from at Jump
}

// watch is what observers need besides the kernel.
type watch struct {
	observers []Observer
	streams   []streamView
	rams      []ramView
	ch        Changes
	mods      []uint64   // changed in the cycle, a bit each
	words     [][]uint64 // by module, those of its state that changed, likewise
	moved     []uint64   // streams, levels and RAMs that did something, as Kernel.dirty
	before    []uint64   // moved of the cycle before
}

// Observe adds an observer, before a run, between runs, or from an agent or thread.
// Signals of Role.Past are zero until the first Edge.
func (k *Kernel) Observe(o Observer) {
	if k.watch == nil {
		k.watch = &watch{
			streams: make([]streamView, len(k.streams)),
			rams:    make([]ramView, len(k.rams)),
			mods:    make([]uint64, k.agentWord),
			moved:   make([]uint64, len(k.dirty)),
			before:  make([]uint64, len(k.dirty)),
			words:   make([][]uint64, len(k.mods)),
		}
		for i := range k.mods {
			k.watch.words[i] = make([]uint64, (k.mods[i].bytes/8+63)/64)
		}
		for i := range k.streams {
			k.watch.stream(k, i)
		}
		k.slow = true
	}
	k.watch.observers = append(k.watch.observers, o)
}

// Unobserve removes an observer; without any left the kernel runs fast again.
func (k *Kernel) Unobserve(o Observer) {
	w := k.watch
	if w == nil {
		return
	}
	var rest []Observer
	for _, x := range w.observers {
		if x != o {
			rest = append(rest, x)
		}
	}
	if w.observers = rest; rest == nil {
		k.watch = nil
		k.slow = k.strict != nil || k.trace != nil
	}
}

// Moved tells which words of a module's registers changed with the edge that an observer
// is told of, if State lists the module: a bit each, the first word's in the lowest bit of
// the first. It is the same slice each time; nil if the owner is no module.
func (k *Kernel) Moved(owner int) []uint64 {
	if owner >= len(k.mods) {
		return nil
	}
	return k.watch.words[owner]
}

// stream brings a stream's view up to its present state.
func (w *watch) stream(k *Kernel, i int) {
	s, v := k.streams[i], &w.streams[i]
	v.valid, v.ready, v.count = s.n > 0, s.n < s.depth && !s.info.tied, s.n
}

// edge tells observers what changed, after the cycle count moved.
func (w *watch) edge(k *Kernel) {
	w.gather(k)
	for _, o := range w.observers {
		o.Edge(k.cycle, &w.ch)
	}
}

// gather lists what changed at the edge, and what moved in the cycle or in the one before.
func (w *watch) gather(k *Kernel) {
	st, past := w.ch.State[:0], w.ch.Past[:0]
	for word, set := range w.mods {
		w.mods[word] = 0
		for ; set != 0; set &= set - 1 {
			st = append(st, int32(word<<6|bits.TrailingZeros64(set)))
		}
	}
	for word, now := range w.moved {
		was := w.before[word]
		w.before[word], w.moved[word] = now, 0
		for set := now | was; set != 0; set &= set - 1 {
			b := set & -set
			i := word<<6 | bits.TrailingZeros64(set)
			switch {
			case word < k.sigWord:
				o := int32(k.streamOwner(i))
				if now&b != 0 {
					w.stream(k, i)
					st = append(st, o, o+1)
				} else {
					w.streams[i].put, w.streams[i].take = false, false
				}
				past = append(past, o+2)
			case word < k.ramWord:
				if now&b != 0 {
					st = append(st, int32(k.levelOwner(i-k.sigWord<<6)))
				}
			default:
				r := i - k.ramWord<<6
				if now&b == 0 {
					w.rams[r] = ramView{}
				}
				past = append(past, int32(k.ramOwner(r)))
			}
		}
	}
	w.ch.State, w.ch.Past = st, past
}

func (w *watch) jump(k *Kernel, to uint64) {
	w.gather(k)
	for _, o := range w.observers {
		o.Jump(k.cycle, to, &w.ch)
	}
}

// The following note what the edge is about to do.

func (w *watch) module(i int32) { w.mods[i>>6] |= 1 << (i & 63) }

func (w *watch) put(k *Kernel, i int) {
	s, v := k.streams[i], &w.streams[i]
	v.put, v.take = s.push != 0, s.pop != 0
	w.moved[i>>6] |= 1 << (i & 63)
}

func (w *watch) level(k *Kernel, i int) { w.moved[k.sigWord+i>>6] |= 1 << (i & 63) }

func (w *watch) ram(k *Kernel, i int) {
	v := &w.rams[i]
	for j := range v {
		p := &k.rams[i].ports[j]
		v[j].addr, v[j].read, v[j].write = uint64(p.addr), p.op == ramRead, p.op == ramWrite
	}
	w.moved[k.ramWord+i>>6] |= 1 << (i & 63)
}
