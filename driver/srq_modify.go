package driver

import (
	"fmt"

	"rnic/abi"
)

// Modify changes what mask names: abi.SRQRing MaxRecv, abi.SRQLimit Limit, while the
// queue is in use. A queue only grows: with less than it holds nothing happens. A limit
// of 0 takes back one that was set. Errors wrap ErrInvalid, ErrBusy (another thread
// modifies it) or ErrNoMemory; then nothing has changed.
func (s *SRQ) Modify(attr SRQAttr, mask abi.SRQAttr) error {
	d := s.dev
	switch {
	case s.destroyed:
		return fmt.Errorf("modify: SRQ %d is destroyed: %w", s.num, ErrInvalid)
	case mask&^(abi.SRQRing|abi.SRQLimit) != 0:
		return fmt.Errorf("modify SRQ %d: attributes %s: %w", s.num, mask, ErrInvalid)
	case s.changing:
		return fmt.Errorf("SRQ %d is being modified: %w", s.num, ErrBusy)
	}
	if err := d.usable(); err != nil {
		return fmt.Errorf("modify SRQ %d: %w", s.num, err)
	}
	attr.MaxSGE = s.maxSGE
	if mask&abi.SRQLimit == 0 {
		attr.Limit = 0
	}
	if mask&abi.SRQRing == 0 || attr.MaxRecv >= 0 && attr.MaxRecv < 1<<s.log {
		attr.MaxRecv, mask = 1<<s.log-1, mask&^abi.SRQRing
	}
	log, err := d.sizeSRQ(&attr)
	if err != nil {
		return fmt.Errorf("modify SRQ %d: %w", s.num, err)
	}
	if mask == 0 {
		return nil
	}
	s.changing = true
	defer func() { s.changing, s.next = false, 0 }()
	if mask&abi.SRQRing != 0 {
		if err := s.copyRing(log); err != nil {
			if s.next != 0 {
				d.freeRing(s.next)
			}
			return fmt.Errorf("modify SRQ %d: %w", s.num, err)
		}
	}
	var b [abi.MailboxSize]byte
	abi.SRQMailboxLayout.Encode(&abi.SRQMailbox{Base: s.next, LogSize: log, Mask: mask, Limit: uint16(attr.Limit)}, b[:])
	err = d.command(abi.AdminModifySRQ, s.num, &b, false)
	switch {
	case mask&abi.SRQRing == 0:
	case err != nil:
		d.freeRing(s.next)
	default:
		s.old = append(s.old, s.base)
		s.base, s.log = s.next, log
		s.list.grow(1 << log)
		s.MaxRecv = 1<<log - 1
	}
	return err
}

// copyRing makes a larger ring. From then on work requests are written to both.
func (s *SRQ) copyRing(log uint8) error {
	bus := s.dev.bus
	next, err := bus.AllocDMA(1<<(log+s.stride), ringAlign)
	if err != nil {
		return fmt.Errorf("ring of %d entries: %w: %w", 1<<log, ErrNoMemory, err)
	}
	s.next = next
	b := make([]byte, 1<<s.stride)
	for i := range uint64(1) << s.log {
		if err := bus.ReadMem(s.base+i<<s.stride, b); err != nil {
			return err
		}
		if err := bus.WriteMem(next+i<<s.stride, b); err != nil {
			return err
		}
	}
	return nil
}

// Query asks the device for the attributes. The limit is 0 when it has been reached.
func (s *SRQ) Query() (SRQAttr, error) {
	if s.destroyed {
		return SRQAttr{}, fmt.Errorf("query: SRQ %d is destroyed: %w", s.num, ErrInvalid)
	}
	var b [abi.MailboxSize]byte
	if err := s.dev.command(abi.AdminQuerySRQ, s.num, &b, true); err != nil {
		return SRQAttr{}, err
	}
	var m abi.SRQMailbox
	err := abi.SRQMailboxLayout.Decode(b[:], &m)
	return SRQAttr{MaxRecv: 1<<m.LogSize - 1, MaxSGE: int(m.MaxSGE), Limit: int(m.Limit)}, err
}
