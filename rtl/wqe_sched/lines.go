package wqesched

import "rnic/rtl/port"

const (
	lineUnits = 8 // units of a line
	blockMask = 1<<13 - 1
	places    = 8 // for lines, of a QP
)

// line is one of a QP's lines: units [Lo, Hi) of a block of 8 unit indices are
// there. While it is Busy a read brings [Hi, End).
type line struct {
	Own   bool // it has a slot of the pool
	Busy  bool
	Err   bool // the read of [Bad, Hi) failed
	Fresh bool // came for a service that has not been yet: not to be taken away
	Wait  bool // the QP is parked until it comes
	Past  bool // all is executed: kept for a rewind
	Slot  uint8
	Block uint16 // unit index / 8
	Lo    uint8
	Hi    uint8
	End   uint8
	Bad   uint8
}

// lines is what Fetch knows of a QP. A block lies in the line of its number modulo
// places: the one being executed, the one read ahead, and those before.
type lines struct {
	Line    [places]line
	Locked  bool // a service reads from the lines
	Hungry  bool // it has an entry in the queue of those that found no slot
	Promise bool // a slot is set aside for it
	Kept    bool // a line is Fresh until there is an entry for its WQE
}

func split(idx uint16) (block uint16, unit uint8) { return idx / lineUnits, uint8(idx % lineUnits) }

func (e *lines) of(block uint16) *line { return &e.Line[block%places] }

// find is the line in which a unit is, or nil.
func (e *lines) find(idx uint16) *line {
	b, u := split(idx)
	if l := e.of(b); l.Own && l.Block == b && l.Lo <= u && u < l.Hi {
		return l
	}
	return nil
}

// whole tells whether the n units from idx on, the first of which is there, all
// are; missing is the first one that is not.
func (e *lines) whole(idx uint16, n uint8) (missing uint16, ok bool) {
	_, u := split(idx)
	start := idx - uint16(u)
	end := u + n // one behind the last, in the block of the first
	if hi := e.find(idx).Hi; hi < min(end, lineUnits) {
		return start + uint16(hi), false
	}
	if end <= lineUnits {
		return idx, true
	}
	start += lineUnits
	switch l := e.find(start); {
	case l == nil:
		return start, false
	case l.Hi < end-lineUnits:
		return start + uint16(l.Hi), false
	}
	return idx, true
}

// void tells whether a unit that was found is one that could not be read.
func (l *line) void(idx uint16) bool {
	_, u := split(idx)
	return l.Err && u >= l.Bad
}

// address is where a unit is.
func (e *lines) address(idx uint16) int {
	b, u := split(idx)
	return int(e.of(b).Slot)*lineUnits + int(u)
}

// partner is the line that lies in the same slot, or nil.
func (e *lines) partner(l *line) *line {
	for i := range e.Line {
		if o := &e.Line[i]; o != l && l.Own && o.Own && o.Slot == l.Slot {
			return o
		}
	}
	return nil
}

// shares tells whether two lines lie in one slot.
func (e *lines) shares() bool {
	slots := uint64(0)
	for i := range e.Line {
		l := &e.Line[i]
		if l.Own && slots&(1<<l.Slot) != 0 {
			return true
		}
		if l.Own {
			slots |= 1 << l.Slot
		}
	}
	return false
}

// noSlot stands for a slot when none is free.
const noSlot = -1

// plan is what an operation on a QP's lines leads to.
type plan struct {
	Took   bool // the slot that was offered
	Hungry bool // there was none, and nothing else to do
	Read   bool // Count units from index First into line Line, slot Slot
	First  uint16
	Count  uint8
	Line   uint8
	Slot   uint8
}

// extent is the number of units from idx on that one read may bring: as far as the
// producer index, the end of the block and the end of the ring.
func extent(idx uint16, c *port.SQCtx) uint16 {
	_, u := split(idx)
	size := uint16(1) << c.SQLog
	return min(c.PI-idx, lineUnits-uint16(u), size-idx&(size-1))
}

// begin starts the read of idx and what follows into the line of its block, which
// is not Busy and has a slot: on from Hi if it can be, else anew.
func (e *lines) begin(idx uint16, c *port.SQCtx, p plan) plan {
	b, u := split(idx)
	l := e.of(b)
	if l.Block != b || l.Hi != u || l.Err {
		l.Block, l.Lo, l.Hi, l.Err = b, u, u, false
	}
	n := extent(idx, c)
	if o := e.partner(l); o != nil && u < o.Lo {
		// What the other line holds stays, until that is done with.
		n = min(n, uint16(o.Lo-u))
	}
	l.End = u + uint8(n)
	l.Busy, l.Past = true, false
	p.Read, p.First, p.Count, p.Line, p.Slot = true, idx, uint8(n), uint8(b%places), l.Slot
	return p
}

// demand has unit idx read, which is not valid, and the QP parked until it comes:
// nothing to do if the read is on its way. slot is one that is free.
func (e *lines) demand(idx uint16, c *port.SQCtx, slot int) (p plan) {
	b, _ := split(idx)
	l := e.of(b)
	if l.Busy {
		l.Wait = true
		return p
	}
	if !l.Own {
		if p.Took = e.own(l, b, slot); !l.Own {
			p.Hungry = true
			return p
		}
	}
	l.Wait = true
	return e.begin(idx, c, p)
}

