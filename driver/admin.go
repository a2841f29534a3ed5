package driver

import (
	"fmt"

	"rnic/abi"
)

// adminQueue is the admin rings. A command lies in slot index modulo size of the
// command ring, its mailbox and its completion in the same slot of theirs.
// Whoever reads a completion hands it to the call that waits for it, so a slot is
// free as soon as its completion was seen by any thread.
type adminQueue struct {
	sq, cq, boxes uint64
	pi, ci        uint16
	calls         [1 << logAdmin]*call
	ringing       bool
	rung          uint16
	broken        error // the device is given up
}

// call is a command that a thread waits for.
type call struct {
	box  *[abi.MailboxSize]byte
	out  bool // the device writes the mailbox
	done bool
	res  abi.AdminCompletion
	err  error
}

// command executes an admin command. box, if not nil, is its mailbox: read by the
// device or, with out, written.
func (d *Device) command(op abi.AdminOp, object uint32, box *[abi.MailboxSize]byte, out bool) error {
	_, err := d.execute(op, object, box, out)
	return err
}

// execute is command, and returns the completion too.
func (d *Device) execute(op abi.AdminOp, object uint32, box *[abi.MailboxSize]byte, out bool) (r abi.AdminCompletion, err error) {
	c := d.begin(Call{Name: op.String(), Object: "object", Number: object})
	r, err = d.carryOut(op, object, box, out)
	d.end(c, 0, err)
	return r, err
}

func (d *Device) carryOut(op abi.AdminOp, object uint32, box *[abi.MailboxSize]byte, out bool) (r abi.AdminCompletion, err error) {
	if err := d.usable(); err != nil {
		return r, fmt.Errorf("%s: %w", op, err)
	}
	a := &d.admin
	limit := d.bus.Now() + d.Config.AdminTimeout
	for a.pi-a.ci == 1<<logAdmin && a.broken == nil {
		d.awaitAdmin(limit)
	}
	if a.broken != nil {
		return r, fmt.Errorf("%s: %w", op, a.broken)
	}
	c := &call{box: box, out: out}
	if err := d.submit(c, op, object); err != nil {
		a.broken = err
		return r, fmt.Errorf("%s: %w", op, err)
	}
	for d.reap(); !c.done && a.broken == nil; {
		d.awaitAdmin(limit)
	}
	switch {
	case !c.done:
		return r, fmt.Errorf("%s: %w", op, a.broken)
	case c.err != nil:
		return r, fmt.Errorf("%s: %w", op, c.err)
	case c.res.Status != abi.AdminOK:
		return r, &AdminError{Op: op, Object: object, Status: c.res.Status, Syndrome: c.res.Syndrome}
	}
	return c.res, nil
}

// usable is the error of a device that is closed or given up.
func (d *device) usable() error {
	if err := d.open(); err != nil {
		return err
	}
	return d.admin.broken
}

// open is the error of a device that is closed.
func (d *device) open() error {
	if d.closed {
		return fmt.Errorf("device is closed: %w", ErrInvalid)
	}
	return nil
}

// submit writes mailbox and command and rings.
func (d *Device) submit(c *call, op abi.AdminOp, object uint32) error {
	a := &d.admin
	slot := abi.RingSlot(a.pi, logAdmin)
	cmd := abi.AdminCommand{Op: op, ID: a.pi, Object: object}
	if c.box != nil {
		cmd.Mailbox = a.boxes + uint64(slot)*abi.MailboxSize
		if err := d.bus.WriteMem(cmd.Mailbox, c.box[:]); err != nil {
			return err
		}
	}
	var b [abi.AdminCommandSize]byte
	abi.AdminCommandLayout.Encode(&cmd, b[:])
	if err := d.bus.WriteMem(a.sq+uint64(slot)*abi.AdminCommandSize, b[:]); err != nil {
		return err
	}
	a.calls[slot] = c
	a.pi++
	if a.ringing {
		return nil // who rings will ring for this one too
	}
	a.ringing = true
	defer func() { a.ringing = false }()
	for a.rung != a.pi {
		pi := a.pi
		if err := d.write32(abi.RegAdminDoorbell, uint32(pi)); err != nil {
			return err
		}
		a.rung = pi
	}
	return nil
}

// awaitAdmin waits for an interrupt and reads what has completed. When time is
// over the device is given up.
func (d *Device) awaitAdmin(limit int64) {
	a := &d.admin
	was := a.ci
	fired, err := d.bus.WaitIRQ(adminVector, limit)
	d.reap()
	if err == nil {
		err = d.drain(d.eqs[0])
	}
	switch {
	case a.broken != nil:
	case err != nil:
		a.broken = err
	case !fired && a.ci == was && d.bus.Now() >= limit:
		a.broken = fmt.Errorf("%d commands outstanding after %d ns: %w",
			a.pi-a.ci, d.Config.AdminTimeout/1000, ErrTimeout)
	}
}

// reap hands completions to their calls.
func (d *Device) reap() {
	a := &d.admin
	for a.ci != a.pi && a.broken == nil {
		slot := abi.RingSlot(a.ci, logAdmin)
		var b [abi.AdminCompletionSize]byte
		if err := d.bus.ReadMem(a.cq+uint64(slot)*abi.AdminCompletionSize, b[:]); err != nil {
			a.broken = err
			return
		}
		var r abi.AdminCompletion
		_ = abi.AdminCompletionLayout.Decode(b[:], &r) // long enough by type
		if r.Phase != abi.RingPhase(a.ci, logAdmin) {
			return
		}
		if r.ID != a.ci {
			a.broken = fmt.Errorf("admin completion of command %#x, expected %#x: %w", r.ID, a.ci, ErrDevice)
			return
		}
		c := a.calls[slot]
		a.calls[slot] = nil
		a.ci++
		c.res, c.done = r, true
		if c.out && r.Status == abi.AdminOK {
			c.err = d.bus.ReadMem(a.boxes+uint64(slot)*abi.MailboxSize, c.box[:])
		}
	}
}
