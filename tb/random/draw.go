package random

import (
	"math/rand/v2"

	"rnic/roce"
	"rnic/rtl/port"
)

// Options change what is drawn of a seed, or how it is run.
type Options struct {
	QPs    int    // pairs of QPs; 0: 1 to 16, drawn
	Strict bool   // evaluate in random order, gate nothing
	Order  uint64 // with Strict: seed of the order
	Digest bool   // Report.Digest covers all that ever happened
	Least  bool   // every buffer of the NICs is as small as it may be
	Loss   bool   // frames are lost, changed, late and out of order
	Guests bool   // QPs of other types beside the pairs
	Waves  string // folder for the waveforms of a failure; a temporary one if empty
}

// Draw draws the scenario of a seed.
func Draw(seed uint64, o Options) *Scenario {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	s := &Scenario{Seed: seed}
	s.Bench.Seed, s.Bench.Strict, s.Bench.Order, s.Bench.Digest = seed, o.Strict, o.Order, o.Digest
	rx := drawBench(r, &s.Bench)
	if o.Least {
		rx = least(&s.Bench.NIC)
	}
	s.Driver.PostCost = pick[int64](r, 1, 10_000, 50_000, 200_000)
	s.Driver.PollCost = pick[int64](r, 8_000, 30_000, 100_000)
	s.Driver.NoPush = chance(r, 20)
	s.Driver.Seed = seed
	var loss *rand.Rand
	if o.Loss || o.Guests {
		s.Loss, loss = drawLoss(seed)
		if !o.Loss {
			s.Loss.Faults = nil // but for want of room
		}
		s.Driver.TimeUnit = unit
		if s.Loss.Overflow {
			rx = 0
			s.crowd(loss)
		}
	}
	s.Close = chance(r, 50)
	s.drawStyle(r)

	n := o.QPs
	if n == 0 {
		n = pick(r, 1, 2, 3, 1+r.IntN(16))
	}
	if n > 2 && rx == 0 {
		rx = 1 << 11 // messages in many small elements come faster than they are placed
	}
	d := drawer{Rand: r, s: s, qps: n, rxBeats: rx, loss: loss}
	d.limits()
	fates := make([][]Fate, 1+r.IntN(3))
	for i := range fates {
		fates[i] = d.fates(i)
	}
	cuts := make([][2][]Cut, len(fates))
	stops := 40
	switch k := r.IntN(100); {
	case k < 10:
		s.Unreadable, stops = pick(r, 20, 100, 500), 100
		s.Bench.NIC.Dma.Timeout = 20_000
		fallthrough
	case k < 45:
		for i := range fates {
			cuts[i] = d.cuts(fates[i:], stops)
			if s.Loss != nil {
				d.outlive(&cuts[i])
			}
		}
	}
	for i := range fates {
		d.phase(i, fates, cuts[i])
		d.faults(&s.Phases[i])
	}
	d.sizeCQs()
	if o.Guests {
		s.drawGuests(seed)
	}
	return s
}

func (s *Scenario) drawStyle(r *rand.Rand) {
	s.Style = Style{
		Batch:    pick(r, 1, 2, 8, 32),
		Burst:    pick(r, 1, 4, 16),
		Pause:    pick[uint64](r, 0, 50, 500, 3000),
		Refill:   pick(r, 1, 2, 8),
		Spin:     chance(r, 30),
		SpinTime: pick[uint64](r, 10, 200, 1000),
		Take:     pick(r, 1, 4, 16),
		Churn:    pick(r, 0, 0, 5, 40),
	}
}

// drawer draws the phases of a scenario.
type drawer struct {
	*rand.Rand
	s       *Scenario
	qps     int
	rxBeats int
	loss    *rand.Rand // nil: nothing is lost
	pds     int
	cqs     [2]int

	maxBeats int // of a message
	bytes    int // that a host may still send in the phase
	arenas   [2]*memory
	phaseOf  *Phase      // that is drawn
	values   [2][]uint64 // of its private words, so far
}

// limits decides how much may be in flight.
func (d *drawer) limits() {
	d.pds = 1 + d.IntN(2)
	d.s.PDs = d.pds
	for h := range d.cqs {
		d.cqs[h] = max(1+d.qps/32, pick(d.Rand, 1, 2, 1+d.IntN(2*d.qps)))
		d.s.CQs[h] = make([]int, d.cqs[h])
	}
	if d.rxBeats == 0 {
		d.maxBeats, d.s.Budget = 1<<30, 1<<30
		return
	}
	// ACKs take places too, a beat or two a message, and frames are released whole.
	const largest = 68
	// What the peer sends and what it answers has a half each.
	d.maxBeats = (d.rxBeats - largest) / 3
	d.s.Budget = d.maxBeats
}

// fates draws what happens to the pairs before phase i.
func (d *drawer) fates(i int) []Fate {
	f := make([]Fate, d.qps)
	for q := range f {
		f[q] = Recreate
		if i > 0 {
			f[q] = pick(d.Rand, Keep, Reset, Recreate)
		}
	}
	return f
}

