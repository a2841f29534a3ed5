package scenario

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/fault"
)

// judge holds what came against what was expected.
func (r *run) judge() *Report {
	p := &Report{
		Scenario: r.s.File, Pass: true, Checks: []Check{}, Packets: []Passed{}, Faults: []Struck{}, Files: []string{},
		Cycles: r.b.World.Now(), Seed: r.o.Seed, Digest: r.b.World.Digest(), Hang: r.hang,
	}
	last := max(r.sides[0].moved, r.sides[1].moved)
	p.SimNs = float64((last - r.start) * uint64(tb.Period))
	all := r.packets()
	for i := range all {
		name := ""
		if q := r.sender(&all[i]); q != nil {
			name = q.Name
		}
		p.Packets = append(p.Packets, Passed{r.ns(all[i].ps), hostNames[all[i].host], name, r.describe(&all[i])})
	}
	r.completions(p)
	r.memory(p)
	r.counts(p, all)
	r.order(p, all)
	r.counters(p)
	r.states(p)
	r.events(p)
	r.always(p)
	return p
}

// packets are those of both NICs in the order in which they left.
func (r *run) packets() []sent {
	all := append(slices.Clone(r.sides[0].sent), r.sides[1].sent...)
	slices.SortStableFunc(all, func(a, b sent) int { return cmp.Compare(a.ps, b.ps) })
	return all
}

// memory judges bytes.
func (r *run) memory(p *Report) {
	for _, m := range r.s.Expect.Memory {
		want := m.want()
		got := r.sides[m.mr.Host].after[slices.Index(r.s.MRs, m.mr)][m.Offset:][:m.Size]
		what := fmt.Sprintf("%d bytes of %s at %d", m.Size, m.mr.Name, m.Offset)
		if bytes.Equal(want, got) {
			p.add("memory", m.Line, what, "", "as expected", true)
			continue
		}
		at := 0
		for want[at] == got[at] {
			at++
		}
		end := min(len(want), at+16)
		p.add("memory", m.Line, what, fmt.Sprintf("% x at %d", want[at:end], int(m.Offset)+at), fmt.Sprintf("% x", got[at:end]), false)
	}
}

// is tells whether a packet is meant.
func (x *Packet) is(r *run, s *sent) bool {
	o := s.BTH.Opcode
	if s.bad != nil || x.From >= 0 && x.From != s.host || x.Kind >= 0 && !kinds[x.Kind].is(&s.Packet) || x.Place >= 0 && placeOf(o) != x.Place {
		return false
	}
	q := r.sender(s)
	if x.qp != nil && x.qp != q {
		return false
	}
	if x.PSN.Set {
		psn := roce.PSN(x.PSN.N)
		if x.PSN.Relative {
			if q == nil {
				return false
			}
			psn = psn.Add(uint32(first(q, s)))
		}
		if psn != s.BTH.PSN {
			return false
		}
	}
	req := uint64(0)
	if s.BTH.AckReq {
		req = 1
	}
	return (x.Syndrome == "" || o.HasAETH() && strings.ToLower(s.AETH.Syndrome.String()) == x.Syndrome) &&
		(!x.MSN.Set || o.HasAETH() && x.MSN.has(uint64(s.AETH.MSN))) &&
		(!x.Imm.Set || o.HasImm() && x.Imm.has(uint64(s.Imm.Imm))) &&
		x.Payload.has(uint64(s.payload)) && x.AckReq.has(req) && x.At.has(r.nsOf(s.ps))
}

// counts judges how many packets there were.
func (r *run) counts(p *Report, all []sent) {
	for _, x := range r.s.Expect.Packets {
		n := uint64(0)
		for i := range all {
			if x.is(r, &all[i]) {
				n++
			}
		}
		p.add("packets", x.Line, x.String(), x.Count.text(plain), plain(n), x.Count.has(n))
	}
}

// order judges the order of packets: each is the first that is meant behind the one
// before.
func (r *run) order(p *Report, all []sent) {
	at, before := 0, int64(r.start)*tb.PeriodPs
	for _, x := range r.s.Expect.Order {
		i := slices.IndexFunc(all[at:], func(s sent) bool { return x.is(r, &s) })
		if i < 0 {
			p.add("order", x.Line, x.String(), "it behind the one before", "none, nor was looked for those behind it", false)
			return
		}
		s := &all[at+i]
		wait := uint64(s.ps-before) / 1000
		p.add("order", x.Line, x.String(), x.Wait.text(nanoseconds)+" after the one before",
			fmt.Sprintf("%.3f us, %.3f us after the one before", r.ns(s.ps)/1000, float64(wait)/1000), x.Wait.has(wait))
		at, before = at+i+1, s.ps
	}
}

