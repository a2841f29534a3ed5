package random

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/host"
)

// Kinds of messages between the hosts, beside the wire.
const (
	msgCredit    = 'c' // pair and number of receives posted, 16 bits each, and phase
	msgEndpoints = 'e' // of all QPs, as JSON
	msgDone      = 'd' // the sender has come to the next point where both meet
	msgRegions   = 'r' // of a phase, as JSON
	msgGuests    = 'g' // QPs and memory of the guests, as JSON
	msgWindow    = 'w' // see guests.hear
	msgSated     = 's' // the guests of the sender have no more to send in the phase
	msgCalm      = 'q' // whether nothing has come to the sender since it last said so
)

// settle is how long after the last completion a host is at rest, cycles.
const settle = 5000

// listen takes what the other host says.
func (s *side) listen(t *hdl.Thread, _ *host.Bus) error {
	for {
		m := s.h.OOB.Recv(t)
		switch m[0] {
		case msgCredit:
			e := s.ends[binary.LittleEndian.Uint16(m[1:])]
			e.credits[m[5]] += int(binary.LittleEndian.Uint16(m[3:]))
			e.wake.Notify()
		case msgEndpoints:
			var l []driver.Endpoint
			if err := json.Unmarshal(m[1:], &l); err != nil {
				return err
			}
			s.remote = append(s.remote, l)
			s.step.Notify()
		case msgRegions:
			var g regions
			if err := json.Unmarshal(m[1:], &g); err != nil {
				return err
			}
			s.regions = append(s.regions, g)
			s.step.Notify()
		case msgGuests:
			var r guestRegions
			if err := json.Unmarshal(m[1:], &r); err != nil {
				return err
			}
			s.guests.peer = append(s.guests.peer, r)
			s.step.Notify()
		case msgWindow:
			s.guests.hear(m)
		case msgSated:
			s.guests.told++
		case msgCalm:
			s.peerCalm = append(s.peerCalm, m[1] != 0)
			s.step.Notify()
		case msgDone:
			s.peerMet++
			s.step.Notify()
		}
	}
}

// wait waits until a condition holds.
func (s *side) wait(t *hdl.Thread, cond func() bool) {
	for !cond() {
		t.Wait(&s.step, 0)
	}
}

// main coordinates the host.
func (s *side) main(t *hdl.Thread, bus *host.Bus) error {
	if err := s.open(t, bus); err != nil {
		return err
	}
	for i := range s.s.Phases {
		if err := s.run(t, bus, i); err != nil {
			return fmt.Errorf("phase %d: %w", i, err)
		}
	}
	if err := s.verdict(); err != nil {
		return err
	}
	s.closing = true
	if s.s.Close {
		if err := s.dev.Close(); err != nil {
			return err
		}
		if err := s.h.Machine.Mem.CheckGuards(); err != nil {
			return err
		}
	}
	s.done = true
	return nil
}

// open opens the device and makes what stays for the whole run.
func (s *side) open(t *hdl.Thread, bus *host.Bus) (err error) {
	cfg := s.s.Driver
	k := uint8(s.h.Index)
	cfg.MAC, cfg.IPv4, cfg.GID = roce.HostMAC(k), roce.HostIPv4(k), roce.HostIPv6(k)
	if s.dev, err = driver.Open(bus, cfg); err != nil {
		return err
	}
	for range s.s.PDs {
		pd, err := s.dev.AllocPD()
		if err != nil {
			return err
		}
		s.pds = append(s.pds, pd)
	}
	for i, n := range s.s.CQs[s.n] {
		cq, err := s.dev.On(bus).CreateCQ(n, driver.CQOptions{Vector: i % s.dev.Config.Vectors})
		if err != nil {
			return err
		}
		s.cqs = append(s.cqs, cq)
		s.moves++
	}
	t.Sleep(settle)
	s.rest = tb.NewRest(s.h)
	return nil
}

// run brings the QPs where phase i wants them, lets it run, and checks what is left.
func (s *side) run(t *hdl.Thread, bus *host.Bus, i int) error {
	if err := s.prepare(bus, i); err != nil {
		return err
	}
	if err := s.connect(t, i); err != nil {
		return err
	}
	if err := s.allocate(i); err != nil {
		return err
	}
	if err := s.swapRegions(t, i); err != nil {
		return err
	}
	if s.guests != nil {
		if err := s.guests.begin(t, bus, i); err != nil {
			return err
		}
	}
	s.finished = 0
	s.phase = i + 1
	s.begin.Notify()
	s.wait(t, func() bool { return s.finished == s.threads() && s.owed == 0 })
	s.tell(i)
	s.meet(t)
	s.calm(t)
	s.meet(t)
	return s.settled()
}

