package rqfetch

import (
	"math/bits"

	"rnic/abi"
	"rnic/rtl/port"
)

const (
	logUnit  = 6
	wqeUnits = 5 // of a send WQE with all elements
)

// response serves a Get of a send WQE; one that is not there is read first.
func (l *Lookup) response(g *port.RQGet) {
	d := &l.D
	line := l.find(g.QPN, g.Ref.Idx)
	if line < 0 {
		if !l.canFetch() {
			return
		}
		if line = l.allocate(true, true); line >= 0 {
			l.fetchWQE(line, &port.SQAhead{QPN: g.QPN, Base: g.Ref.Base, Log: g.Ref.Log, Idx: g.Ref.Idx, Units: wqeUnits})
		}
		return
	}
	t := &d.Tags[line]
	l.Want.Put(want{SQ: true, Line: uint8(line), Gen: t.Gen, Idx: g.Ref.Idx, Need: t.End, LogStride: maxLogStride})
	t.Gets++
	d.Used |= 1 << line
	if g.Done {
		d.Valid &^= 1 << line
	}
	l.Get.Take()
}

// find is the line of a send WQE, or -1.
func (l *Lookup) find(qpn port.QPN, idx uint16) int {
	for i, set := lineSet(l.Q.Valid & l.Q.SQ); i < maxLines; i, set = lineSet(set) {
		if t := &l.Q.Tags[i]; t.QPN == qpn && t.Base == idx {
			return i
		}
	}
	return -1
}

// ahead reads a send WQE that a response will ask for. It may not fill the pool:
// beyond half of it, responses find theirs missing.
func (l *Lookup) ahead(a *port.SQAhead) {
	if old := l.find(a.QPN, a.Idx); old >= 0 {
		l.D.Valid &^= 1 << old
	}
	if bits.OnesCount64(l.Q.Valid&l.Q.SQ) >= l.lines/2 {
		return
	}
	if line := l.allocate(true, true); line >= 0 {
		l.fetchWQE(line, a)
	}
}

// fetchWQE starts to read a send WQE into a line. A part of it may lie at the
// ring's beginning: that is read next.
func (l *Lookup) fetchWQE(line int, a *port.SQAhead) {
	ring := uint16(1) << min(a.Log, abi.MaxLogRing)
	slot := a.Idx & (ring - 1)
	units := min(uint16(max(a.Units, 1)), abi.MaxUnits, ring)
	here := min(units, ring-slot)
	l.assign(line, tag{QPN: a.QPN, Base: a.Idx}, sendLine)
	l.D.Tags[line].End = uint8(units)
	l.fetch(line, a.Base+port.BusAddr(slot)<<logUnit, logUnit, 0, uint8(here), here < units)
	if here < units {
		l.D.Rest = rest{Valid: true, Line: uint8(line), From: uint8(here), Addr: a.Base}
	}
}

// rest starts the second read.
func (l *Lookup) rest() {
	if !l.canFetch() {
		return
	}
	r := &l.Q.Rest
	l.fetch(int(r.Line), r.Addr, logUnit, r.From, l.Q.Tags[r.Line].End, false)
	l.D.Rest = rest{}
}
