package cqwriter

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// pick chooses the next operation and reads the contexts that it needs. The one
// that ends in this cycle is still at the head of its port and no choice; the one
// behind it shows in the next cycle. CQ_RESIZE, whose index overtakes that of
// doorbells before it, lets those go first, and the marker of the receiving pipeline
// lets the events of last WQEs go first, unless they wait for room.
func (w *Writer) pick() {
	q, d := &w.Q, &w.D
	overtakes := w.Bell.Valid() && w.Admin.Valid() && w.Admin.Head().Op == port.CQResize
	untold := d.Last.Count != 0 && !d.Hold
	requests := bit(w.Admin.Valid() && !d.Answer.Valid && !overtakes, srcAdmin) |
		bit(w.Bell.Valid(), srcBell) |
		bit(w.Send.Valid() && !(w.Send.Head().Purge && d.Purge[0].Valid), srcSend) |
		bit(w.Recv.Valid() && !(w.Recv.Head().Purge && (d.Purge[1].Valid || untold)), srcRecv) |
		bit(w.Async.Valid() && !d.Hold, srcAsync)
	if q.State == execute {
		requests &^= 1 << q.Source
	}
	requests |= bit(d.Sweep.Left != 0, srcSweep) | bit(d.Wheel.Walk, srcWheel) | bit(untold, srcLast)
	i := hdl.RoundRobin(requests, int(q.Source))
	if i < 0 {
		return
	}
	d.State, d.Source = execute, source(i)
	var cqn, eqn uint32
	d.KnownCQ, d.KnownEQ = false, false
	switch d.Source {
	case srcAdmin:
		a := w.Admin.Head()
		cqn, eqn = a.Number, a.Number
		switch a.Op {
		case port.CQCreate:
			d.KnownCQ, d.KnownEQ, eqn = true, true, uint32(a.EQN)
		case port.CQDestroy, port.CQModify, port.CQResize:
			d.KnownCQ = true
		case port.EQCreate, port.EQDestroy:
			d.KnownEQ = true
		}
	case srcBell:
		b := w.Bell.Head()
		cqn, eqn = uint32(b.CQN), uint32(b.CQN)
		d.KnownCQ, d.KnownEQ = !b.EQ, b.EQ
	case srcSend:
		cqn, d.KnownCQ = uint32(w.Send.Head().CQN), true
	case srcRecv:
		r := w.Recv.Head()
		cqn, d.KnownCQ = uint32(r.CQN), true
		if (r.LastWQE || r.Purge) && int(r.QPN) < w.Lasts.Depth() {
			w.Lasts.Read(0, int(r.QPN))
		}
	case srcAsync:
		d.KnownEQ = true
	case srcSweep:
		cqn, d.KnownCQ = uint32(d.Sweep.Next), true
	case srcWheel:
		cqn, d.KnownCQ = uint32(d.Wheel.CQ), true
		w.Links.Read(0, int(cqn))
	case srcLast:
		d.KnownEQ = true
		w.Order.Read(0, int(d.Last.First))
	}
	w.read(cqn, eqn)
}

// read reads the contexts that are wanted, as far as they exist.
func (w *Writer) read(cqn, eqn uint32) {
	d := &w.D
	d.KnownCQ = d.KnownCQ && cqn < uint32(w.CQs.Depth())
	d.KnownEQ = d.KnownEQ && eqn < uint32(w.EQs.Depth())
	if d.KnownCQ {
		d.CQ = port.CQN(cqn)
		w.CQs.Read(0, int(cqn))
	}
	if d.KnownEQ {
		d.EQ = port.EQN(eqn)
		w.EQs.Read(0, int(eqn))
	}
}

func bit(v bool, s source) uint64 {
	if v {
		return 1 << s
	}
	return 0
}
