package cqwriter

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// The wheel is the timers of held events: a slot for each unit of time, in it the
// list of CQs whose period ends then. A CQ is in one list at most. It stays there
// when its event comes earlier, and is looked at when the slot's time has come.

const wheelSlots = 4096 // over abi.MaxCQPeriod, so that a slot has one time

// tick is a time in units of abi.CQPeriodCycles, modulo the wheel.
type tick uint16

// Width is 12 bits.
func (tick) Width() int { return 12 }

// plus is the time n units later.
func (t tick) plus(n uint16) tick { return (t + tick(n)) % wheelSlots }

// since is the time from another one to t.
func (t tick) since(u tick) tick { return (t - u) % wheelSlots }

// slot is the head of a slot's list.
type slot struct {
	Valid bool
	CQ    port.CQN
}

// link is the place of a CQ in the wheel.
type link struct {
	In   bool
	Slot tick
	More bool // Next is behind it in the list
	Next port.CQN
}

// wheel is the state of the wheel.
type wheel struct {
	Timers  uint32 // CQs in it; with none it stands still
	At      tick   // next slot to look at
	Reading bool   // its head has been read
	Walk    bool   // its list is taken off, and CQ is next of it
	CQ      port.CQN
}

// time is the present time.
func (w *Writer) time() tick { return tick(w.Now() / abi.CQPeriodCycles % wheelSlots) }

// turn brings the wheel forward. A list that is walked goes on in pick.
func (w *Writer) turn() {
	q, d := &w.Q.Wheel, &w.D.Wheel
	d.Reading = false
	switch {
	case q.Timers == 0 || q.Walk || w.Q.State == hold:
	case q.Reading:
		if h := w.Slots.Data(0); h.Valid {
			d.Walk, d.CQ = true, h.CQ
			w.Slots.Write(0, int(q.At), &slot{})
		} else {
			d.At = q.At.plus(1)
		}
	case q.At != w.time().plus(1):
		w.Slots.Read(0, int(q.At))
		d.Reading = true
	default:
		w.WakeAt((w.Now()/abi.CQPeriodCycles + 1) * abi.CQPeriodCycles)
	}
}

// expire takes a CQ out of the slot whose time has come. It pays the event if that
// is the CQ's time, and puts the CQ into another slot if it is not.
func (w *Writer) expire(c cq) {
	d := &w.D.Wheel
	l := *w.Links.Data(0)
	w.Links.Write(1, int(w.Q.CQ), &link{})
	d.Timers--
	d.Walk, d.CQ = l.More, l.Next
	if c.Hold == timed {
		c.Hold = begun
		if c.Due == l.Slot {
			c.release()
		}
	}
	w.store(c)
}

// hold puts a CQ that holds an event into its slot. One that is in an earlier slot
// already is moved when that slot's time comes. One that is in a later slot, since
// its period was longer, can't be: its event comes at once.
func (w *Writer) hold() {
	d := &w.D.Wheel
	c, l, h := *w.CQs.Data(1), *w.Links.Data(0), *w.Slots.Data(1)
	w.D.State = idle
	switch {
	case !l.In:
		w.Slots.Write(1, int(c.Due), &slot{true, w.Q.CQ})
		w.Links.Write(1, int(w.Q.CQ), &link{In: true, Slot: c.Due, More: h.Valid, Next: h.CQ})
		if d.Timers == 0 {
			d.At = w.time().plus(1)
		}
		d.Timers++
	case l.Slot.since(d.At) > c.Due.since(d.At):
		c.release()
		w.store(c)
	}
}
