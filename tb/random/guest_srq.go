package random

import (
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/tb/accept"
	"rnic/tb/host"
)

// GuestSRQ is a shared receive queue of each host: guests of any type take from it.
type GuestSRQ struct {
	MaxRecv, SGE int
	Limits       bool // limits are set again and again
}

// guestSRQ is one of a host.
type guestSRQ struct {
	*guests
	*GuestSRQ
	i     int
	srq   *driver.SRQ
	next  uint64
	recvs map[uint64]int // slots of what is posted
}

// create makes the queue.
func (q *guestSRQ) create() (err error) {
	s := q.s
	q.srq, err = s.pds[0].CreateSRQ(driver.SRQAttr{MaxRecv: q.MaxRecv, MaxSGE: q.SGE})
	if err == nil {
		s.accept.SRQ(q.srq.Number(), 0)
	}
	return err
}

// receive posts receives as there is room, until nothing more can come.
func (q *guestSRQ) receive(t *hdl.Thread, bus *host.Bus) error {
	s := q.s
	r := s.rand(forGuests, 1<<17+q.i)
	for phase := 1; phase <= len(s.s.Phases); phase++ {
		s.await(t, phase)
		srq := q.srq.On(s.dev.On(bus))
		for q.told < phase {
			if room := min(q.srq.MaxRecv-len(q.recvs), len(q.free)); room > 0 {
				var wrs []driver.RecvWR
				for range room - r.IntN(room)/2 {
					slot := q.free[0]
					q.free = q.free[1:]
					q.next++
					w := driver.RecvWR{ID: guestShared | uint64(q.i)<<32 | q.next, SGEs: q.elements(r, q.into, slot*guestSlot, guestSlot, q.SGE)}
					q.recvs[w.ID] = slot
					s.accept.PostShared(s.cycle(), srq.Number(), accept.RecvWR{ID: w.ID, SGEs: w.SGEs, Read: q.reader(slot)})
					wrs = append(wrs, w)
				}
				if n, err := srq.PostRecv(wrs...); err != nil {
					return fmt.Errorf("SRQ %d: %d of %d posted, %d outstanding: %w", srq.Number(), n, len(wrs), len(q.recvs), err)
				}
				s.accept.RungShared(s.cycle(), srq.Number())
			}
			if q.Limits && chance(r, 5) {
				n := r.IntN(q.srq.MaxRecv + 1)
				s.accept.Limit(srq.Number(), n)
				if err := srq.Modify(driver.SRQAttr{Limit: n}, abi.SRQLimit); err != nil {
					return err
				}
			}
			t.Sleep(200 + r.Uint64N(pick[uint64](r, 500, 500, 5000)))
		}
		s.finish()
	}
	return nil
}

// guestShared is in the ID of receives of shared queues.
const guestShared = 1 << 60

// reader reads a slot.
func (g *guests) reader(slot int) func(n int) []byte {
	return func(n int) []byte {
		b := make([]byte, n)
		_, _ = g.slots.ReadAt(b, int64(slot*guestSlot)) // it is inside
		return b
	}
}
