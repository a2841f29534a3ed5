package rqfetch

import (
	"math/bits"

	"rnic/abi"
	"rnic/rtl/port"
)

// block is where an entry of a receive queue lies: in which line of which part of
// the ring.
type block struct {
	Shift  uint8        // log2 of the stride
	Per    uint16       // entries a line
	Entry  uint16       // of the line
	Base   uint16       // index of the line's first entry
	Posted uint32       // entries posted, from the line's first; may exceed Per
	Addr   port.BusAddr // of the line
	Next   port.BusAddr // of the line after it
}

// locate is the arithmetic of a request; ok is false if its stride is none.
func locate(g *port.RQGet) (b block, ok bool) {
	shift := bits.TrailingZeros16(g.Stride)
	if g.Stride != 1<<shift || shift < minLogStride || shift > maxLogStride {
		return b, false
	}
	ring := uint16(1) << min(g.Log, abi.MaxLogRing)
	b.Shift = uint8(shift)
	b.Per = min(LineBytes>>shift, ring)
	b.Entry = g.Idx & (b.Per - 1)
	b.Base = g.Idx - b.Entry
	b.Posted = uint32(b.Entry) + 1 + uint32(g.Next)
	b.Addr = g.Addr - port.BusAddr(b.Entry)<<shift
	b.Next = b.Addr + port.BusAddr(b.Per)<<shift
	if (b.Base+b.Per)&(ring-1) == 0 {
		b.Next -= port.BusAddr(ring) << shift
	}
	return b, true
}

// request serves a Get of a receive WQE, or leaves it for a later cycle.
func (l *Lookup) request(g *port.RQGet) {
	d := &l.D
	b, ok := locate(g)
	if !ok {
		l.Get.Take()
		if !g.Skip {
			l.Want.Put(want{NoLine: true, Vendor: abi.VendorWQEFormat})
		}
		return
	}
	entry, posted := uint8(b.Entry), uint8(min(b.Posted, uint32(b.Per)))
	cur, next := l.search(g.QPN, b.Base, b.Base+b.Per)
	if g.Skip {
		if cur >= 0 && b.Entry == b.Per-1 {
			d.Valid &^= 1 << cur
		}
		l.Get.Take()
		return
	}
	if cur >= 0 && entry < d.Tags[cur].Lo {
		d.Valid &^= 1 << cur
		cur = -1
	}
	hit := cur >= 0
	if !hit {
		if !l.canFetch() {
			return
		}
		if cur = l.allocate(true, true); cur < 0 {
			return
		}
		if cur == next {
			next = -1
		}
		l.assign(cur, tag{QPN: g.QPN, Base: b.Base, Lo: entry}, recvLine)
	}
	t := &d.Tags[cur]
	if t.End < posted && t.End == t.Filled && l.canFetch() {
		l.fetchEntries(cur, b.Addr, b.Shift, posted)
	}
	if entry >= t.End {
		return // wait for the read under way, or for dma, to read the rest
	}
	l.Want.Put(want{Line: uint8(cur), Gen: t.Gen, Idx: g.Idx, Entry: entry, Need: entry + 1, LogStride: b.Shift})
	t.Gets++
	d.Used |= 1 << cur
	d.Last = l.Q.Last.then(g)
	if evict := hit && d.Last.Row; evict || b.Entry == b.Per-1 || l.roomy() {
		l.look(g.QPN, &b, next, evict)
	}
	if g.Done && b.Entry == b.Per-1 {
		d.Valid &^= 1 << cur
	}
	l.Get.Take()
}

// search finds the lines of a QP's receive queue with the given bases, or -1, and
// drops others.
func (l *Lookup) search(qpn port.QPN, base, nextBase uint16) (cur, next int) {
	cur, next = -1, -1
	for i, set := lineSet(l.Q.Valid &^ l.Q.SQ &^ l.Q.Shared); i < maxLines; i, set = lineSet(set) {
		t := &l.Q.Tags[i]
		switch {
		case t.QPN != qpn:
		case t.Base == base:
			cur = i
		case t.Base == nextBase:
			next = i
		default:
			l.D.Valid &^= 1 << i
		}
	}
	return cur, next
}

// roomy tells whether a quarter of the lines is free.
func (l *Lookup) roomy() bool { return bits.OnesCount64(l.D.Valid) < l.lines*3/4 }

// look leaves a prefetch of the next line, if it has posted entries that are not yet asked
// for. Only a QP of which two entries are asked for in a row, and that found its line, may
// displace another's. While many QPs take turns, each needs its line for far longer than it
// takes to read the next one, and lines read ahead would only drive out those in use: one
// comes then with the last entry of the one before, into a line that is free.
func (l *Lookup) look(qpn port.QPN, b *block, next int, evict bool) {
	if b.Posted <= uint32(b.Per) {
		return
	}
	to := uint8(min(b.Posted-uint32(b.Per), uint32(b.Per)))
	a := prefetch{Valid: true, Evict: evict, QPN: qpn, Base: b.Base + b.Per, Addr: b.Next, Shift: b.Shift, To: to}
	if next >= 0 {
		t := &l.D.Tags[next]
		if t.End >= to || t.End != t.Filled {
			return
		}
		a.Found, a.Line = true, uint8(next)
	}
	l.D.Next = a
}

// prefetch does what look left, if there is room now; else a later request will.
func (l *Lookup) prefetch() {
	a := l.Q.Next
	l.D.Next = prefetch{}
	if !l.canFetch() {
		return
	}
	line := int(a.Line)
	if !a.Found {
		if line = l.allocate(a.Evict, false); line < 0 {
			return
		}
		if a.Shared {
			l.fetchShared(line, a)
			return
		}
		l.assign(line, tag{QPN: a.QPN, Base: a.Base}, recvLine)
	}
	l.fetchEntries(line, a.Addr, a.Shift, a.To)
}

// fetchEntries reads what is not yet asked for of a line's entries before to.
func (l *Lookup) fetchEntries(line int, addr port.BusAddr, shift, to uint8) {
	t := &l.D.Tags[line]
	l.fetch(line, addr+port.BusAddr(t.End)<<shift, shift, t.End, to, false)
	t.End = to
}
