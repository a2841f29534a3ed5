package driver

import (
	"cmp"
	"fmt"

	"rnic/abi"
)

// CQ is a completion queue.
type CQ struct {
	// Entries is how many completions the queue holds at least before it overruns,
	// as of the handle's making or its last Resize.
	Entries int

	*cq
	dev *Device
}

type cq struct {
	num   uint32
	rings []cqRing // oldest first; the last is the device's
	page  uint8
	eq    *eventQueue
	ci    uint16
	lazy  uint16 // consumed entries that may be kept from the device
	bell  bell

	armed        bool // for any completion, and no event seen since
	toArm        bool // asked for, the doorbell is not yet written
	toArmAny     bool
	told         bool // an event that nobody has taken
	queued       bool // in the event queue's list of those
	unacked      int  // completion events taken and not acknowledged
	asyncUnacked int
	dead         error // it has lost completions
	refs         int   // queues of QPs
	changing     bool  // a thread resizes it
	destroyed    bool
	entry        [abi.CQESize]byte
	cqe          abi.CQE
}

// CQOptions are what CreateCQ takes besides the size.
type CQOptions struct {
	Vector     int // completion vector, 0 to Config.Vectors-1; CQs may share one
	Moderation Moderation
}

// CreateCQ makes a completion queue for entries completions or more. Errors wrap
// ErrInvalid (size, vector) or ErrNoMemory.
func (d *Device) CreateCQ(entries int, opts CQOptions) (*CQ, error) {
	if err := d.usable(); err != nil {
		return nil, fmt.Errorf("create CQ: %w", err)
	}
	log, lazy, err := d.sizeCQ(entries)
	if err != nil {
		return nil, err
	}
	if err := opts.Moderation.check(); err != nil {
		return nil, fmt.Errorf("create CQ: %w", err)
	}
	if opts.Vector < 0 || opts.Vector >= d.Config.Vectors {
		return nil, fmt.Errorf("completion vector %d of %d: %w", opts.Vector, d.Config.Vectors, ErrInvalid)
	}
	c := &cq{page: d.page, eq: d.eqs[1+opts.Vector], lazy: lazy}
	n, err := d.cqns.take()
	if err != nil {
		return nil, fmt.Errorf("CQ number: %w", err)
	}
	c.num = n
	base, err := d.bus.AllocDMA(abi.CQESize<<log, ringAlign)
	if err != nil {
		d.cqns.give(n)
		return nil, fmt.Errorf("CQ of %d entries: %w: %w", entries, ErrNoMemory, err)
	}
	c.rings = []cqRing{{base: base, log: log}}
	var box [abi.MailboxSize]byte
	abi.CQMailboxLayout.Encode(&abi.CQMailbox{
		Base: base, LogSize: log, EQN: c.eq.num, UARPage: uint16(c.page),
		Count: uint16(opts.Moderation.Count), Period: uint16(opts.Moderation.Period),
	}, box[:])
	if err := d.command(abi.AdminCreateCQ, n, &box, false); err != nil {
		d.cqns.give(n)
		d.freeRing(base)
		return nil, err
	}
	d.cqs[n] = c
	return &CQ{Entries: c.entries(), cq: c, dev: d}, nil
}

// freeRing gives a ring back that the device no longer uses; one that was given up
// might, so its rings stay.
func (d *Device) freeRing(base uint64) {
	if d.admin.broken == nil {
		d.bus.FreeDMA(base)
	}
}

// On returns the queue as the thread of another handle of the device sees it.
func (c *CQ) On(d *Device) *CQ { return &CQ{Entries: c.Entries, cq: c.cq, dev: d} }

// Number is the CQN, as in AsyncEvent.
func (c *CQ) Number() uint32 { return c.num }

