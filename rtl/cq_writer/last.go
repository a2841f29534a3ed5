package cqwriter

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// last is what there is to tell of the last receive WQE of a QP with a shared receive
// queue. A QP waits once, however many lives it has had since.
type last struct {
	Waits bool // it is in Order
	Owed  bool // QP_LAST_WQE_REACHED
}

// lasts are the QPs in Order.
type lasts struct {
	First uint32 // index of the one that has waited longest
	Count uint32
}

// noteLast notes that a QP has come to its last WQE, or, with a marker, that its life
// ends, and nothing is told of it any more. Its last was read on port 0.
func (w *Writer) noteLast(qpn port.QPN, owed bool) {
	if int(qpn) >= w.Lasts.Depth() {
		if owed {
			w.D.Counted.Dropped++
		}
		return
	}
	l := *w.Lasts.Data(0)
	l.Owed = owed
	if owed && !l.Waits {
		l.Waits = true
		o := &w.D.Last
		w.Order.Write(1, int(o.First+o.Count)%w.Order.Depth(), &qpn)
		o.Count++
	}
	w.Lasts.Write(1, int(qpn), &l)
}

// tellLast writes the event of the QP that has waited longest, or lets it wait for room
// in event queue 0.
func (w *Writer) tellLast(free bool) {
	d := &w.D
	e, qpn := *w.EQs.Data(0), *w.Order.Data(0)
	owed := w.Lasts.Data(0).Owed
	switch {
	case owed && !e.Exists:
		d.Counted.Dropped++
	case owed && e.full():
		d.Hold = true
		d.State = idle
		return
	case owed && !free:
		return
	case owed:
		w.emit(&abi.Event{Type: abi.EventQPLastWQEReached, Number: uint32(qpn)}, &e)
	}
	w.Lasts.Write(1, int(qpn), &last{})
	d.Last.First = (w.Q.Last.First + 1) % uint32(w.Order.Depth())
	d.Last.Count--
	d.State = idle
}
