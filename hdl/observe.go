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
	mods      []uint64 // changed in the cycle, a bit each
	moved     []uint64 // streams, levels and RAMs that did something, as Kernel.dirty
	before    []uint64 // moved of the cycle before
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

// stream brings a stream's view up to its present state.
func (w *watch) stream(k *Kernel, i int) {
	s, v := k.streams[i], &w.streams[i]
	v.valid, v.ready, v.count = s.n > 0, s.n < s.depth && !s.info.tied, s.n
}

// edge tells observers what changed, after the cycle count moved.
func (w *watch) edge(k *Kernel) {
	st := w.ch.State[:0]
	for word, set := range w.mods {
		w.mods[word] = 0
		for ; set != 0; set &= set - 1 {
			st = append(st, int32(word<<6|bits.TrailingZeros64(set)))
		}
	}
	for word, set := range w.moved {
		for ; set != 0; set &= set - 1 {
			i := word<<6 | bits.TrailingZeros64(set)
			if word < k.sigWord {
				w.stream(k, i)
				o := int32(k.streamOwner(i))
				st = append(st, o, o+1)
			} else if word < k.ramWord {
				st = append(st, int32(k.levelOwner(i-k.sigWord<<6)))
			}
		}
	}
	w.ch.State = st
	w.past(k)
	for _, o := range w.observers {
		o.Edge(k.cycle, &w.ch)
	}
}

// past lists what moved in the cycle or in the one before, and clears the latter.
func (w *watch) past(k *Kernel) {
	p := w.ch.Past[:0]
	for word, now := range w.moved {
		gone := w.before[word] &^ now
		for set := now | gone; set != 0; set &= set - 1 {
			b := set & -set
			i := word<<6 | bits.TrailingZeros64(set)
			switch {
			case word < k.sigWord:
				if gone&b != 0 {
					w.streams[i].put, w.streams[i].take = false, false
				}
				p = append(p, int32(k.streamOwner(i)+2))
			case word >= k.ramWord:
				r := i - k.ramWord<<6
				if gone&b != 0 {
					w.rams[r] = ramView{}
				}
				p = append(p, int32(k.ramOwner(r)))
			}
		}
		w.before[word], w.moved[word] = now, 0
	}
	w.ch.Past = p
}

func (w *watch) jump(k *Kernel, to uint64) {
	w.ch.State = w.ch.State[:0]
	w.past(k)
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
