package driver

import (
	"fmt"
	mathbits "math/bits"

	"rnic/abi"
)

// cqRing is the memory of a queue, from a CQE on: all of its life, or since it was
// resized.
type cqRing struct {
	base  uint64
	log   uint8
	first uint16 // index of the CQE in slot 0 of the first pass
}

// slot is the address of a CQE.
func (r *cqRing) slot(index uint16) uint64 {
	return r.base + uint64(abi.RingSlot(index-r.first, r.log))*abi.CQESize
}

// phase is the phase bit of a CQE that is there.
func (r *cqRing) phase(index uint16) bool { return abi.RingPhase(index-r.first, r.log) }

// begun tells whether an index is one of the ring's or beyond. The two are no
// farther apart than a ring is large.
func (r *cqRing) begun(index uint16) bool { return int16(index-r.first) >= 0 }

// last is the ring that the device writes.
func (c *cq) last() *cqRing { return &c.rings[len(c.rings)-1] }

// at is the ring that has a CQE.
func (c *cq) at(index uint16) *cqRing {
	i := len(c.rings) - 1
	for i > 0 && !c.rings[i].begun(index) {
		i--
	}
	return &c.rings[i]
}

// consume moves the consumer index, and gives rings back that have nothing more.
func (c *CQ) consume(to uint16) {
	c.ci = to
	for len(c.rings) > 1 && c.rings[1].begun(to) {
		old := c.rings[0]
		c.rings = c.rings[1:]
		c.dev.freeRing(old.base)
	}
}

// sizeCQ chooses a ring, and how many entries may be consumed without the device
// knowing: a quarter, so the ring has room for as many more, if the device allows.
func (d *Device) sizeCQ(entries int) (log uint8, lazy uint16, err error) {
	most := int(min(d.Attr.MaxCQE, 1<<abi.MaxLogRing))
	if entries < 1 || entries > most {
		return 0, 0, fmt.Errorf("CQ of %d entries, the device has 1 to %d: %w", entries, most, ErrInvalid)
	}
	log = uint8(mathbits.Len(uint(entries - 1)))
	if 1<<log-entries+1 < 1<<log/4 && 2<<log <= most {
		log++
	}
	ring := 1 << log
	return log, uint16(max(1, min(ring/4, ring-entries+1))), nil
}

// entries is what fits while as much as may be is kept from the device.
func (c *cq) entries() int { return 1<<c.last().log - int(c.lazy) + 1 }

// unpolled counts the completions that are there and were not polled.
func (c *CQ) unpolled() (n int, err error) {
	for end := c.ci; n < 1<<c.last().log; n++ {
		ok, err := c.read(end)
		if err != nil || !ok {
			return n, err
		}
		end++
	}
	return n, nil
}

// Resize gives the queue room for entries completions or more, while it is in use:
// completions that were not polled stay, and those that come meanwhile are not lost.
// Errors wrap ErrInvalid (no such size, or more completions are not polled), ErrBusy
// (another thread resizes it) or ErrNoMemory; then nothing has changed.
func (c *CQ) Resize(entries int) error {
	d := c.dev
	switch {
	case c.destroyed:
		return fmt.Errorf("resize: CQ %d is destroyed: %w", c.num, ErrInvalid)
	case c.changing:
		return fmt.Errorf("CQ %d is being resized: %w", c.num, ErrBusy)
	}
	if err := d.usable(); err != nil {
		return fmt.Errorf("resize CQ %d: %w", c.num, err)
	}
	log, lazy, err := d.sizeCQ(entries)
	if err != nil {
		return err
	}
	waiting, err := c.unpolled()
	if err != nil {
		return fmt.Errorf("resize CQ %d: %w", c.num, err)
	}
	if waiting > 1<<log {
		return fmt.Errorf("resize CQ %d to a ring of %d: %d completions are not polled: %w", c.num, 1<<log, waiting, ErrInvalid)
	}
	base, err := d.bus.AllocDMA(abi.CQESize<<log, ringAlign)
	if err != nil {
		return fmt.Errorf("CQ of %d entries: %w: %w", entries, ErrNoMemory, err)
	}
	was := c.lazy
	c.changing, c.lazy = true, min(was, lazy) // a smaller ring has less to spare
	var box [abi.MailboxSize]byte
	abi.CQMailboxLayout.Encode(&abi.CQMailbox{Base: base, LogSize: log, CI: c.ci}, box[:])
	res, err := d.execute(abi.AdminResizeCQ, c.num, &box, false)
	c.changing, c.lazy = false, was
	if err != nil {
		d.freeRing(base)
		return err
	}
	c.rings, c.lazy = append(c.rings, cqRing{base, log, uint16(res.Result)}), lazy
	c.Entries = c.entries()
	c.consume(c.ci)
	return c.announce()
}
