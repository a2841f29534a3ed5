package driver

import (
	"fmt"

	"rnic/abi"
)

// SRQ is a shared receive queue: QPs that are made with it take their receive work
// requests from it, in the order of posting. A place is free again when the completion
// of its work request was polled, or its QP is reset or destroyed.
type SRQ struct {
	// MaxRecv is the work requests that the queue holds: what was asked for, rounded
	// up. It is as of the handle's making or its last Modify.
	MaxRecv int

	*srq
	dev *Device
}

type srq struct {
	num       uint32
	page      uint8
	pd        *pd
	base      uint64
	next      uint64   // while it gets another ring: that
	old       []uint64 // rings that the device might still be reading
	log       uint8    // of slots
	stride    uint8    // log2 of the bytes of one
	maxSGE    int
	list      slotList
	pi        uint16 // work requests posted
	bell      bell
	refs      int  // QPs
	unacked   int  // events taken and not acknowledged
	changing  bool // a thread modifies it
	destroyed bool
	rwqe      [abi.MaxUnits * abi.UnitSize]byte
}

// SRQAttr are the attributes of a shared receive queue.
type SRQAttr struct {
	MaxRecv int // work requests; 1 at least is made of 0
	MaxSGE  int // elements of a work request; fixed at creation
	Limit   int // SRQ_LIMIT_REACHED when fewer work requests are left, once; 0: never
}

// CreateSRQ makes a shared receive queue. The elements of its work requests are of
// this PD, whatever that of the QPs. Errors wrap ErrInvalid or ErrNoMemory.
func (p *PD) CreateSRQ(attr SRQAttr) (*SRQ, error) {
	d := p.dev
	if err := d.usable(); err != nil {
		return nil, fmt.Errorf("create SRQ: %w", err)
	}
	if p.destroyed {
		return nil, fmt.Errorf("create SRQ: PD %d is destroyed: %w", p.num, ErrInvalid)
	}
	log, err := d.sizeSRQ(&attr)
	if err != nil {
		return nil, fmt.Errorf("create SRQ: %w", err)
	}
	s := &SRQ{MaxRecv: 1<<log - 1, srq: &srq{
		page: d.page, pd: p.pd, log: log, stride: rqLogStride(attr.MaxSGE), maxSGE: attr.MaxSGE,
	}, dev: d}
	if err := s.create(&attr); err != nil {
		return nil, fmt.Errorf("create SRQ: %w", err)
	}
	return s, nil
}

// sizeSRQ judges attributes and chooses the slots: one stays free.
func (d *Device) sizeSRQ(attr *SRQAttr) (log uint8, err error) {
	most := int(min(d.Attr.MaxSRQEntries, 1<<abi.MaxLogRing)) - 1
	switch {
	case attr.MaxRecv < 0 || attr.MaxRecv > most:
		return 0, fmt.Errorf("%d work requests, at most %d: %w", attr.MaxRecv, most, ErrInvalid)
	case attr.MaxSGE < 0 || attr.MaxSGE > int(d.Attr.MaxSGE):
		return 0, fmt.Errorf("%d SGEs, the device has %d: %w", attr.MaxSGE, d.Attr.MaxSGE, ErrInvalid)
	}
	log = log2(max(attr.MaxRecv, 1) + 1)
	if attr.Limit < 0 || attr.Limit >= 1<<log {
		return 0, fmt.Errorf("limit %d of %d work requests: %w", attr.Limit, 1<<log-1, ErrInvalid)
	}
	return log, nil
}

// create takes number and ring and has the device make the queue. The PD counts as
// used already.
func (s *SRQ) create(attr *SRQAttr) (err error) {
	d := s.dev
	if s.num, err = d.srqns.take(); err != nil {
		return fmt.Errorf("SRQ number: %w", err)
	}
	if s.base, err = d.bus.AllocDMA(1<<(s.log+s.stride), ringAlign); err != nil {
		d.srqns.give(s.num)
		return fmt.Errorf("ring of %d entries: %w: %w", 1<<s.log, ErrNoMemory, err)
	}
	s.list.grow(1 << s.log)
	s.pd.refs++
	box := abi.SRQMailbox{
		Base: s.base, LogSize: s.log, LogStride: s.stride, MaxSGE: uint8(s.maxSGE), PD: s.pd.num,
		UARPage: uint16(s.page), Limit: uint16(attr.Limit),
	}
	var b [abi.MailboxSize]byte
	abi.SRQMailboxLayout.Encode(&box, b[:])
	if err := d.command(abi.AdminCreateSRQ, s.num, &b, false); err != nil {
		s.pd.refs--
		d.srqns.give(s.num)
		d.freeRing(s.base)
		return err
	}
	d.srqs[s.num] = s.srq
	return nil
}

// On returns the queue as the thread of another handle of the device sees it.
func (s *SRQ) On(d *Device) *SRQ { return &SRQ{MaxRecv: s.MaxRecv, srq: s.srq, dev: d} }

// Number is the SRQN, as in AsyncEvent.
func (s *SRQ) Number() uint32 { return s.num }

// Destroy ends the queue. It fails with ErrBusy while a QP uses it, or another thread
// modifies it. Events that nobody has taken are forgotten; for one that is taken and
// not acknowledged it waits, for ever if need be.
func (s *SRQ) Destroy() error {
	d := s.dev
	switch {
	case s.destroyed:
		return fmt.Errorf("SRQ %d is destroyed: %w", s.num, ErrInvalid)
	case s.refs > 0:
		return fmt.Errorf("SRQ %d serves %d QPs: %w", s.num, s.refs, ErrBusy)
	case s.changing:
		return fmt.Errorf("SRQ %d is being modified: %w", s.num, ErrBusy)
	}
	s.destroyed = true
	if err := d.command(abi.AdminDestroySRQ, s.num, nil, false); err != nil {
		s.destroyed = false
		return err
	}
	err := d.drain(d.eqs[0]) // what it told last
	d.forget(func(e *AsyncEvent) bool { return e.ofSRQ() && e.Number == s.num })
	d.awaitAcks(&s.unacked)
	d.srqs[s.num] = nil
	d.srqns.give(s.num)
	s.pd.refs--
	for _, base := range append(s.old, s.base) {
		d.freeRing(base)
	}
	return err
}
