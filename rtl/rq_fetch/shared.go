package rqfetch

import (
	"math/bits"

	"rnic/abi"
	"rnic/rtl/port"
)

// NoSlot is the slot in the answer for an entry of a shared receive queue of which
// nobody knows where it is: one behind an entry that could not be read.
const NoSlot = abi.NoSlot

// list is how far the entries of a shared receive queue have been taken.
type list struct {
	Num     uint16 // number of the next entry
	Slot    uint16 // where it is
	Dead    bool   // nowhere: the entry before it could not be read
	Ordered bool   // it is in the slot behind that of the entry before it
}

// held is the entry of a shared receive queue that a QP took last.
type held struct {
	Num  uint16
	Slot uint16
	Lost bool // nobody knows where it is
}

// sharedRegs is the state of the request for a shared queue's entry that is at the head,
// and copies of the last words of the tables.
type sharedRegs struct {
	HasList, HasHeld bool
	SRQN             port.SRQN // of List
	List             list
	QPN              port.QPN // of Held
	Held             held

	Looked bool  // the tables show those of the request
	Begun  bool  // it is the first of its queue, and what was there before is forgotten
	Fresh  bool  // its line was read for it
	Linked bool  // Links shows the word of its entry,
	Line   uint8 // of this line
}

// link is where an entry of a shared queue points to.
type link struct {
	Index, Next uint16
}

const linksPerWord = port.BeatBytes / abi.RWQEDataOffset

// links is a word of a line on its way to Lookup: at its beginning an entry has a link.
type links struct {
	Line, Word uint8
	Link       [linksPerWord]link
}

// place is where a slot of a shared queue lies.
type place struct {
	Slot  uint16
	Shift uint8        // log2 of the stride
	Per   uint16       // entries a line
	Entry uint16       // of the line
	Base  uint16       // slot of the line's first entry
	Addr  port.BusAddr // of the line
}

// slotPlace is the arithmetic of a slot; ok is false if the queue has none such.
func slotPlace(g *port.RQGet, slot uint16) (p place, ok bool) {
	shift := bits.TrailingZeros16(g.Stride)
	ring := uint32(1) << min(g.Log, abi.MaxLogRing)
	if g.Stride != 1<<shift || shift < minLogStride || shift > maxLogStride || uint32(slot) >= ring {
		return p, false
	}
	p.Slot, p.Shift = slot, uint8(shift)
	p.Per = uint16(min(LineBytes>>shift, ring))
	p.Entry = slot & (p.Per - 1)
	p.Base = slot - p.Entry
	p.Addr = g.Addr + port.BusAddr(p.Base)<<shift
	return p, true
}

// behind is the slot behind another.
func behind(g *port.RQGet, slot uint16) uint16 {
	return (slot + 1) & (1<<min(g.Log, abi.MaxLogRing) - 1)
}

// has tells whether an entry of a shared queue's line is asked for or there.
func (t *tag) has(entry uint16) bool { return uint16(t.Lo) <= entry && entry < uint16(t.End) }

// posted tells whether entry number n was posted before the line was read.
func (t *tag) posted(n uint16) bool { return int16(t.Upto-n) >= 0 }

// shared serves a Get of a shared queue's entry, or leaves it for a later cycle. Where
// the entry is, the tables tell; it takes a look at its link to know where the next is.
func (l *Lookup) shared(g *port.RQGet) {
	q, d := &l.Q.Srq, &l.D.Srq
	switch {
	case q.Looked:
		d.Looked = false
		d.HasList, d.SRQN, d.List = true, g.SRQN, *l.Lists.Data(0)
		d.HasHeld, d.QPN, d.Held = true, g.QPN, *l.Held.Data(0)
	case !q.HasList || q.SRQN != g.SRQN || !g.Take && (!q.HasHeld || q.QPN != g.QPN):
		l.Lists.Read(0, int(g.SRQN)&(l.Lists.Depth()-1))
		l.Held.Read(0, int(g.QPN)&(l.Held.Depth()-1))
		d.Looked = true
		return
	}
	if g.First && !q.Begun {
		d.Begun, d.List = true, list{Num: g.Idx, Ordered: true}
		l.drop(g.SRQN)
	}
	p, ok := l.entry(g)
	if !ok {
		l.refuse(g)
		return
	}
	line := l.findShared(g, p.Base)
	if line >= 0 && (!l.D.Tags[line].has(p.Entry) || g.Take && !l.D.Tags[line].posted(g.Idx)) {
		l.D.Valid &^= 1 << line
		line = -1
	}
	if line < 0 {
		l.readShared(g, &p)
		return
	}
	t := &l.D.Tags[line]
	switch {
	case p.Entry >= uint16(t.Filled): // it is on its way
		if g.Take && d.List.Ordered {
			l.lookAhead(g, &p, behind(g, p.Slot), true, true)
		}
	case t.Bad && !q.Fresh:
		l.D.Valid &^= 1 << line
	case g.Take:
		l.Links.Read(0, line*wordsPerLine+int(p.Entry)<<p.Shift/port.BeatBytes)
		d.Linked, d.Line = true, uint8(line)
	default:
		l.want(g, &p, line)
	}
}