// ahead has the block after idx's read, if it is posted and there is a slot.
func (e *lines) ahead(idx uint16, c *port.SQCtx, slot int) (p plan) {
	_, u := split(idx)
	next := idx + uint16(lineUnits-u)
	if c.PI-idx <= lineUnits-uint16(u) || c.SQLog < 3 {
		return p
	}
	b, _ := split(next)
	l := e.of(b)
	switch {
	case l.Busy || e.shares():
		return p
	case l.Own && l.Block == b && l.Lo == 0:
		if l.Err || l.Hi == lineUnits || uint16(l.Hi) >= c.PI-next {
			return p
		}
		next += uint16(l.Hi)
	case !l.Own:
		if p.Took = e.own(l, b, slot); !l.Own {
			return p
		}
	}
	return e.begin(next, c, p)
}

// further has unit idx read, the first one missing of the WQE at exec. If no slot
// is free its block goes into the slot of those that are there: units before exec
// are done with, and a WQE is no longer than a block.
func (e *lines) further(exec, idx uint16, c *port.SQCtx, slot int) plan {
	b, u := split(exec)
	first := e.of(b)
	first.Fresh = true
	next, _ := split(idx)
	l := e.of(next)
	took := false
	if !l.Own {
		if took = e.own(l, next, slot); !l.Own {
			*l = line{Own: true, Slot: first.Slot, Block: next}
		}
	}
	if e.shares() {
		first.Lo = u
	}
	p := e.demand(idx, c, noSlot)
	p.Took = took
	return p
}

// seek is told that a service begins at unit idx, which may be anywhere since the
// last one. Two blocks share a slot for a WQE that goes over the end of the first; in
// any other place the one that does not hold idx gives way, and seek tells whether a
// read has to end before: then the QP waits for it.
func (e *lines) seek(idx uint16) (wait bool) {
	b, _ := split(idx)
	if l, o := e.find(idx), e.of(b+1); l != nil && e.partner(l) == o && o.Block == (b+1)&blockMask {
		return false
	}
	for i := range e.Line {
		l := &e.Line[i]
		o := e.partner(l)
		if o == nil {
			continue
		}
		if l.Busy || o.Busy {
			l.Wait, o.Wait = l.Busy, o.Busy
			return true
		}
		if l.Block == b {
			l = o
		}
		*l = line{}
	}
	return false
}

// filled takes the end of a read into account and tells whether the QP waited.
func (e *lines) filled(i uint8, err bool) bool {
	l := &e.Line[i%places]
	waited := l.Wait
	l.Busy, l.Wait = false, false
	if err {
		l.Bad, l.Err = l.Hi, true
	}
	l.Hi = l.End
	l.Fresh = l.Fresh || waited
	return waited
}

// push enters a pushed unit, and tells whether there is a place for it: after the
// last unit of its block, or in a new line, or one that was kept for a rewind.
func (e *lines) push(idx uint16, slot int) (took, ok bool) {
	b, u := split(idx)
	l := e.of(b)
	switch {
	case l.Busy || e.shares():
		return false, false
	case (!l.Own || l.Past && l.Block != b) && e.used() >= 2:
		return false, false
	case !l.Own:
		if took = e.own(l, b, slot); !l.Own {
			return false, false
		}
		l.Lo, l.Hi = u, u
	case l.Past && l.Block != b:
		*l = line{Own: true, Slot: l.Slot, Block: b, Lo: u, Hi: u}
	case l.Block != b || l.Hi != u || l.Err:
		return false, false
	}
	l.Hi, l.Past = u+1, false
	return took, true
}

// drop takes a line from the QP and returns its slot, as a bit, if it was the last.
func (e *lines) drop(i int) (freed uint64) {
	l := &e.Line[i]
	if l.Own && e.partner(l) == nil {
		freed = 1 << l.Slot
	}
	*l = line{}
	return freed
}

// evict takes the lines in slot s away, unless they are in use or about to be.
func (e *lines) evict(s uint8) (freed uint64) {
	for i := range e.Line {
		if l := &e.Line[i]; l.Own && l.Slot == s && (e.Locked || l.Busy || l.Fresh) {
			return 0
		}
	}
	for i := range e.Line {
		if l := &e.Line[i]; l.Own && l.Slot == s {
			freed |= e.drop(i)
		}
	}
	return freed
}

// starve is told that a QP waits for an entry of the outstanding table. Its line
// waits with it if it may, and starve tells whether it does: else who has an entry
// could always be without a line, and who has a line without an entry. One slot
// always goes round: entries may come back only when another message goes on, or
// a marker passes, and these can wait for a line.
func (e *lines) starve(exec uint16, may bool) bool {
	e.stale()
	e.leave()
	if l := e.find(exec); l != nil && may {
		l.Fresh, e.Kept = true, true
	}
	return e.Kept
}

// stale lets lines be taken away again: the service that they came for is there.
func (e *lines) stale() {
	for i := range e.Line {
		e.Line[i].Fresh = false
	}
}

// leave has the QP wait for no line any more, and tells whether it did.
func (e *lines) leave() (waited bool) {
	for i := range e.Line {
		waited = waited || e.Line[i].Wait
		e.Line[i].Wait = false
	}
	return waited
}

// busy tells whether a read is on its way.
func (e *lines) busy() bool {
	for i := range e.Line {
		if e.Line[i].Busy {
			return true
		}
	}
	return false
}
