package driver

import (
	"fmt"
	mathbits "math/bits"

	"rnic/abi"
)

// CQ is a completion queue.
type CQ struct {
	// Entries is how many completions the queue holds at least before it overruns.
	Entries int

	*cq
	dev *Device
}

type cq struct {
	num  uint32
	base uint64
	log  uint8
	page uint8
	eq   *eventQueue
	ci   uint16
	lazy uint16 // consumed entries that may be kept from the device
	bell bell

	armed     bool // for any completion, and no event seen since
	toArm     bool // asked for, the doorbell is not yet written
	toArmAny  bool
	dead      error // it has lost completions
	refs      int   // queues of QPs
	destroyed bool
	entry     [abi.CQESize]byte
	cqe       abi.CQE
}

// CQOptions are what CreateCQ takes besides the size.
type CQOptions struct {
	Vector int // completion vector, 0 to Config.Vectors-1; CQs may share one
}

// CreateCQ makes a completion queue for entries completions or more. Errors wrap
// ErrInvalid (size, vector) or ErrNoMemory.
func (d *Device) CreateCQ(entries int, opts CQOptions) (*CQ, error) {
	if err := d.usable(); err != nil {
		return nil, fmt.Errorf("create CQ: %w", err)
	}
	most := int(min(d.Attr.MaxCQE, 1<<abi.MaxLogRing))
	if entries < 1 || entries > most {
		return nil, fmt.Errorf("CQ of %d entries, the device has 1 to %d: %w", entries, most, ErrInvalid)
	}
	if opts.Vector < 0 || opts.Vector >= d.Config.Vectors {
		return nil, fmt.Errorf("completion vector %d of %d: %w", opts.Vector, d.Config.Vectors, ErrInvalid)
	}
	c := &cq{page: d.page, eq: d.eqs[1+opts.Vector]}
	c.size(entries, most)
	n, err := d.cqns.take()
	if err != nil {
		return nil, fmt.Errorf("CQ number: %w", err)
	}
	c.num = n
	if c.base, err = d.bus.AllocDMA(abi.CQESize<<c.log, ringAlign); err != nil {
		d.cqns.give(n)
		return nil, fmt.Errorf("CQ of %d entries: %w: %w", entries, ErrNoMemory, err)
	}
	var box [abi.MailboxSize]byte
	abi.CQMailboxLayout.Encode(&abi.CQMailbox{Base: c.base, LogSize: c.log, EQN: c.eq.num, UARPage: uint16(c.page)}, box[:])
	if err := d.command(abi.AdminCreateCQ, n, &box, false); err != nil {
		d.cqns.give(n)
		d.freeRing(c.base)
		return nil, err
	}
	d.cqs[n] = c
	return &CQ{Entries: c.entries(), cq: c, dev: d}, nil
}

// size chooses the ring. A quarter of it may be consumed without the device
// knowing, so it has room for as many more, if the device allows.
func (c *cq) size(entries, most int) {
	c.log = uint8(mathbits.Len(uint(entries - 1)))
	if 1<<c.log-entries+1 < 1<<c.log/4 && 2<<c.log <= most {
		c.log++
	}
	ring := 1 << c.log
	c.lazy = uint16(max(1, min(ring/4, ring-entries+1)))
}

// entries is what fits while as much as may be is kept from the device.
func (c *cq) entries() int { return 1<<c.log - int(c.lazy) + 1 }

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

// Destroy ends the queue. It fails with ErrBusy while a QP uses it.
func (c *CQ) Destroy() error {
	d := c.dev
	switch {
	case c.destroyed:
		return fmt.Errorf("CQ %d is destroyed: %w", c.num, ErrInvalid)
	case c.refs > 0:
		return fmt.Errorf("CQ %d serves %d queues of QPs: %w", c.num, c.refs, ErrBusy)
	}
	c.destroyed = true
	if err := d.command(abi.AdminDestroyCQ, c.num, nil, false); err != nil {
		c.destroyed = false
		return err
	}
	err := d.drain(c.eq) // what it told last
	d.cqs[c.num] = nil
	d.cqns.give(c.num)
	d.bus.FreeDMA(c.base)
	return err
}

func (c *cq) slot(index uint16) uint64 {
	return c.base + uint64(abi.RingSlot(index, c.log))*abi.CQESize
}

// purge takes the unread completions of a QP out. The others keep their order:
// they move towards the producer, and what is freed counts as consumed. The device
// has nothing of that QP on its way any more.
func (c *CQ) purge(qpn uint32) error {
	end := c.ci
	for end-c.ci < 1<<c.log {
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
		if c.cqe.QPN == qpn {
			continue
		}
		to--
		if to == from {
			continue
		}
		c.cqe.Phase = abi.RingPhase(to, c.log)
		abi.CQELayout.Encode(&c.cqe, c.entry[:])
		if err := c.dev.bus.WriteMem(c.slot(to), c.entry[:]); err != nil {
			return err
		}
	}
	c.ci = to
	return c.announce()
}

// read reads the CQE at an index into c.cqe and tells whether the device has
// written it.
func (c *CQ) read(index uint16) (bool, error) {
	if err := c.dev.bus.ReadMem(c.slot(index), c.entry[:]); err != nil {
		return false, err
	}
	if c.entry[abi.CQESize-1]&1 != 0 != abi.RingPhase(index, c.log) {
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
