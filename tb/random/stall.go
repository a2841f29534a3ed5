package random

import (
	"errors"
	"fmt"

	"rnic/abi"
	"rnic/hdl"
	"rnic/tb/host"
)

// explain says where a run that does not go on stands: what each QP waits for, as
// the programs and the device see it, and which streams hold beats.
func (r *run) explain() error {
	errs := []error{fmt.Errorf("nothing has moved for %d cycles, since %d", patience, r.since)}
	occupied := [2][]hdl.Occupancy{}
	for n, s := range r.sides {
		occupied[n] = s.h.K.Occupied()
	}
	asked := [2][]string{}
	left := 2
	for n, s := range r.sides {
		s.h.Go("post_mortem", func(_ *hdl.Thread, bus *host.Bus) {
			asked[n] = s.ask(bus)
			left--
		})
	}
	end := r.bench.World.Now() + 4_000_000
	err := r.bench.World.Run(func() bool { return left == 0 || r.bench.World.Now() >= end }, limit)
	for n, s := range r.sides {
		errs = append(errs, fmt.Errorf("%s: phase %d, %d of %d threads done, %d completions owed, %d beats of the peer free, streams hold %v",
			s.h.K.Name(), s.phase-1, s.finished, s.threads(), s.owed, s.budget, occupied[n]))
		for _, e := range s.ends {
			if e.out == nil || e.open == 0 && e.posted == e.received && e.next == len(e.out.Messages) {
				continue
			}
			errs = append(errs, fmt.Errorf("\tpair %d: %d of %d sends posted, %d open, %d credits; %d of %d receives posted, %d done",
				e.i, e.next, len(e.out.Messages), e.open, e.credits[max(0, s.phase-1)], e.posted, len(e.arrive), e.received))
		}
		for _, a := range asked[n] {
			errs = append(errs, errors.New("\t"+a))
		}
	}
	return errors.Join(append(errs, err)...)
}

// ask asks the device about the QPs that have work.
func (s *side) ask(bus *host.Bus) (l []string) {
	if s.dev == nil {
		return nil
	}
	for _, e := range s.ends {
		if e.qp == nil || e.out == nil || len(l) == 8 || e.open == 0 && e.posted == e.received {
			continue
		}
		m, err := e.qp.On(s.dev.On(bus)).Query()
		if err != nil {
			return append(l, err.Error())
		}
		l = append(l, fmt.Sprintf("QP %#x in %s (%s, %s): send queue %d..%d..%d, PSN %#x..%#x; receive queue %d..%d, expects PSN %#x",
			e.qp.Number(), m.State, m.LastStatus, m.LastVendor, m.SQConsumer, m.SQNext, m.SQProducer, m.UnackedPSN, m.NextPSN,
			m.RQConsumer, m.RQProducer, m.ExpectedPSN))
	}
	for _, c := range abi.Counters() {
		if v, err := s.dev.On(bus).Counter(c); v != 0 && err == nil && !counted[c] {
			l = append(l, fmt.Sprintf("%v: %d", c, v))
		}
	}
	return l
}
