package random

import (
	"fmt"
	"math/rand/v2"

	"rnic/tb/fault"
)

// Loss is what goes wrong on the way between the hosts, and what is left out of what
// else keeps packets from being lost.
type Loss struct {
	Faults   []string // of package fault
	Unasked  bool     // messages do not wait for receives of the peer
	Overflow bool     // nor for room in its rx_buf
}

// unit is the time unit of runs with losses, in cycles: timeouts end soon.
const unit = 8

// late is how long the QP of a pair may go on whose peer has gone, cycles: longer than
// any number of retries that such a pair has.
const late = 500_000

// drawLoss draws what goes wrong: by draws of its own, so that all else stays what the
// seed makes it.
func drawLoss(seed uint64) (*Loss, *rand.Rand) {
	r := rand.New(rand.NewPCG(seed, 0x1055))
	l := &Loss{Unasked: chance(r, 40), Overflow: chance(r, 25)}
	rate := pick(r, "0.1%", "1%", "5%")
	add := func(percent int, format string, args ...any) {
		if chance(r, percent) {
			l.Faults = append(l.Faults, fmt.Sprintf(format, args...)+" "+rate)
		}
	}
	for _, h := range []string{"a", "b"} {
		add(90, "drop %s", h)
		add(80, "duplicate=%dns %s", pick(r, 1, 100, 1000, 20_000), h)
		add(80, "reorder=%d %s", 1+r.IntN(5), h)
		add(40, "delay=%dns %s", 100+r.IntN(5000), h)
		add(60, pick(r, "corrupt %s", "corrupt %s", "truncate=-1 %s", "truncate=60 %s", "badfcs %s"), h)
	}
	if chance(r, 40) {
		l.Faults = append(l.Faults, pick(r, "pcie read delay=4us 2%", "pcie write delay=2us 1%", "pcie stop=3us 0.1%",
			"pcie a stop=6us nth=2000", "pcie b stop=6us nth=3000"))
	}
	return l, r
}

// slowInside is the acceptor's tolerance where packets may be on their way out for longer
// than usual, cycles. It is less than half the shortest timeout that is drawn then.
const slowInside = 25_000

// slow tells whether the wire is, or the host.
func (s *Scenario) slow() bool { return s.Bench.NIC.Mac.RateNum != 0 || s.Loss.Overflow }

// crowd makes the wire faster than the host, and rx_buf small.
func (s *Scenario) crowd(r *rand.Rand) {
	n, h := &s.Bench.NIC, &s.Bench.Host
	n.Rx.LogBeats, n.Mac.RateNum, n.Mac.RateDen = pick[uint8](r, 7, 8, 9), 0, 0
	h.Up.Seed = r.Uint64() | 1
	h.MaxPayload, n.Dma.MaxPayload = 128, 128
}

// retries draws how often a QP sends again, and how long it waits. One that is not to
// fail does so as often as there is need.
func (d *drawer) retries(p *Pair, cut bool) {
	r := d.loss
	for h := range p.Ends {
		e := &p.Ends[h]
		least := uint8(12)
		if d.s.slow() {
			least++
		}
		e.Timeout, e.RetryCnt, e.RNRRetry = least+uint8(r.IntN(2)), 7, 7
		e.MinRNRTimer = uint8(1 + r.IntN(20))
		if cut && chance(r, 70) {
			e.Timeout, e.RetryCnt, e.RNRRetry = least, uint8(pick(r, 0, 0, 1, 2, 7)), uint8(pick(r, 0, 1, 3, 7))
		}
	}
}

// outlive has one end of some pairs that are cut go on for long.
func (d *drawer) outlive(cuts *[2][]Cut) {
	for i := range cuts[0] {
		if h := d.loss.IntN(4); h < 2 {
			c := &cuts[h][i]
			c.At = max(c.At, cuts[1-h][i].At) + late
		}
	}
}

// attach puts the faults on the bench.
func (r *run) attach() error {
	if r.s.Loss == nil {
		return nil
	}
	specs, err := fault.ParseAll(r.s.Loss.Faults...)
	if err != nil {
		return err
	}
	r.plan = fault.New(r.s.Seed, specs...)
	r.plan.Attach(r.bench)
	for n := range r.bench.Hosts {
		r.plan.Start(n)
	}
	return nil
}

// struck is how many frames and TLPs a fault has struck.
func (r *run) struck() (n int) {
	if r.plan == nil {
		return 0
	}
	for _, l := range r.plan.Report() {
		n += int(l.Struck)
	}
	return n
}
