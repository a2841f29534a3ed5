package random

import (
	"math"
	"slices"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/tb/accept"
	"rnic/tb/host"
)

// receive posts receives as there is room, until nothing more can come.
func (q *guest) receive(t *hdl.Thread, bus *host.Bus) error {
	s := q.s
	r := s.rand(forGuests, 2*q.i+1)
	for phase := 1; phase <= len(s.s.Phases); phase++ {
		s.await(t, phase)
		qp := q.qp.On(s.dev.On(bus))
		for q.told < phase {
			if room := q.MaxRecv - len(q.recvs); room > 0 && q.SRQ == 0 {
				var wrs []driver.RecvWR
				for range room - r.IntN(room)/2 {
					if len(q.free) == 0 {
						break
					}
					slot := q.free[0]
					q.free = q.free[1:]
					n := guestSlot
					if q.Type != abi.QPTypeRC && chance(r, 8) {
						n = r.IntN(3000)
					}
					off := slot * guestSlot
					q.next++
					w := driver.RecvWR{ID: q.next, SGEs: q.elements(r, q.into, off, n, q.RecvSGE)}
					q.recvs[w.ID] = slot
					s.accept.PostRecv(s.cycle(), qp.Number(), accept.RecvWR{ID: w.ID, SGEs: w.SGEs, Read: q.reader(slot)})
					wrs = append(wrs, w)
				}
				if _, err := qp.PostRecv(wrs...); err != nil {
					return err
				}
				s.accept.Rung(s.cycle(), qp.Number())
			}
			t.Sleep(200 + r.Uint64N(pick[uint64](r, 500, 500, 5000)))
		}
		s.finish()
	}
	return nil
}

// poll takes the completions of the guests.
func (g *guests) poll(t *hdl.Thread, bus *host.Bus) error {
	s := g.s
	s.await(t, 1)
	cq := g.cq.On(s.dev.On(bus))
	wcs := make([]driver.WC, 8)
	for {
		n, err := cq.Wait(wcs, math.MaxInt64)
		switch {
		case s.closing:
			return nil
		case err != nil:
			return err
		}
		for i := range wcs[:n] {
			g.complete(&wcs[i])
		}
	}
}

// complete has the acceptor judge a completion, and takes back what it ends.
func (g *guests) complete(wc *driver.WC) {

	g.s.moves++
	g.s.tellCompletion(wc)
	for _, q := range g.srqs {
		if slot, ok := q.recvs[wc.ID]; ok {
			g.came++
			delete(q.recvs, wc.ID)
			q.free = append(q.free, slot)
		}
	}
	for _, q := range g.list {
		if q.qp.Number() != wc.QPN {
			continue
		}
		if slot, ok := q.recvs[wc.ID]; ok {
			g.came++
			delete(q.recvs, wc.ID)
			q.free = append(q.free, slot)
			continue
		}
		if k := slices.Index(q.order, wc.ID); k >= 0 {
			q.order = q.order[k+1:]
			q.open = len(q.order)
			q.space.Notify()
			q.turned(wc.ID, wc.Status == abi.StatusSuccess)
			q.let()
		}
	}
}
