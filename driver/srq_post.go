package driver

import (
	"fmt"

	"rnic/abi"
)

// PostRecv posts receives in order and tells the device with one doorbell. It stops at
// the first that is wrong, as PostSend does: ErrInvalid for too many elements,
// ErrNoMemory when the queue is full. It never waits for the device.
func (s *SRQ) PostRecv(wrs ...RecvWR) (n int, err error) {
	if s.destroyed {
		return 0, fmt.Errorf("post receive to SRQ %d, which is destroyed: %w", s.num, ErrInvalid)
	}
	for n < len(wrs) {
		if err = s.recv(&wrs[n]); err != nil {
			err = fmt.Errorf("post receive to SRQ %d: work request %d (id %d): %w", s.num, n, wrs[n].ID, err)
			break
		}
		n++
	}
	if n == 0 {
		return 0, err
	}
	s.dev.bus.Spend(int64(n) * s.dev.Config.PostCost)
	if e := s.dev.ring(&s.bell, s.page, abi.DoorbellSRQ, s.num, &s.pi); err == nil {
		err = e
	}
	return n, err
}

// recv checks a receive and writes it into the next slot.
func (s *SRQ) recv(w *RecvWR) error {
	switch {
	case len(w.SGEs) > s.maxSGE:
		return fmt.Errorf("%d SGEs, the SRQ has %d: %w", len(w.SGEs), s.maxSGE, ErrInvalid)
	case s.list.full():
		return fmt.Errorf("queue full, %d work requests outstanding: %w", len(s.list.slots)-1, ErrNoMemory)
	}
	at, behind := s.list.next()
	b := encodeRecv(s.rwqe[:], w, abi.RWQEControl{NumSGE: uint8(len(w.SGEs)), Index: s.pi, Next: behind})
	if err := s.dev.bus.WriteMem(s.base+uint64(at)<<s.stride, b); err != nil {
		return err
	}
	if s.next != 0 {
		if err := s.dev.bus.WriteMem(s.next+uint64(at)<<s.stride, b); err != nil {
			return err
		}
	}
	s.list.post(w.ID)
	s.pi++
	return nil
}
