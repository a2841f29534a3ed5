package hang

import (
	"fmt"
	"slices"

	"rnic/hdl"
)

// idle is the chain when no QP has work: threads wait, and the NICs do not. It has a root
// if a stream is stuck; else its steps are what there is, and none is the cause of another.
func (d *Dog) idle(waiters []hdl.Waiter) (l []Step, rooted bool) {
	for _, w := range waiters {
		for _, s := range d.sides {
			if name, ok := below(w.Thread, s.name); ok {
				l = append(l, Step{Host: s.name, Block: name, Since: w.Since, Text: w.String()})
			}
		}
	}
	for _, s := range d.sides {
		l = append(append(l, s.events(waiters)...), s.completions()...)
		g := newGraph(s)
		for i := range g.streams {
			p := &g.streams[i]
			if p.From != p.To && p.Full() && g.stuck(p) {
				l = append(l, g.step(p, true))
				l = append(l, g.follow(p.To, []string{p.From})...)
				return l, true
			}
		}
	}
	return append(l, d.posted()...), false
}

// completions are the CQs with CQEs in memory that the driver has not said to have taken.
func (s *side) completions() []Step {
	return s.queues("cqs", func(n int, ci, pi uint64, get func(string) hdl.Value) string {
		return fmt.Sprintf("CQ %d: CQEs %d to %d are in memory, and the driver has not said that it has taken them; the CQ is %v", n, ci, pi-1, get("arm"))
	})
}

// events are the event queues with events that the driver has not taken, although a thread
// waits for the interrupt: it has not come.
func (s *side) events(waiters []hdl.Waiter) []Step {
	return s.queues("eqs", func(n int, ci, pi uint64, get func(string) hdl.Value) string {
		name := fmt.Sprintf("interrupt %d", get("vector").Bits)
		if !slices.ContainsFunc(waiters, func(w hdl.Waiter) bool { _, own := below(w.Thread, s.name); return own && w.Event == name }) {
			return "" // who has what it wants looks no more
		}
		return fmt.Sprintf("event queue %d: events %d to %d are in memory, and the driver, which waits for %s, has not taken them", n, ci, pi-1, name)
	})
}

// queues are those of a table of cq_writer that the driver has not emptied.
func (s *side) queues(table string, text func(n int, ci, pi uint64, get func(string) hdl.Value) string) (l []Step) {
	ram := s.name + ".nic.cq_writer." + table
	for n := 0; ; n++ {
		get := func(f string) hdl.Value {
			v, _ := s.h.K.Word(ram, n, f)
			return v
		}
		exists, ok := s.h.K.Word(ram, n, "exists")
		if !ok {
			return l
		}
		pi, ci := get("pi"), get("ci")
		if !exists.True() || pi == ci {
			continue
		}
		since := uint64(0)
		if c := newGraph(s).in["nic.cq_writer.write_done"]; c != nil {
			since = c.Since
		}
		if t := text(n, ci.Bits, pi.Bits, get); t != "" {
			l = append(l, Step{Host: s.name, Block: "nic.cq_writer", Since: since, Text: t})
		}
	}
}

// posted says how many receives are open where.
func (d *Dog) posted() (l []Step) {
	for _, s := range d.sides {
		for _, q := range s.qps {
			c := s.context(q.n)
			r := &c.Responder
			l = append(l, Step{Host: s.name, Block: "nic.qpc", Since: q.since, Text: fmt.Sprintf(
				"QP %d in %v to QP %d: nothing to send; %d receives are open, %d messages have come", q.n, c.Common.State, c.Common.DestQPN, r.PI-r.CI, r.MSN)})
			if len(l) == 8 {
				return l
			}
		}
	}
	return l
}

// below cuts the name of a host off a path.
func below(path, host string) (string, bool) {
	if len(path) > len(host) && path[:len(host)] == host {
		return path[len(host)+1:], true
	}
	return "", false
}
