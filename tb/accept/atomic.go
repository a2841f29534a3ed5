package accept

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"rnic/abi"
	"rnic/roce"
)

// atomic is a request that was carried out, or may have been.
type atomic struct {
	swap    bool
	add     uint64 // or the value to store
	compare uint64
	orig    uint64 // what it returned
	known   bool   // it has
}

// after is what it makes of a value.
func (a *atomic) after(v uint64) uint64 {
	switch {
	case !a.swap:
		return v + a.add
	case v == a.compare:
		return a.add
	}
	return v
}

// word is 8 bytes that atomics work on.
type word struct {
	key     abi.Key
	va      uint64
	initial []byte // before the first of them
	queues  map[uint32][]*atomic
}

// carry notes an atomic that the responder has accepted.
func (q *qp) carry(n seq, p *roce.Packet) {
	r, e := &q.responds, &p.AtomicETH
	if r.atoms[n] != nil {
		return // in another state
	}
	a := &atomic{swap: p.BTH.Opcode == roce.RCCmpSwap, add: e.SwapAdd, compare: e.Compare}
	r.atoms[n] = a
	w := q.a.words[e.VA]
	if w == nil {
		w = &word{key: abi.Key(e.RKey), va: e.VA, initial: q.a.bytes(abi.Key(e.RKey), e.VA, 8), queues: map[uint32][]*atomic{}}
		q.a.words[e.VA] = w
	}
	w.queues[q.qpn] = append(w.queues[q.qpn], a)
	q.a.log(abi.Key(e.RKey), e.VA, nil)
}

// serial demands that the atomics of a word have an order, that of each QP kept, in
// which each returns what those before it have made, and all together make what is
// there. One without an answer may have been carried out or not, with all of its QP
// behind it. WRITEs to the word make it nobody's business.
func (a *Acceptor) serial(w *word) error {
	if w.initial == nil || a.touched(w) {
		return nil
	}
	o := order{steps: 100_000, final: binary.NativeEndian.Uint64(a.bytes(w.key, w.va, 8))}
	for _, qpn := range slices.Sorted(maps.Keys(w.queues)) {
		o.queues = append(o.queues, w.queues[qpn])
	}
	if !o.find(binary.NativeEndian.Uint64(w.initial)) {
		return fmt.Errorf("word at %#x: the atomics have no order in which each returns what those before it have made and all make %#x; none follows %d of them, which make %#x (roce.md, Responder: ATOMICs are atomic to each other)",
			w.va, o.final, o.deepest, o.stuck)
	}
	return nil
}

// touched tells whether a WRITE went to the word.
func (a *Acceptor) touched(w *word) bool {
	for i := range a.writes {
		if o := &a.writes[i]; o.data != nil && o.key == w.key && o.va < w.va+8 && w.va < o.va+uint64(len(o.data)) {
			return true
		}
	}
	return false
}

// order is the search for one.
type order struct {
	queues  [][]*atomic
	final   uint64
	steps   int // left
	depth   int
	deepest int
	stuck   uint64
}

// find tells whether what is left of the queues can follow value v. When it has run
// out of steps it says yes.
func (o *order) find(v uint64) bool {
	o.steps--
	if o.steps < 0 {
		return true
	}
	if o.depth >= o.deepest {
		o.deepest, o.stuck = o.depth, v
	}
	left := false
	for i, l := range o.queues {
		if len(l) == 0 || !l[0].known {
			continue
		}
		left = true
		if l[0].orig != v {
			continue
		}
		next := l[0].after(v)
		if o.try(i, next) {
			return true
		}
		if next == v {
			return false // it could come first, whatever the rest
		}
	}
	if !left && v == o.final {
		return true
	}
	for i, l := range o.queues {
		if len(l) > 0 && !l[0].known && o.try(i, l[0].after(v)) {
			return true
		}
	}
	return false
}

// try goes on with the first of queue i done.
func (o *order) try(i int, v uint64) bool {
	l := o.queues[i]
	o.queues[i] = l[1:]
	o.depth++
	ok := o.find(v)
	o.depth--
	o.queues[i] = l
	return ok
}
