package random

import (
	"encoding/binary"
	"fmt"
	"math"

	"rnic/driver"
	"rnic/hdl"
	"rnic/tb/host"
)

// receive posts receives, phase by phase, and gives the peer a credit for each.
func (e *end) receive(t *hdl.Thread, bus *host.Bus) error {
	s, style := e.s, &e.s.s.Style
	r := s.rand(forReceiving, e.i)
	for phase := 1; phase <= len(s.s.Phases); phase++ {
		s.await(t, phase)
		qp := e.qp.On(s.dev.On(bus))
		told, total := 0, len(e.arrive)+len(e.in.Extra)
		for e.posted < total && !e.stop {
			need := min(1+r.IntN(style.Refill), total-e.posted, e.cfg.MaxRecv)
			if e.room() < need {
				told += e.grant(told)
				for e.room() < need && !e.stop {
					t.Wait(&e.space, 0)
				}
				if e.stop {
					break
				}
			}
			n := min(e.room(), total-e.posted, 1+r.IntN(style.Batch))
			if err := e.postReceives(qp, n); err != nil {
				return err
			}
		}
		if !e.stop {
			e.grant(told)
		}
		e.leave()
	}
	return nil
}

// room is how many receives can be posted.
func (e *end) room() int { return e.cfg.MaxRecv - (e.posted - e.received) }

// grant tells the peer of receives posted beyond those that it knows, and returns
// how many.
func (e *end) grant(told int) int {
	n := min(e.posted, len(e.arrive)) - told
	if n > 0 {
		m := binary.LittleEndian.AppendUint16([]byte{msgCredit}, uint16(e.i))
		e.s.h.OOB.Send(append(binary.LittleEndian.AppendUint16(m, uint16(n)), uint8(e.s.phase-1)))
	}
	return max(n, 0)
}

// postReceives posts the next n.
func (e *end) postReceives(qp *driver.QP, n int) error {
	var wrs []driver.RecvWR
	for i := e.posted; i < e.posted+n; i++ {
		if i >= len(e.arrive) {
			id := math.MaxUint64 - uint64(i)
			wrs = append(wrs, driver.RecvWR{ID: id, SGEs: e.s.sges(e.in.Extra[i-len(e.arrive)])})
			e.tellReceive(&wrs[len(wrs)-1], e.in.Extra[i-len(e.arrive)])
			e.receives = append(e.receives, posted{want: completion{ID: id}, completes: true})
			continue
		}
		m := e.arrive[i]
		wrs = append(wrs, driver.RecvWR{ID: ^m.ID, SGEs: e.s.sges(m.Dst)})
		e.tellReceive(&wrs[len(wrs)-1], m.Dst)
		c := e.arrival(m)
		e.expect(true, c, true, m.Fault.received())
	}
	e.posted += n
	if k, err := qp.PostRecv(wrs...); err != nil || k != n {
		return fmt.Errorf("pair %d: %d of %d receives posted: %w", e.i, k, n, err)
	}
	return nil
}

// poll takes the completions of a CQ, each after the one before it.
func (s *side) poll(t *hdl.Thread, bus *host.Bus, c int) error {
	s.await(t, 1)
	cq, style := s.cqs[c].On(s.dev.On(bus)), &s.s.Style
	r := s.rand(forPolling, c)
	wcs := make([]driver.WC, style.Take)
	last := uint64(0)
	for {
		n, err := 0, error(nil)
		if style.Spin {
			n, err = cq.Poll(wcs[:1+r.IntN(style.Take)])
		} else {
			if r.IntN(4) == 0 { // one more than Wait needs
				if err := cq.Arm(r.IntN(2) == 0); err != nil && !s.closing {
					return err
				}
			}
			n, err = cq.Wait(wcs[:1+r.IntN(style.Take)], math.MaxInt64)
		}
		switch {
		case s.closing:
			return nil
		case err != nil:
			return err
		case n == 0:
			t.Sleep(1 + r.Uint64N(style.SpinTime))
		}
		for i := range wcs[:n] {
			if wcs[i].Timestamp < last {
				return fmt.Errorf("CQE of cycle %d after one of %d: %+v", wcs[i].Timestamp, last, wcs[i])
			}
			last = wcs[i].Timestamp
			if err := s.complete(&wcs[i]); err != nil {
				return err
			}
		}
	}
}