// calm waits until all that is under way has come to its end. Packets of a QP in ERR
// that were ready to leave do so; frames that are late come, and are answered. So both
// hosts have to find that nothing has come for a while.
func (s *side) calm(t *hdl.Thread) {
	if s.s.Loss == nil {
		t.Sleep(settle)
		for k := 0; k < 10 && s.rest.Check() != nil; k++ {
			t.Sleep(settle)
		}
		return
	}
	for before, quiet := s.h.Cable().Came, false; !quiet; {
		t.Sleep(settle)
		now := s.h.Cable().Came
		quiet = now == before && s.rest.Check() == nil
		before = now
		m := []byte{msgCalm, 0}
		if quiet {
			m[1] = 1
		}
		s.h.OOB.Send(m)
		s.calms++
		s.wait(t, func() bool { return len(s.peerCalm) >= s.calms })
		quiet = quiet && s.peerCalm[s.calms-1]
	}
}

// meet waits for the peer to come as far.
func (s *side) meet(t *hdl.Thread) {
	s.met++
	s.h.OOB.Send([]byte{msgDone})
	s.wait(t, func() bool { return s.peerMet >= s.met })
}

// prepare resets and replaces QPs.
func (s *side) prepare(bus *host.Bus, i int) error {
	p := &s.s.Phases[i]
	for q, e := range s.ends {
		e.pair, e.cfg = &p.Pairs[q], &p.Pairs[q].Ends[s.n]
		e.start(p)
		switch p.Fates[q] {
		case Reset:
			s.accept.Stop(s.cycle(), e.qp.Number(), true)
			if err := s.hear(s.dev.On(bus)); err != nil {
				return err
			}
			if err := e.qp.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState); err != nil {
				return err
			}
			s.accept.Stopped(s.cycle(), e.qp.Number())
		case Recreate:
			if err := e.create(bus); err != nil {
				return err
			}
		}
		s.moves++
	}
	return nil
}

// create makes a QP, in place of the one that there was.
func (e *end) create(bus *host.Bus) (err error) {
	s, c := e.s, e.cfg
	if e.qp != nil {
		if !e.destroyed {
			s.accept.Stop(s.cycle(), e.qp.Number(), true)
			if err := s.hear(s.dev.On(bus)); err != nil {
				return err
			}
			if err := e.qp.Destroy(); err != nil {
				return err
			}
			s.accept.Destroyed(s.cycle(), e.qp.Number())
		}
		e.destroyed = false
	}
	e.qp, err = s.pds[e.pd()].On(s.dev.On(bus)).CreateQP(driver.QPConfig{
		SendCQ: s.cqs[c.SendCQ], RecvCQ: s.cqs[c.RecvCQ], MaxSend: c.MaxSend, MaxRecv: c.MaxRecv,
		MaxSendSGE: c.SendSGE, MaxRecvSGE: c.RecvSGE, MaxInline: c.MaxInline, SigAll: c.SigAll,
		IPv6: e.pair.IPv6, PSN: c.PSN,
	})
	if err == nil {
		s.accept.Create(s.cycle(), e.qp.Number(), e.pd(), c.SigAll)
	}
	return err
}

// pd is the protection domain of the pair.
func (e *end) pd() int { return e.i % e.s.s.PDs }

// connect swaps addresses with the other host and connects what is in RESET.
func (s *side) connect(t *hdl.Thread, i int) error {
	mine := make([]driver.Endpoint, len(s.ends))
	for q, e := range s.ends {
		mine[q] = e.qp.Endpoint()
	}
	m, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	s.h.OOB.Send(append([]byte{msgEndpoints}, m...))
	s.wait(t, func() bool { return len(s.remote) > i })
	for q, e := range s.ends {
		if s.s.Phases[i].Fates[q] == Keep {
			continue
		}
		e.peer = s.remote[i][q]
		c := e.cfg
		o := driver.ConnectOptions{
			MTU: abi.MTU(e.pair.MTU), Timeout: c.Timeout, RetryCnt: c.RetryCnt, RNRRetry: c.RNRRetry, MinRNRTimer: c.MinRNRTimer, TrafficClass: c.TrafficClass,
			FlowLabel: c.FlowLabel, HopLimit: c.HopLimit, UDPSPort: c.UDPSPort,
			MaxRdAtomic: some(c.RdAtomic), MaxDestRdAtomic: some(c.DestRdAtomic),
		}
		s.accept.Connect(s.cycle(), e.qp.Number(), e.connection(mine[q].PSN))
		if err := e.qp.Connect(e.peer, o); err != nil {
			return err
		}
		s.accept.Connected(s.cycle(), e.qp.Number())
		s.moves++
	}
	return nil
}