// cuts draws which QPs are stopped in a phase, the first of those whose fates are
// given, and has them begin anew in the next.
func (d *drawer) cuts(fates [][]Fate, percent int) (cuts [2][]Cut) {
	within := pick[uint64](d.Rand, 3_000, 20_000, 100_000, 200_000)
	for q := range d.qps {
		if !chance(d.Rand, percent) {
			continue
		}
		ways := [2]Way{Way(d.IntN(3)), Way(d.IntN(3))}
		for h, w := range ways {
			cuts[h] = append(cuts[h], Cut{Pair: q, Way: w, At: d.Uint64N(within)})
		}
		if len(fates) > 1 {
			f := &fates[1][q]
			*f = pick(d.Rand, Reset, Recreate)
			if ways[0] == ToDestroy || ways[1] == ToDestroy {
				*f = Recreate
			}
		}
	}
	return cuts
}

// faults draws faulty messages for some of the pairs that are cut.
func (d *drawer) faults(p *Phase) {
	p.Doomed = make([]bool, d.qps)
	for _, c := range p.Cuts[0] {
		if chance(d.Rand, 60) {
			p.Doomed[c.Pair] = d.spoil(&p.Flows[d.IntN(2)][c.Pair], SendKey+Fault(d.IntN(3)))
		}
		p.Doomed[c.Pair] = p.Doomed[c.Pair] || d.s.Unreadable != 0 || d.s.Loss != nil
	}
}

// phase draws phase number i.
func (d *drawer) phase(i int, fates [][]Fate, cuts [2][]Cut) {
	p := Phase{Fates: fates[i], Pairs: make([]Pair, d.qps), Cuts: cuts}
	d.phaseOf, d.values = &p, [2][]uint64{}
	for h := range d.arenas {
		d.arenas[h] = newMemory(d.Rand, d.pds)
		p.Flows[h] = make([]Flow, d.qps)
	}
	for q, f := range p.Fates {
		if f == Recreate {
			p.Pairs[q] = d.pair()
		} else {
			p.Pairs[q] = d.s.Phases[i-1].Pairs[q]
		}
		if f != Keep && d.loss != nil {
			d.retries(&p.Pairs[q], d.isCut(q))
		}
	}
	messages := max(pick(d.Rand, 20, 100, 400, 400, 1500), 3*d.qps)
	size := pick(d.Rand, 16<<10, 64<<10, 256<<10, 512<<10)
	for h := range 2 {
		d.bytes = size
		for q := range d.qps {
			f := &p.Flows[h][q]
			*f = d.flow(i, h, q, &p.Pairs[q], 1+d.IntN(1+2*messages/d.qps))
			if i == len(fates)-1 || fates[i+1][q] != Keep {
				f.Extra = d.extra(1-h, q, &p.Pairs[q].Ends[1-h])
			}
		}
	}
	for h := range 2 {
		p.Arenas[h] = d.arenas[h].finish()
	}
	d.s.Phases = append(d.s.Phases, p)
}

// extra draws receives of host h that nothing arrives for, as the QP does not go on.
func (d *drawer) extra(h, q int, e *End) (l [][]Span) {
	if chance(d.Rand, 50) {
		return nil
	}
	for range d.IntN(min(e.MaxRecv, 20) + 1) {
		l = append(l, d.arenas[h].place(q%d.pds, d.IntN(200), e.RecvSGE, true))
	}
	return l
}

// pair draws a pair of QPs.
func (d *drawer) pair() Pair {
	p := Pair{MTU: roce.MTU256 + roce.MTU(d.IntN(5)), IPv6: chance(d.Rand, 30)}
	for h := range p.Ends {
		p.Ends[h] = End{
			SendCQ: d.IntN(d.cqs[h]), RecvCQ: d.IntN(d.cqs[h]),
			MaxSend: min(pick(d.Rand, 1, 2, 7, 32, 64, 300), d.depth()), MaxRecv: min(pick(d.Rand, 1, 3, 16, 100, 700), d.depth()),
			SendSGE: 1 + d.IntN(port.MaxSGE), RecvSGE: 1 + d.IntN(port.MaxSGE),
			MaxInline: pick(d.Rand, 0, 0, 7, 32, 33, 64),
			SigAll:    chance(d.Rand, 20),
			PSN:       d.psn(),
			Timeout:   pick[uint8](d.Rand, 10, 12, 14, 31),
			FlowLabel: d.Uint32N(1 << 20), TrafficClass: uint8(d.Uint32N(256)) &^ 3, HopLimit: 1 + uint8(d.Uint32N(255)),
			UDPSPort: 0xc000 | uint16(d.Uint32N(0x4000)),
			RdAtomic: pick(d.Rand, 0, 1, 2, 16, d.IntN(17)),
		}
	}
	for h := range p.Ends {
		p.Ends[h].DestRdAtomic = pick(d.Rand, p.Ends[1-h].RdAtomic, 16)
	}
	return p
}

// depth is the most of a work queue: one CQ may have to hold the completions of all.
func (d *drawer) depth() int { return 12_000 / d.qps }

// psn is often near the end of the 24 bits.
func (d *drawer) psn() uint32 {
	if chance(d.Rand, 50) {
		return 1<<24 - 1 - d.Uint32N(40)
	}
	return 1 + d.Uint32N(1<<24-1)
}

// sizeCQs gives each CQ the entries that the queues of its QPs may need.
func (d *drawer) sizeCQs() {
	for h := range d.cqs {
		for _, p := range d.s.Phases {
			need := make([]int, d.cqs[h])
			for q := range p.Pairs {
				e := &p.Pairs[q].Ends[h]
				need[e.SendCQ] += e.MaxSend
				need[e.RecvCQ] += e.MaxRecv
			}
			for i, n := range need {
				d.s.CQs[h][i] = max(1, d.s.CQs[h][i], n)
			}
		}
	}
}
