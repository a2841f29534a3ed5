package driver

import (
	"fmt"
	"slices"
)

// tell keeps a completion event for who takes it. Events of one CQ collapse.
func (q *eventQueue) tell(c *cq) {
	c.told = !c.destroyed
	if c.told && !c.queued {
		c.queued = true
		q.told = append(q.told, c)
	}
}

// forget drops the event of a CQ.
func (q *eventQueue) forget(c *cq) {
	c.told, c.queued = false, false
	q.told = slices.DeleteFunc(q.told, func(o *cq) bool { return o == c })
}

// take is the CQ whose event is the oldest that nobody has taken, nil if there is
// none.
func (q *eventQueue) take() *cq {
	for len(q.told) > 0 {
		c := q.told[0]
		q.told = append(q.told[:0], q.told[1:]...)
		c.queued = false
		if c.told {
			c.told = false
			return c
		}
	}
	return nil
}

// CQEvent waits for a completion event of a vector, until the given time (ps;
// math.MaxInt64: for ever), and returns its CQ as this handle's thread sees it; nil
// and no error if there was none by then. Close ends the wait with ErrInvalid. An arm gives one event; events of one CQ
// that nobody has taken collapse into one. The CQ can't be destroyed before Ack.
// Poll it after the next Arm, not before only: what came between them gives no
// event else.
//
// Wait arms too: an event of a CQ that a program waits on as well may be one that
// Wait has made use of already.
func (d *Device) CQEvent(vector int, until int64) (*CQ, error) {
	call := d.begin(Call{Name: "CQEvent", Object: "vector", Number: uint32(vector)})
	c, err := d.cqEvent(vector, until)
	n := 0
	if c != nil {
		n = 1
	}
	d.end(call, n, err)
	return c, err
}

func (d *Device) cqEvent(vector int, until int64) (*CQ, error) {
	if vector < 0 || vector >= d.Config.Vectors {
		return nil, fmt.Errorf("completion vector %d of %d: %w", vector, d.Config.Vectors, ErrInvalid)
	}
	q := d.eqs[1+vector]
	for fired := true; ; {
		if err := d.open(); err != nil {
			return nil, fmt.Errorf("completion event: %w", err)
		}
		if err := d.drain(q); err != nil {
			return nil, err
		}
		if c := q.take(); c != nil {
			c.unacked++
			return &CQ{Entries: c.entries(), cq: c, dev: d}, nil
		}
		if !fired && d.bus.Now() >= until {
			return nil, nil
		}
		var err error
		if fired, err = d.sleep(q, until); err != nil {
			return nil, err
		}
	}
}

// Ack acknowledges n completion events of the queue that CQEvent returned. It fails
// with ErrInvalid, and does nothing, if there are not as many.
func (c *CQ) Ack(n int) error {
	if n < 0 || n > c.unacked {
		return fmt.Errorf("acknowledge %d events of CQ %d, which has %d: %w", n, c.num, c.unacked, ErrInvalid)
	}
	c.unacked -= n
	return nil
}

// awaitAcks lets time pass until all events of an object are acknowledged, or the
// device is being closed.
func (d *Device) awaitAcks(unacked *int) {
	for *unacked > 0 && !d.closing {
		d.bus.Spend(pollInterval)
	}
}