// counters judges those that are named, and of the others those of errors.
func (r *run) counters(p *Report) {
	for n, s := range r.sides {
		for _, c := range abi.Counters() {
			want, named := r.s.Expect.Counters[n][c]
			got := s.values[c]
			switch {
			case named:
				p.add("counters", want.Line, hostNames[n]+"."+c.String(), want.text(plain), plain(got), want.has(got))
			case ofErrors(c) && got != 0:
				p.add("counters", 0, hostNames[n]+"."+c.String(), "0, as it is not named", plain(got), false)
			}
		}
	}
}

// ofErrors tells whether a counter counts what is unusual.
func ofErrors(c abi.Counter) bool {
	switch c {
	case abi.NaksSent, abi.RNRNaksSent, abi.CQOverruns, abi.DMAReadErrors, abi.DoorbellBadPage, abi.DoorbellBadNumber:
		return true
	}
	return c >= abi.RxDropOverflow && c <= abi.RespRemoteInvalidRequest
}

// states judges the states of all QPs.
func (r *run) states(p *Report) {
	for i, q := range r.s.QPs {
		want, line := abi.QPRTS, 0
		for _, s := range r.s.Expect.States {
			if s.qp == q {
				want, line = s.State, s.Line
			}
		}
		got := r.sides[q.Host].states[i]
		if line == 0 && got == want {
			continue
		}
		p.add("states", line, q.Name, strings.ToLower(want.String()), strings.ToLower(got.String()), got == want)
	}
}

// events judges asynchronous events.
func (r *run) events(p *Report) {
	type event struct {
		qp *QP
		t  abi.EventType
	}
	came := map[event]uint64{}
	var l []event
	for _, s := range r.sides {
		for _, e := range s.events {
			v := event{t: e.Type}
			for i, q := range s.qps {
				if q != nil && q.Number() == e.Number && e.Type != abi.EventCQErr {
					v.qp = r.s.QPs[i]
				}
			}
			if came[v]++; came[v] == 1 {
				l = append(l, v)
			}
		}
	}
	seen := map[event]bool{}
	for _, x := range r.s.Expect.Events {
		v := event{x.qp, x.Type}
		seen[v] = true
		n := came[v]
		p.add("events", x.Line, x.qp.Name+" "+strings.ToLower(x.Type.String()), x.Count.text(plain), plain(n), x.Count.has(n))
	}
	for _, v := range l {
		if !seen[v] {
			name := "host"
			if v.qp != nil {
				name = v.qp.Name
			}
			p.add("events", 0, name+" "+strings.ToLower(v.t.String()), "none, as it is not named", plain(came[v]), false)
		}
	}
}

// always judges what holds for every run.
func (r *run) always(p *Report) {
	for _, l := range r.plan.Report() {
		p.Faults = append(p.Faults, Struck{l.Spec.String(), l.Host.String(), l.Seen, l.Struck})
		if !l.Spec.Named() {
			p.add("faults", 0, l.Spec.String(), "", fmt.Sprintf("struck %d of %d at host %s", l.Struck, l.Seen, l.Host), true)
		}
	}
	for _, l := range r.plan.Report() {
		if l.Spec.Named() {
			p.add("faults", 0, l.Spec.String(), "that it strikes as often as it says", fmt.Sprintf("struck %d of %d at host %s", l.Struck, l.Seen, l.Host), !missed(l))
		}
	}
	if r.late {
		left := r.sides[0].left + r.sides[1].left
		p.add("always", 0, "an end", "one within "+r.s.TimeLimit.String(), fmt.Sprintf("none; %d steps are left to be done", left), false)
	}
	for _, s := range r.sides {
		errs := s.accept.Errors()
		got := "none"
		var l []string
		for _, e := range errs {
			l = append(l, e.Error())
		}
		if len(l) > 0 {
			got = strings.Join(l, "\n")
		}
		p.add("always", 0, "broken rules, "+s.h.K.Name(), "none", got, len(errs) == 0)
		err := s.rest.Check()
		got = "at rest"
		if err != nil {
			got = err.Error()
		}
		p.add("always", 0, "rest, "+s.h.K.Name(), "that nothing is under way", got, err == nil)
	}
}

// missed tells whether a fault that names its victims has not struck as often as it
// says.
func missed(l fault.Line) bool {
	if l.Spec.Times == fault.All {
		return l.Struck == 0
	}
	return l.Struck < max(1, l.Spec.Times)
}
