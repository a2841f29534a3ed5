package random

import (
	"fmt"
	"math/rand/v2"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/tb/host"
)

// churn makes, changes and destroys objects that nobody uses, while the others work.
func (s *side) churn(t *hdl.Thread, bus *host.Bus) error {
	r := s.rand(forChurn, 0)
	for phase := range s.s.Phases {
		s.await(t, phase+1)
		dev := s.dev.On(bus)
		for range r.IntN(s.s.Style.Churn + 1) {
			t.Sleep(r.Uint64N(2000))
			if err := s.useless(dev, bus, r); err != nil {
				return err
			}
		}
		s.finish()
	}
	return nil
}

// useless does one thing that must not be noticed elsewhere.
func (s *side) useless(dev *driver.Device, bus *host.Bus, r *rand.Rand) error {
	pd := s.pds[r.IntN(len(s.pds))].On(dev)
	switch r.IntN(5) {
	case 0:
		b, err := dev.AllocBuffer(1+r.IntN(50_000), r.IntN(4096))
		if err != nil {
			return err
		}
		m, err := pd.RegMR(b, abi.AccessLocalWrite)
		if err != nil {
			return err
		}
		if err := m.Dereg(); err != nil {
			return err
		}
		return b.Free()
	case 1:
		c, err := dev.CreateCQ(1+r.IntN(100), driver.CQOptions{Vector: r.IntN(dev.Config.Vectors)})
		if err != nil {
			return err
		}
		if err := c.Arm(r.IntN(2) == 0); err != nil {
			return err
		}
		return c.Destroy()
	case 2:
		return s.bystander(dev, bus, pd, r)
	}
	e := s.ends[r.IntN(len(s.ends))]
	if e.life != alive || len(s.s.Phases[s.phase-1].Cuts[s.n]) > 0 {
		return nil // it may be destroyed meanwhile
	}
	if r.IntN(2) == 0 {
		return e.drain(e.qp.On(dev), bus, r)
	}
	m, err := e.qp.On(dev).Query()
	if err == nil && (m.State != abi.QPRTS || m.DestQPN != e.peer.QPN) {
		err = fmt.Errorf("pair %d: %+v", e.i, m)
	}
	return err
}

// drain stops the send queue of a QP, which finishes what it has begun, and has it go
// on.
func (e *end) drain(qp *driver.QP, bus *host.Bus, r *rand.Rand) error {
	if err := qp.Modify(driver.QPAttr{State: abi.QPSQD}, abi.AttrState); err != nil {
		return err
	}
	e.s.accept.Drain(e.s.cycle(), qp.Number())
	bus.Spend(r.Int64N(20_000_000))
	for {
		m, err := qp.Query()
		switch {
		case err != nil:
			return err
		case m.State != abi.QPSQD:
			return fmt.Errorf("pair %d, draining: %+v", e.i, m)
		case m.SQDraining:
			bus.Spend(1_000_000)
			continue
		}
		e.s.accept.Resume(qp.Number())
		return qp.Modify(driver.QPAttr{State: abi.QPRTS}, abi.AttrState)
	}
}

// bystander is a QP that flushes some receives and goes.
func (s *side) bystander(dev *driver.Device, bus *host.Bus, pd *driver.PD, r *rand.Rand) error {
	c, err := dev.CreateCQ(8, driver.CQOptions{})
	if err != nil {
		return err
	}
	q, err := pd.CreateQP(driver.QPConfig{SendCQ: c, RecvCQ: c, MaxRecv: 8})
	if err != nil {
		return err
	}
	if err := q.Init(0); err != nil {
		return err
	}
	n := 1 + r.IntN(8)
	for i := range n {
		if _, err := q.PostRecv(driver.RecvWR{ID: uint64(i)}); err != nil {
			return err
		}
	}
	if r.IntN(2) == 0 {
		if err := q.Modify(driver.QPAttr{State: abi.QPErr}, abi.AttrState); err != nil {
			return err
		}
		if err := s.allFlushed(bus, c, n); err != nil {
			return err
		}
	}
	if err := q.Destroy(); err != nil {
		return err
	}
	return c.Destroy()
}

// allFlushed demands n receives flushed, in order.
func (s *side) allFlushed(bus *host.Bus, c *driver.CQ, n int) error {
	limit := bus.Now() + 1_000_000_000 // 1 ms
	wcs := make([]driver.WC, 8)
	for i := 0; i < n; {
		k, err := c.Wait(wcs, limit)
		if err != nil {
			return err
		}
		if k == 0 {
			return fmt.Errorf("bystander: %d of %d receives flushed", i, n)
		}
		for _, wc := range wcs[:k] {
			if wc.ID != uint64(i) || wc.Status != abi.StatusWRFlush {
				return fmt.Errorf("bystander: receive %d completes as receive %d: %v", i, wc.ID, wc.Status)
			}
			i++
		}
	}
	s.foreign += n
	return nil
}
