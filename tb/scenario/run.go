package scenario

import (
	"errors"
	"fmt"

	"rnic/tb"
	"rnic/tb/fault"
	"rnic/tb/hang"
	"rnic/tb/host"
)

// Options are how a scenario is run.
type Options struct {
	Seed   uint64 // of all that is drawn: the pages of memory, rates of faults
	Strict bool   // random order of evaluation, nothing gated, every rule checked
	Order  uint64 // with Strict: seed of the order
	Digest bool   // Report.Digest covers all that ever happened

	// Open, if set, is given the bench before it runs, and Stop says, at barriers,
	// that the run shall be given up.
	Open func(*tb.Bench) error
	Stop func() bool
}

// ErrStopped says that Options.Stop has ended the run.
var ErrStopped = errors.New("stopped")

// rest is how long the hosts are left alone before it is looked whether they rest,
// and limit far beyond any run, cycles.
const (
	rest  = 4000
	limit = 1 << 40
)

// run is a scenario in progress.
type run struct {
	s     *Scenario
	o     Options
	b     *tb.Bench
	plan  *fault.Plan
	sides [2]*side
	start uint64     // cycle of time 0
	late  bool       // the time limit has passed
	hang  *hang.Hang // late: where the oldest work request stands, if one is open
}

// Run runs the scenario on a fresh bench and judges it. An error means that it could
// not be run; what did not come out as expected is in the Report.
func (s *Scenario) Run(o Options) (rep *Report, err error) {
	err = s.play(o, func(r *run) { rep = r.judge() })
	return rep, err
}

// play runs the scenario and gives the run to done before all of it goes.
func (s *Scenario) play(o Options, done func(*run)) error {
	b, err := tb.New(s.config(o))
	if err != nil {
		return err
	}
	defer b.Close()
	r := &run{s: s, o: o, b: b, plan: fault.New(o.Seed, s.Faults...)}
	for n, h := range b.Hosts {
		r.machine(n)
		r.sides[n] = newSide(r, n, h)
	}
	r.plan.Attach(b)
	if o.Open != nil {
		if err := o.Open(b); err != nil {
			return err
		}
	}
	if err := r.play(); err != nil {
		return err
	}
	done(r)
	return nil
}

// config is the bench of the scenario.
func (s *Scenario) config(o Options) tb.Config {
	c := tb.Config{Seed: o.Seed, Strict: o.Strict, Order: o.Order, Digest: o.Digest}
	c.SetLink(int(s.Wire.Rate), tb.Picoseconds(s.Wire.Latency))
	c.NIC.QPC.NoCredits = s.NIC.NoCredits
	for w := s.NIC.Window; w > 1; w /= 2 {
		c.NIC.QPC.LogWindow++
	}
	c.NIC.Dma.Timeout = tb.Cycles(s.NIC.ReadTimeout)
	return c
}

// machine gives a host the latencies of its own.
func (r *run) machine(n int) {
	h, p := &r.s.Hosts[n], &r.b.Hosts[n].Machine.RC.Params
	ps := tb.Picoseconds(h.PCIeLatency)
	p.Write, p.Read = host.Constant(ps), host.Constant(2*ps)
	if h.Profile != nil {
		p.Read = h.Profile.Read(2 * ps)
	}
}

// play runs the scenario from set-up to the end.
func (r *run) play() error {
	err := r.both((*side).open)
	if err == nil {
		err = r.sleep()
	}
	for _, s := range r.sides {
		s.rest = tb.NewRest(s.h)
	}
	for _, part := range []func(*side) error{(*side).make, (*side).connect} {
		if err == nil {
			err = r.both(part)
		}
	}
	if err == nil {
		err = r.work()
	}
	for _, part := range []func(*side) error{(*side).look, (*side).end} {
		if err == nil {
			err = r.both(part)
		}
	}
	if err == nil {
		err = r.sleep()
	}
	return err
}

// both has the hosts do something at the same time.
func (r *run) both(do func(*side) error) error {
	for _, s := range r.sides {
		s.script = do
		s.begin.Notify()
	}
	err := r.b.World.Run(func() bool { return r.stopped() || r.sides[0].script == nil && r.sides[1].script == nil }, limit)
	return r.errors(err)
}

// sleep lets both hosts rest.
func (r *run) sleep() error {
	until := r.b.World.Now() + rest
	return r.errors(r.b.World.Run(func() bool { return r.stopped() || r.b.World.Now() >= until }, limit))
}

// work has the steps done, from time 0 on, until nothing more happens.
func (r *run) work() error {
	r.start = r.b.World.Now()
	for n, s := range r.sides {
		r.plan.Start(n)
		s.moved = r.start
		s.working = true
		s.begin.Notify()
	}
	dog := hang.Watch(r.b, hang.Options{})
	err := dog.Run(r.over, limit)
	h, ok := errors.AsType[*hang.Hang](err)
	idle := ok && h.WR == nil && h.Err == nil // no work is left, and not all that is expected has come
	if idle {
		r.late, err = true, nil
	}
	err = r.errors(err)
	if err == nil && r.late && !idle {
		r.hang = dog.Suspect(fmt.Sprintf("it has not ended within %v", r.s.TimeLimit))
	}
	return err
}

// over tells, at barriers, whether the work has come to its end.
func (r *run) over() bool {
	if r.stopped() {
		return true
	}
	now, moved := r.b.World.Now(), uint64(0)
	ready := true
	for _, s := range r.sides {
		moved = max(moved, s.moved)
		ready = ready && s.left == 0 && len(s.came) >= s.owed && s.h.Cable().Waiting == 0
	}
	if ready && now > moved+tb.Cycles(r.s.Settle) {
		return true
	}
	r.late = now-r.start > tb.Cycles(r.s.TimeLimit)
	return r.late
}

// stopped tells whether the run has failed or was given up.
func (r *run) stopped() bool {
	return r.sides[0].err != nil || r.sides[1].err != nil || r.o.Stop != nil && r.o.Stop()
}

// errors joins what went wrong.
func (r *run) errors(err error) error {
	for _, s := range r.sides {
		if s.err != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", s.h.K.Name(), s.err))
		}
	}
	if err == nil && r.o.Stop != nil && r.o.Stop() {
		err = ErrStopped
	}
	return err
}