// entry is where the entry lies that is asked for, if that is known.
func (l *Lookup) entry(g *port.RQGet) (p place, ok bool) {
	s := &l.D.Srq
	switch {
	case g.Take && (s.List.Dead || s.List.Num != g.Idx), !g.Take && (s.Held.Lost || s.Held.Num != g.Idx):
		return p, false
	case g.Take:
		return slotPlace(g, s.List.Slot)
	}
	return slotPlace(g, s.Held.Slot)
}

// refuse answers for an entry of which nobody knows where it is. If it is taken, the list
// ends with it.
func (l *Lookup) refuse(g *port.RQGet) {
	if g.Take {
		l.taken(g, list{Num: g.Idx + 1, Dead: true}, held{Num: g.Idx, Lost: true})
	}
	l.Want.Put(want{NoLine: true, Vendor: abi.VendorWQERead, Slot: NoSlot})
	l.over()
}

// taken notes that an entry was taken.
func (l *Lookup) taken(g *port.RQGet, next list, h held) {
	d := &l.D.Srq
	d.HasList, d.SRQN, d.List = true, g.SRQN, next
	d.HasHeld, d.QPN, d.Held = true, g.QPN, h
	l.Lists.Write(1, int(g.SRQN)&(l.Lists.Depth()-1), &next)
	l.Held.Write(1, int(g.QPN)&(l.Held.Depth()-1), &h)
}

// want passes a request on whose line is there.
func (l *Lookup) want(g *port.RQGet, p *place, line int) {
	t := &l.D.Tags[line]
	l.Want.Put(want{
		Line: uint8(line), Gen: t.Gen, Idx: g.Idx, Slot: p.Slot, Entry: uint8(p.Entry), Need: uint8(p.Entry) + 1, LogStride: p.Shift,
	})
	t.Gets++
	l.D.Used |= 1 << line
	l.over()
}

// over ends the request at the head.
func (l *Lookup) over() {
	l.Get.Take()
	l.D.Srq.Begun, l.D.Srq.Fresh = false, false
}

// drop forgets the lines of a shared queue.
func (l *Lookup) drop(n port.SRQN) {
	for i, set := lineSet(l.Q.Valid & l.Q.Shared); i < maxLines; i, set = lineSet(set) {
		if l.Q.Tags[i].QPN == port.QPN(n) {
			l.D.Valid &^= 1 << i
		}
	}
}

// tooOld is how many numbers behind a line may be, so that numbers of 16 bits tell
// before from after.
const tooOld = 1 << 14

// findShared is the line of a shared queue with the given first slot, or -1. It drops
// those of the queue that are too old.
func (l *Lookup) findShared(g *port.RQGet, base uint16) (line int) {
	line = -1
	for i, set := lineSet(l.D.Valid & l.Q.Shared); i < maxLines; i, set = lineSet(set) {
		switch t := &l.Q.Tags[i]; {
		case t.QPN != port.QPN(g.SRQN):
		case g.Take && int16(g.Idx-t.Upto) >= tooOld:
			l.D.Valid &^= 1 << i
		case t.Base == base:
			line = i
		}
	}
	return line
}

// readShared reads the line of a request: all of it if the queue has so many entries
// posted, for they are likely to be there; else as many as would be there in order.
func (l *Lookup) readShared(g *port.RQGet, p *place) {
	if !l.canFetch() {
		return
	}
	line := l.allocate(true, true)
	if line < 0 {
		return
	}
	upto, n := l.D.Srq.List.Num-1, p.Per
	if g.Take {
		upto, n = lastPosted(g), 1+min(g.Next, maxPosted)
	}
	l.D.Srq.Fresh = true
	l.fetchShared(line, ahead(g, p, upto, n))
	l.D.Used |= 1 << line
}