// Destroy ends the queue. It fails with ErrBusy while a QP uses it, or another
// thread resizes it. Events that nobody has taken are forgotten; for one that is
// taken and not acknowledged it waits, for ever if need be. Threads that are in Wait of
// the queue wake.
func (c *CQ) Destroy() error {
	d := c.dev
	switch {
	case c.destroyed:
		return fmt.Errorf("CQ %d is destroyed: %w", c.num, ErrInvalid)
	case c.refs > 0:
		return fmt.Errorf("CQ %d serves %d queues of QPs: %w", c.num, c.refs, ErrBusy)
	case c.changing:
		return fmt.Errorf("CQ %d is being resized: %w", c.num, ErrBusy)
	}
	c.destroyed = true
	if err := d.command(abi.AdminDestroyCQ, c.num, nil, false); err != nil {
		c.destroyed = false
		return err
	}
	d.wake(c.eq)
	err := d.drain(c.eq) // what it told last
	c.eq.forget(c.cq)
	d.forget(func(e *AsyncEvent) bool { return e.ofCQ() && e.Number == c.num })
	d.awaitAcks(&c.unacked)
	d.awaitAcks(&c.asyncUnacked)
	d.cqs[c.num] = nil
	d.cqns.give(c.num)
	for _, r := range c.rings {
		d.bus.FreeDMA(r.base)
	}
	return err
}

// purge takes the unread completions of a QP out. The others keep their order:
// they move towards the producer, and what is freed counts as consumed. Work requests
// of an SRQ give their slots back. The device has nothing of that QP on its way any
// more.
func (c *CQ) purge(q *qp) (bad error) {
	for c.changing { // the device may be at a ring that is not known yet
		c.dev.bus.Spend(pollInterval)
	}
	end := c.ci
	for end-c.ci < 1<<c.last().log {
		ok, err := c.read(end)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		end++
	}
	to := end
	for from := end; from != c.ci; {
		from--
		if _, err := c.read(from); err != nil {
			return err
		}
		if c.cqe.QPN == q.num {
			if q.srq != nil && c.cqe.Opcode.IsRecv() {
				if _, err := c.retire(q, &q.rq); err != nil {
					bad = err
				}
			}
			continue
		}
		to--
		if to == from {
			continue
		}
		r := c.at(to)
		c.cqe.Phase = r.phase(to)
		abi.CQELayout.Encode(&c.cqe, c.entry[:])
		if err := c.dev.bus.WriteMem(r.slot(to), c.entry[:]); err != nil {
			return err
		}
	}
	c.consume(to)
	return cmp.Or(bad, c.announce())
}

// read reads the CQE at an index into c.cqe and tells whether the device has
// written it.
func (c *CQ) read(index uint16) (bool, error) {
	r := c.at(index)
	if err := c.dev.bus.ReadMem(r.slot(index), c.entry[:]); err != nil {
		return false, err
	}
	if c.entry[abi.CQESize-1]&1 != 0 != r.phase(index) {
		return false, nil
	}
	return true, abi.CQELayout.Decode(c.entry[:], &c.cqe)
}

// announce tells the device what was consumed when it is enough. A thread that is
// at it already is held up by a Bus with no room for writes, as this one would be:
// the program must not learn of completions before their room is announced, or what
// it posts then might overrun the queue.
func (c *CQ) announce() error {
	for c.ci-c.bell.rung >= c.lazy {
		if !c.bell.busy {
			return c.ring()
		}
		c.dev.bus.Spend(c.dev.Config.PollCost)
	}
	return nil
}

// ring tells the device what was consumed, and arms if that was asked for, in one
// doorbell. Only one thread at a time does, for all.
func (c *CQ) ring() (err error) {
	b := &c.bell
	if b.busy {
		return nil
	}
	b.busy = true
	for err == nil && (b.rung != c.ci || c.toArm) {
		v := abi.Doorbell{Number: c.num, Kind: abi.DoorbellCQ, Index: c.ci}
		if c.toArm {
			v.Kind, v.SolicitedOnly = abi.DoorbellCQArm, !c.toArmAny
			c.toArm, c.toArmAny = false, false
		}
		if err = c.dev.doorbell(b, c.page, v); err == nil {
			b.rung = v.Index
		}
	}
	b.busy = false
	return err
}
