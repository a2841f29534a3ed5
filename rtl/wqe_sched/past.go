package wqesched

import "math/bits"

// pastLines is the most lines that stay of a QP for a rewind. With the one that is read
// ahead they have all places: at least 48 units before the one to be executed are there.
const pastLines = places - 1

// blocks is how many blocks it is from one to another.
func blocks(from, to uint16) uint16 { return (to - from) & blockMask }

// past is the number of lines that stay for a rewind.
func (e *lines) past() (n int) {
	for i := range e.Line {
		if e.Line[i].Past {
			n++
		}
	}
	return n
}

// used is the number of lines that do not.
func (e *lines) used() (n int) {
	for i := range e.Line {
		if l := &e.Line[i]; l.Own && !l.Past {
			n++
		}
	}
	return n
}

// back is told that a service begins at unit idx: lines from its block on are needed.
func (e *lines) back(idx uint16) {
	b, _ := split(idx)
	for i := range e.Line {
		if l := &e.Line[i]; blocks(b, l.Block) <= blockMask/2 {
			l.Past = false
		}
	}
}

// own gives line l a slot, and tells whether it took the one that is free. If none is
// free, the line that is farthest behind of those that stay for a rewind gives way.
func (e *lines) own(l *line, block uint16, slot int) (took bool) {
	took = slot != noSlot
	if !took {
		var far *line
		for i := range e.Line {
			if o := &e.Line[i]; o.Past && (far == nil || blocks(o.Block, block) > blocks(far.Block, block)) {
				far = o
			}
		}
		if far == nil {
			return false
		}
		slot = int(far.Slot)
		*far = line{}
	}
	*l = line{Own: true, Slot: uint8(slot), Block: block}
	return took
}

// done ends a service: what lies before exec is given back, and what could not be
// read, if it was looked at. Of the lines up to the one with the last unit that was
// executed, as many as may stay, for a rewind.
func (e *lines) done(exec uint16, starved bool, may uint16) (freed uint64) {
	e.Locked = false
	b, u := split(exec)
	last, _ := split(exec - 1)
	for i := range e.Line {
		l := &e.Line[i]
		here := l.Block == b && l.Lo <= u && u < l.Hi && (starved || !l.void(exec))
		next := blocks(b+1, l.Block) < pastLines && l.Hi > 0
		age := blocks(l.Block, last)
		whole := !l.Err && e.partner(l) == nil && (age > 0 || l == e.find(exec-1))
		switch {
		case !l.Own || l.Busy:
		case here || next:
			l.Past = false
		case age < may && whole:
			l.Past = true
		default:
			freed |= e.drop(i)
		}
	}
	return freed
}

// keep is how many lines of a QP may stay for a rewind: the newest of as many QPs as a
// quarter of the pool has lines, and as many others as long as another quarter is free.
func (f *Fetch) keep(e *lines) uint16 {
	quarter := f.p.Lines / 4
	qps, more := int(f.Q.Spent), int(f.Q.More)
	if n := e.past(); n > 0 {
		qps, more = qps-1, more-(n-1)
	}
	switch {
	case qps >= quarter:
		return 0
	case bits.OnesCount64(f.Q.Free) < quarter:
		return 1
	}
	return uint16(min(pastLines, 1+quarter-more))
}

// tally counts what stays, of a QP whose lines were changed.
func (f *Fetch) tally(before, after *lines) {
	d := &f.D
	b, a := before.past(), after.past()
	d.Spent += uint8(min(a, 1)) - uint8(min(b, 1))
	d.More += uint8(max(a, 1) - max(b, 1))
}
