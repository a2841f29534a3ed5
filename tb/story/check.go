package story

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// mostPs is beyond any run, and leaves room for sums.
const mostPs = 1 << 58

// check refuses what no run leaves, so that readers need not ask.
func (s *Story) check() error {
	if s.ClockPs <= 0 || s.ClockPs > mostPs || s.EndPs < 0 || s.EndPs > mostPs || len(s.Hosts) == 0 || len(s.Hosts) > 2 {
		return fmt.Errorf("no story: clock_ps %d, end_ps %d, %d hosts", s.ClockPs, s.EndPs, len(s.Hosts))
	}
	host := func(h string) error {
		if !slices.Contains(s.Hosts, h) {
			return fmt.Errorf("%q is no host of the run", h)
		}
		return nil
	}
	time := func(names string, ps ...int64) error {
		for _, t := range ps {
			if t < -1 || t > mostPs {
				return fmt.Errorf("%s: %d ps is no time", names, t)
			}
		}
		return nil
	}
	at := func(err error, list string, i int) error {
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", list, i, err)
		}
		return nil
	}
	known, err := s.ids()
	if err != nil {
		return err
	}
	for i, w := range s.WRs {
		err := host(w.Host)
		for _, id := range w.Packets {
			err = cmp.Or(err, known.packet(id, "packets"))
		}
		for _, x := range w.Stages {
			err = cmp.Or(err, time("stages", x.Ps))
		}
		for _, x := range w.Waits {
			err = cmp.Or(err, time("waits", x.Ps, x.FromPs, x.ToPs))
		}
		if err != nil {
			return fmt.Errorf("wrs[%d], ID %d: %w", i, w.ID, err)
		}
	}
	for i, p := range s.Packets {
		err := cmp.Or(host(p.Host), time("ps, end_ps, arrive_ps", p.Ps, p.EndPs, p.ArrivePs), known.cause(p))
		for _, x := range p.Why {
			err = cmp.Or(err, time("why", x.Ps))
		}
		if err != nil {
			return fmt.Errorf("packets[%d], ID %d: %w", i, p.ID, err)
		}
	}
	queues := map[string]int{}
	for i, q := range s.QPs {
		name := fmt.Sprintf("%s QP %d", q.Host, q.QPN)
		if before, is := queues[name]; is {
			return fmt.Errorf("qps[%d]: %s is qps[%d], too", i, name, before)
		}
		queues[name] = i
		err := host(q.Host)
		for _, x := range q.Events {
			err = cmp.Or(err, time("events", x.Ps))
		}
		for _, l := range [][][2]int64{q.Outstanding, q.SQDepth} {
			for _, x := range l {
				err = cmp.Or(err, time("series", x[0]))
			}
		}
		if err := at(err, "qps", i); err != nil {
			return err
		}
	}
	for i, b := range s.Bandwidth {
		if err := at(cmp.Or(host(b.Host), time("ps", b.Ps)), "bandwidth", i); err != nil {
			return err
		}
	}
	for i, x := range s.PCIe {
		if err := at(time("ps", x.Ps), "pcie", i); err != nil {
			return err
		}
	}
	for _, h := range slices.Sorted(maps.Keys(s.Spent)) {
		if err := host(h); err != nil {
			return fmt.Errorf("spent: %w", err)
		}
	}
	return nil
}
