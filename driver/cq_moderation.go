package driver

import (
	"fmt"
	"math"

	"rnic/abi"
)

// Moderation holds the events of a CQ back, so that a program is woken once for
// many completions. An event that an arm asked for waits until Count completions
// are there that were not taken, or until Period is over: what comes first. The
// zero value holds nothing back.
type Moderation struct {
	Count  int // completions, up to 65,535; 0: time alone
	Period int // units of 256 clock cycles (1.024 us), up to 4,000; 0 with a Count of 0 or 1 only
}

func (m Moderation) check() error {
	if m.Count < 0 || m.Count > math.MaxUint16 || m.Period < 0 || m.Period > abi.MaxCQPeriod || m.Period == 0 && m.Count > 1 {
		return fmt.Errorf("moderation %+v: %w", m, ErrInvalid)
	}
	return nil
}

// Moderate changes the moderation of the queue's events, while it is in use. An
// event that is held back comes at once. Errors wrap ErrInvalid.
func (c *CQ) Moderate(m Moderation) error {
	if c.destroyed {
		return fmt.Errorf("moderate: CQ %d is destroyed: %w", c.num, ErrInvalid)
	}
	if err := m.check(); err != nil {
		return err
	}
	var box [abi.MailboxSize]byte
	abi.CQMailboxLayout.Encode(&abi.CQMailbox{Count: uint16(m.Count), Period: uint16(m.Period)}, box[:])
	return c.dev.command(abi.AdminModifyCQ, c.num, &box, false)
}
