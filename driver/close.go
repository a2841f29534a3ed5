package driver

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"rnic/abi"
)

// Close destroys everything that was made on the device and stops it. No other
// thread may use it any more; those that wait for completions or events wake, with
// ErrInvalid. Events need no acknowledgement then. The first error is returned; memory
// that the device might still access after it is not given back.
func (d *Device) Close() error {
	if err := d.open(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	d.closing = true
	err := d.destroyAll()
	for i := len(d.eqs) - 1; i >= 0 && err == nil; i-- {
		err = d.command(abi.AdminDestroyEQ, uint32(i), nil, false)
	}
	if err != nil {
		return fmt.Errorf("close: %w", d.abandon(err))
	}
	if err := d.stop(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// destroyAll destroys all objects, users first.
func (d *Device) destroyAll() error {
	for _, q := range d.qps {
		if q != nil {
			if err := (&QP{qp: q, dev: d}).Destroy(); err != nil {
				return err
			}
		}
	}
	for _, s := range d.srqs {
		if s != nil {
			if err := (&SRQ{srq: s, dev: d}).Destroy(); err != nil {
				return err
			}
		}
	}
	for _, c := range d.cqs {
		if c != nil {
			if err := (&CQ{cq: c, dev: d}).Destroy(); err != nil {
				return err
			}
		}
	}
	for _, h := range d.ahs {
		if h != nil {
			if err := (&AH{ah: h, dev: d}).Destroy(); err != nil {
				return err
			}
		}
	}
	for _, w := range d.mws {
		if w != nil {
			if err := (&MW{mw: w, dev: d}).Dealloc(); err != nil {
				return err
			}
		}
	}
	for _, m := range d.mrs {
		if m != nil {
			if err := (&MR{mr: m, dev: d}).Dereg(); err != nil {
				return err
			}
		}
	}
	byAddr := func(a, b *Buffer) int { return cmp.Compare(a.Addr, b.Addr) }
	for _, b := range slices.SortedFunc(maps.Keys(d.buffers), byAddr) {
		b.release()
	}
	return nil
}

// stop disables the device and gives its memory back.
func (d *Device) stop() error {
	d.closed = true
	if err := d.disable(); err != nil {
		return err
	}
	for _, q := range d.eqs {
		d.wake(q)
		d.bus.FreeDMA(q.base)
	}
	d.freeAdmin()
	return nil
}

// freeAdmin gives the admin rings back.
func (d *Device) freeAdmin() {
	for _, addr := range []uint64{d.admin.sq, d.admin.cq, d.admin.boxes} {
		if addr != 0 {
			d.bus.FreeDMA(addr)
		}
	}
}

// abandon stops the device after an error, joined with what goes wrong then.
func (d *Device) abandon(err error) error {
	d.closed = true
	for _, q := range d.eqs {
		d.wake(q)
	}
	w := abi.RegWord(abi.CtrlLayout, abi.Ctrl{})
	return errors.Join(err, d.write32(abi.RegCtrl, w))
}
