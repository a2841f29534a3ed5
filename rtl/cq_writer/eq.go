package cqwriter

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// eq is the context of an event queue.
type eq struct {
	Exists  bool
	Armed   bool // the next event raises the interrupt
	LogSize uint8
	Vector  uint8
	Page    uint8
	CQs     port.CQN // completion queues that use it
	PI, CI  uint16
	Base    port.BusAddr
}

func (e *eq) full() bool { return e.PI-e.CI == 1<<e.LogSize }

// ring takes a doorbell; raise: there is an event beyond it already. ok is false
// when its index is not one that the driver can have consumed up to.
func (e *eq) ring(ci uint16) (raise, ok bool) {
	if ci-e.CI > e.PI-e.CI {
		return false, false
	}
	e.CI = ci
	e.Armed = e.PI == ci
	return !e.Armed, true
}

// bell executes a doorbell.
func (w *Writer) bell(c cq, e eq) {
	b := w.Bell.Take()
	n := &w.D.Counted
	w.D.State = idle
	switch {
	case b.EQ:
		w.bellEQ(b, e)
	case !c.Exists:
		n.BadNumber++
	case c.Page != b.Page:
		n.BadPage++
	default:
		if !c.ring(b, w.time()) {
			n.BadNumber++
			return
		}
		w.store(c)
	}
}

func (w *Writer) bellEQ(b *port.CQDoorbell, e eq) {
	d := &w.D
	switch {
	case !e.Exists:
		d.Counted.BadNumber++
		return
	case e.Page != b.Page:
		d.Counted.BadPage++
		return
	}
	raise, ok := e.ring(b.CI)
	if !ok {
		d.Counted.BadNumber++
		return
	}
	if raise {
		d.Raise |= vectorBit(uint32(e.Vector))
	}
	w.EQs.Write(1, int(w.Q.EQ), &e)
	if e.full() {
		return
	}
	if w.Q.EQ == 0 {
		d.Hold = false
	}
	if w.Q.Parked&eqBit(w.Q.EQ) != 0 {
		d.Parked &^= eqBit(w.Q.EQ)
		d.Sweep.Left = uint32(w.CQs.Depth())
	}
}

// event pays one event that the CQ owes; CQ_ERR goes first. The CQ is on port 1,
// as it was written.
func (w *Writer) event(free bool) {
	q, d := &w.Q, &w.D
	e, c := *w.EQs.Data(0), *w.CQs.Data(1)
	if e.full() {
		d.Parked |= eqBit(q.EQ)
		d.State = idle
		return
	}
	if !free {
		return
	}
	ev := abi.Event{Type: abi.EventCompletion, Number: uint32(q.CQ)}
	if c.ErrOwed {
		ev.Type = abi.EventCQErr
		c.ErrOwed = false
	} else {
		c.Owed = false
	}
	w.emit(&ev, &e)
	w.store(c)
}

// async writes the event at the head of Async to event queue 0, or lets it wait.
func (w *Writer) async(e eq, free bool) {
	d := &w.D
	switch {
	case !e.Exists:
		d.Counted.Dropped++
		w.Async.Take()
	case e.full():
		d.Hold = true
	case !free:
		return
	default:
		r := w.Async.Take()
		w.emit(&abi.Event{Type: r.Type, Syndrome: r.Syndrome, Number: r.Number}, &e)
	}
	d.State = idle
}

// emit writes an event to the event queue that was read, which has room.
func (w *Writer) emit(ev *abi.Event, e *eq) {
	d := &w.D
	ev.Timestamp = w.Now()
	ev.Phase = abi.RingPhase(e.PI, e.LogSize)
	addr := e.Base + port.BusAddr(abi.RingSlot(e.PI, e.LogSize))*abi.EventSize
	abi.EventLayout.Encode(ev, w.post(addr, abi.EventSize).Data[:])
	d.Counted.Events++
	e.PI++
	if e.Armed {
		e.Armed = false
		d.Raise |= vectorBit(uint32(e.Vector))
	}
	w.EQs.Write(1, int(w.Q.EQ), e)
}
