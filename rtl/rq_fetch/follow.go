package rqfetch

import (
	"rnic/abi"
	"rnic/rtl/port"
)

const (
	// readAhead is how many lines of a shared queue are read ahead while its entries
	// follow each other: 4 KiB.
	readAhead = 8
	// maxPosted is the most entries that a queue can have posted.
	maxPosted = 1<<abi.MaxLogRing - 1
)

// lastPosted is the number of the last entry posted, as of a request that takes one.
func lastPosted(g *port.RQGet) uint16 { return g.Idx + min(g.Next, maxPosted) }

// ahead describes a read of the line of a slot from which on n entries are posted, if
// they are in order. upto is the number of the last one posted.
func ahead(g *port.RQGet, p *place, upto, n uint16) prefetch {
	a := prefetch{
		Valid: true, Shared: true, QPN: port.QPN(g.SRQN), Base: p.Base, Addr: p.Addr, Shift: p.Shift, Upto: upto, To: uint8(p.Per),
	}
	if n < p.Per {
		a.From, a.To = uint8(p.Entry), uint8(min(p.Entry+n, p.Per))
	}
	return a
}

// fetchShared reads a line of a shared queue.
func (l *Lookup) fetchShared(line int, a prefetch) {
	l.assign(line, tag{QPN: a.QPN, Base: a.Base, Lo: a.From, Upto: a.Upto}, sharedLine)
	l.fetchEntries(line, a.Addr, a.Shift, a.To)
}

// follow ends a request that takes an entry, whose link Links shows. If that is not the
// entry asked for, which was posted when the line was read, or the line can't be read, the
// list can't be followed any more.
func (l *Lookup) follow(g *port.RQGet) {
	q, d := &l.Q.Srq, &l.D.Srq
	d.Linked = false
	p, _ := slotPlace(g, q.List.Slot)
	line := int(q.Line)
	e := l.Links.Data(0)[int(p.Entry)<<p.Shift%port.BeatBytes/abi.RWQEDataOffset]
	good := e.Index == g.Idx && !l.Q.Tags[line].Bad
	hit, ordered := !q.Fresh, e.Next == behind(g, p.Slot)
	l.taken(g, list{Num: g.Idx + 1, Slot: e.Next, Dead: !good, Ordered: ordered}, held{Num: g.Idx, Slot: p.Slot})
	l.want(g, &p, line)
	if e.Next&^(p.Per-1) != p.Base {
		l.D.Used &^= 1 << line // likely to be used up
	}
	if good {
		l.lookAhead(g, &p, e.Next, hit || ordered, false)
	}
}

// lookAhead leaves a read of the line of the next entry, if that is posted and not there,
// or if it is and the queue's entries are in order, of one of the lines behind it of which
// all entries are posted. While a request waits for its own line, it supposes that they
// are if the last ones were, so that as many reads are under way as it takes.
func (l *Lookup) lookAhead(g *port.RQGet, p *place, slot uint16, evict, waits bool) {
	left := min(g.Next, maxPosted)
	next, ok := slotPlace(g, slot)
	if left == 0 || !ok {
		return
	}
	ring := uint32(1) << min(g.Log, abi.MaxLogRing)
	lines := 1
	if slot == behind(g, p.Slot) {
		lines += min(readAhead, max(0, int(uint32(left)+uint32(next.Entry))/int(next.Per)-1))
	}
	var there, stale [1 + readAhead]int // line+1 at each distance
	for i, set := lineSet(l.D.Valid & l.Q.Shared); i < maxLines; i, set = lineSet(set) {
		t := &l.D.Tags[i]
		far := int(uint32(t.Base-next.Base)&(ring-1)) / int(next.Per)
		if t.QPN != port.QPN(g.SRQN) || far >= lines {
			continue
		}
		entry, n := next.Entry, g.Idx+1
		if far > 0 { // the last one of the line
			entry, n = next.Per-1, g.Idx+uint16(far+1)*next.Per-next.Entry
		}
		if t.has(entry) && t.posted(n) && (far == 0 || t.Lo == 0) || waits && t.Base == p.Base {
			there[far] = i + 1
		} else {
			stale[far] = i + 1
		}
	}
	for far := range lines {
		if there[far] != 0 {
			continue
		}
		if i := stale[far]; i != 0 {
			l.D.Valid &^= 1 << (i - 1)
		}
		at, _ := slotPlace(g, uint16((uint32(next.Base)+uint32(far)*uint32(next.Per))&(ring-1)))
		if far == 0 {
			at = next
		} else {
			left = at.Per
		}
		l.D.Next = ahead(g, &at, lastPosted(g), left)
		l.D.Next.Evict = evict
		return
	}
}
