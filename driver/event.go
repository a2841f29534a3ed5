package driver

import (
	"cmp"
	"fmt"
	"slices"

	"rnic/abi"
)

// AsyncEvent is an asynchronous event, by type of a CQ, a QP, an SRQ or a port.
type AsyncEvent struct {
	Type      abi.EventType
	Number    uint32 // CQN, QPN, SRQN or port
	Syndrome  uint16
	Timestamp uint64 // clock cycles
}

// String names type, number and syndrome.
func (e AsyncEvent) String() string {
	return fmt.Sprintf("%s %d (syndrome %d)", e.Type, e.Number, e.Syndrome)
}

// eventQueue is an event queue. Its number is that of its MSI-X vector. It is
// armed, or has an event that was not consumed, whenever no thread is inside drain.
type eventQueue struct {
	num  uint8
	base uint64
	page uint8
	ci   uint16
	bell bell

	sleeping int                 // threads that wait for its interrupt; admin commands are not counted
	told     []*cq               // with an event that nobody has taken, or not any more
	entry    [abi.EventSize]byte // read last
}

func (d *Device) createEQ(n uint8) error {
	q := &eventQueue{num: n, page: d.page}
	base, err := d.bus.AllocDMA(abi.EventSize<<logEQ, ringAlign)
	if err != nil {
		return fmt.Errorf("event queue %d: %w: %w", n, ErrNoMemory, err)
	}
	q.base = base
	d.eqs = append(d.eqs, q)
	var box [abi.MailboxSize]byte
	abi.EQMailboxLayout.Encode(&abi.EQMailbox{Base: base, LogSize: logEQ, Vector: n, UARPage: uint16(q.page)}, box[:])
	if err := d.command(abi.AdminCreateEQ, uint32(n), &box, false); err != nil {
		return err
	}
	return d.doorbell(&q.bell, q.page, abi.Doorbell{Number: uint32(n), Kind: abi.DoorbellEQ})
}

// drain consumes the events of a queue and arms it again if there were any. It
// leaves none: a device that cannot tell its events cannot fail a QP either.
func (d *Device) drain(q *eventQueue) error {
	for {
		slot := abi.RingSlot(q.ci, logEQ)
		if err := d.bus.ReadMem(q.base+uint64(slot)*abi.EventSize, q.entry[:]); err != nil {
			return err
		}
		var e abi.Event
		_ = abi.EventLayout.Decode(q.entry[:], &e) // long enough by type
		if e.Phase != abi.RingPhase(q.ci, logEQ) {
			break
		}
		q.ci++
		d.event(&e)
	}
	return d.ring(&q.bell, q.page, abi.DoorbellEQ, uint32(q.num), &q.ci)
}

func (d *device) event(e *abi.Event) {
	var c *cq
	if int64(e.Number) < int64(len(d.cqs)) {
		c = d.cqs[e.Number]
	}
	switch e.Type {
	case abi.EventCompletion:
		if c != nil {
			c.armed = false
			c.eq.tell(c)
		}
		return
	case abi.EventCQErr:
		if c != nil {
			c.dead = fmt.Errorf("CQ %d: %w", c.num, ErrOverrun)
		}
	}
	if len(d.async) == maxAsync {
		d.async = append(d.async[:0], d.async[1:]...)
	}
	d.async = append(d.async, AsyncEvent{e.Type, e.Number, e.Syndrome, e.Timestamp})
}

// AsyncEvents returns the asynchronous events that nobody has taken yet, oldest
// first: the last 4,096, if they are more. It does not wait. They need no
// acknowledgement.
func (d *Device) AsyncEvents() ([]AsyncEvent, error) {
	err := d.open()
	if err != nil {
		return nil, fmt.Errorf("asynchronous events: %w", err)
	}
	for _, q := range d.eqs {
		if e := d.drain(q); e != nil && err == nil {
			err = e
		}
	}
	events := d.async
	d.async = nil
	slices.SortStableFunc(events, func(a, b AsyncEvent) int { return cmp.Compare(a.Timestamp, b.Timestamp) })
	return events, err
}

// WaitAsync is AsyncEvents, but waits for one event at least, until the given
// time (ps). Close ends the wait with ErrInvalid. A CQ_ERR alone does not end the wait: Poll and Wait of its CQ tell it.
func (d *Device) WaitAsync(until int64) ([]AsyncEvent, error) {
	for {
		events, err := d.AsyncEvents()
		if len(events) > 0 || err != nil {
			return events, err
		}
		fired, err := d.sleep(d.eqs[0], until)
		if err != nil {
			return nil, err
		}
		if !fired && d.bus.Now() >= until {
			return d.AsyncEvents()
		}
	}
}
