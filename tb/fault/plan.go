package fault

import (
	"errors"

	"rnic/roce"
	"rnic/tb"
)

// Plan is faults on a bench.
type Plan struct {
	halves [2]half
	specs  []Spec
}

// half is the part of a plan that works at one host, on that host's kernel.
type half struct {
	host  *tb.Host
	on    bool
	start int64 // ps, from when on From and To count
	wire  []*strike
	pcie  []*strike
	first map[flow]roce.PSN
}

// New makes a plan of specs, which strike in their order: a frame or TLP goes to the
// first that wants it. Rates draw by the seed.
func New(seed uint64, specs ...Spec) *Plan {
	p := &Plan{specs: specs}
	copies := map[Spec]int{}
	for i := range specs {
		s := &specs[i]
		for n := range p.halves {
			h := &p.halves[n]
			if !s.Host.has(n) {
				continue
			}
			k := newStrike(s, seed, n, copies[*s])
			if s.PCIe {
				h.pcie = append(h.pcie, k)
			} else {
				h.wire = append(h.wire, k)
			}
		}
		copies[*s]++
	}
	return p
}

// ParseAll reads specs.
func ParseAll(texts ...string) ([]Spec, error) {
	var l []Spec
	for _, t := range texts {
		s, err := Parse(t)
		if err != nil {
			return nil, err
		}
		l = append(l, s)
	}
	return l, nil
}

// Attach puts the plan on a bench, instead of the faults that its hosts have. It
// strikes at a host from Start on. A plan works on one bench only.
func (p *Plan) Attach(b *tb.Bench) {
	for n, h := range b.Hosts {
		s := &p.halves[n]
		s.host, s.first = h, map[flow]roce.PSN{}
		if len(s.wire) > 0 {
			h.SetFault(s.judge)
		}
		if len(s.pcie) > 0 {
			h.Machine.RC.Params.Fault, h.Machine.RC.Params.WriteFault = s.tlp, s.tlp
		}
	}
}

// Start has the faults of host i, from 0, strike from now on: a thread of the host
// calls it when it has set up, or anybody before the bench runs.
func (p *Plan) Start(i int) {
	h := &p.halves[i]
	h.on, h.start = true, int64(h.host.K.Cycle())*tb.PeriodPs
}

// Line is what came of a spec at a host.
type Line struct {
	Spec   Spec
	Host   Host
	Seen   uint64 // frames or TLPs that it means
	Struck uint64
}

// Report tells what came of each spec at each host that it works at, in their order.
// The bench must not run.
func (p *Plan) Report() (l []Line) {
	p.each(func(s *strike, h Host) { l = append(l, Line{*s.spec, h, s.seen, s.fired}) })
	return l
}

// Missed names the specs that have not struck as often as they should.
func (p *Plan) Missed() error {
	var errs []error
	p.each(func(s *strike, h Host) { errs = append(errs, s.missed("host "+h.String())) })
	return errors.Join(errs...)
}

// each visits the strikes in the order of the specs.
func (p *Plan) each(do func(*strike, Host)) {
	for i := range p.specs {
		for n := range p.halves {
			h := &p.halves[n]
			for _, l := range [][]*strike{h.wire, h.pcie} {
				for _, s := range l {
					if s.spec == &p.specs[i] {
						do(s, Host(n+1))
					}
				}
			}
		}
	}
}

// String is the letter of the host, or "both".
func (h Host) String() string { return [...]string{"both", "a", "b"}[h] }
