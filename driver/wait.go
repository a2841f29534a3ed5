package driver

import "fmt"

// Arm asks for one event for the next completion that was not polled yet; with
// solicited only for one that the sender asked for, or in error. It never waits.
func (c *CQ) Arm(solicited bool) error {
	call := c.dev.begin(Call{Name: "Arm", Object: "cq", Number: c.num})
	err := c.arm(solicited)
	c.dev.end(call, 1, err)
	return err
}

func (c *CQ) arm(solicited bool) error {
	if c.destroyed {
		return fmt.Errorf("arm: CQ %d is destroyed: %w", c.num, ErrInvalid)
	}
	c.armed = c.armed || !solicited
	c.toArm, c.toArmAny = true, c.toArmAny || !solicited
	return c.ring()
}

// Wait is Poll, but waits for one completion at least, until the given time (ps;
// math.MaxInt64: for ever). With none by then, after a last look, it returns 0 and no
// error. It arms the queue itself. If another thread destroys the queue meanwhile, or
// closes the device, the wait ends with ErrInvalid.
func (c *CQ) Wait(wcs []WC, until int64) (int, error) {
	call := c.dev.begin(Call{Name: "Wait", Object: "cq", Number: c.num})
	n, err := c.wait(wcs, until)
	c.dev.end(call, n, err)
	return n, err
}

func (c *CQ) wait(wcs []WC, until int64) (int, error) {
	if len(wcs) == 0 {
		return 0, fmt.Errorf("wait for no completions: %w", ErrInvalid)
	}
	for {
		if n, err := c.Poll(wcs); n > 0 || err != nil {
			return n, err
		}
		if err := c.drain(); err != nil {
			return 0, err
		}
		if !c.armed {
			if err := c.Arm(false); err != nil {
				return 0, err
			}
			if n, err := c.Poll(wcs); n > 0 || err != nil {
				return n, err
			}
		}
		fired, err := c.dev.sleep(c.eq, until)
		if err != nil {
			return 0, err
		}
		if c.destroyed {
			return 0, fmt.Errorf("wait: CQ %d was destroyed while waiting: %w", c.num, ErrInvalid)
		}
		if !fired && c.dev.bus.Now() >= until {
			return c.Poll(wcs)
		}
	}
}

// drain consumes the events of the CQ's event queue, and asynchronous ones, so that
// the device is never held up by them.
func (c *CQ) drain() error {
	if err := c.dev.drain(c.eq); err != nil {
		return err
	}
	return c.dev.drain(c.dev.eqs[0])
}
