package random

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"rnic/driver"
	"rnic/hdl"
	"rnic/tb"
	"rnic/tb/accept"
	"rnic/tb/fault"
	"rnic/tb/hang"
	"rnic/tb/host"
)

// Report is what a run came to.
type Report struct {
	Seed        uint64
	QPs, Phases int
	Messages    int // sent by both hosts, without NOPs
	Completions int
	Faults      int // work requests that failed as they were meant to
	Exhausted   int // sends that were given up for want of retries
	Packets     int
	Struck      int // frames and TLPs that a fault has struck
	NoRoom      int // frames that found none in rx_buf
	Guests      int // messages that came to the guests, and were completed
	Blinded     int // guests that could not be followed
	Bytes       int64
	Cycles      uint64
	Digest      uint64    // of both kernels; see hdl.Kernel.Digest
	Frames      [2]uint64 // hash of what each port saw, and when
}

// run is a scenario in progress.
type run struct {
	s       *Scenario
	bench   *tb.Bench
	dog     *hang.Dog
	sides   [2]*side
	moves   uint64
	since   uint64 // cycle in which something moved last
	stalled bool
	plan    *fault.Plan    // of Scenario.Loss
	told    [][2][]outcome // by phase, sending host and pair
}

// patience is how long nothing may move, in cycles: no frame, no completion, no
// step of the coordinators.
const patience = 250_000

// limit is far beyond any scenario, cycles: what goes round and round (an RNR NAK whose
// receive never comes is answered for ever) ends there, and is explained.
const limit = 1 << 27

// Run draws the scenario of a seed and runs it. An error names the seed and the
// command that repeats it, and the run was done once more then: it names the waveforms
// around the failure, too.
func Run(seed uint64, o Options) (Report, error) {
	rep, err := Draw(seed, o).Run()
	if err != nil {
		err = fmt.Errorf("seed %d: %w\n\trepeat it: go test ./tb/random -run 'TestSeed$' -seed=%d%s\n\t%s",
			seed, err, seed, o.flags(), o.waves(seed, Draw(seed, o), rep.Cycles, err))
	}
	return rep, err
}

// flags are those of the test that repeats a run.
func (o *Options) flags() (s string) {
	if o.QPs != 0 {
		s += fmt.Sprintf(" -qps=%d", o.QPs)
	}
	if o.Least {
		s += " -least"
	}
	if o.Guests {
		s += " -guests"
	}
	if o.Loss {
		s += " -loss"
	}
	if o.Strict {
		s += fmt.Sprintf(" -strict -order=%d", o.Order)
	}
	return s
}

// Run runs a scenario on a fresh bench.
func (s *Scenario) Run() (Report, error) {
	b, entries, err := s.bench()
	if err != nil {
		return Report{}, err
	}
	defer b.Close()
	return s.on(b, entries)
}

// on runs a scenario on a fresh bench of its own.
func (s *Scenario) on(b *tb.Bench, entries [2]*entry) (Report, error) {
	r := &run{s: s, bench: b, dog: hang.Watch(b, hang.Options{}), told: make([][2][]outcome, len(s.Phases))}
	for n := range r.sides {
		r.sides[n] = newSide(r, n)
		if e := entries[n]; e != nil {
			e.judged = r.sides[n].judged
			r.sides[n].delayed = true
		}
	}
	if err := r.attach(); err != nil {
		return Report{}, err
	}
	if s.Unreadable != 0 {
		for n, h := range b.Hosts {
			h.Machine.RC.Params.Fault = r.sides[n].unreadable(h.Machine.Mem.Size(), h.Machine.RC.Params.Fault)
		}
	}
	if s.Setup != nil {
		s.Setup(b)
	}
	err := r.dog.Run(r.over, limit)
	if r.stalled {
		if h := r.dog.Suspect(fmt.Sprintf("nothing has moved for %d cycles", patience)); h != nil {
			err = errors.Join(err, h)
		}
		err = errors.Join(err, r.explain())
	}
	for _, h := range r.sides {
		err = errors.Join(err, h.err)
	}
	if err != nil {
		for _, h := range r.sides {
			err = errors.Join(append([]error{err}, h.accept.Errors()...)...)
		}
	}
	return r.report(), err
}

// over tells, at barriers, whether the run shall end.
func (r *run) over() bool {
	a, b := r.sides[0], r.sides[1]
	if a.err != nil || b.err != nil || a.done && b.done {
		return true
	}
	now := r.bench.World.Now()
	if moves := a.moves + b.moves; moves != r.moves {
		r.moves, r.since = moves, now
	}
	wait := uint64(patience)
	if r.s.Loss != nil {
		wait += late
	}
	r.stalled = now-r.since > wait
	return r.stalled
}

func (r *run) report() Report {
	rep := Report{
		Seed: r.s.Seed, QPs: len(r.s.Phases[0].Pairs), Phases: len(r.s.Phases),
		Struck: r.struck(), Cycles: r.bench.World.Now(), Digest: r.bench.World.Digest(),
	}
	for n, h := range r.sides {
		rep.Messages += h.sent
		rep.Completions += h.board.Got
		rep.Faults += h.faults
		rep.Exhausted += h.exhausted
		if h.guests != nil {
			rep.Guests += h.guests.came
			rep.Blinded += h.accept.Blinded()
		}
		rep.NoRoom += int(h.accept.Counts().Overflow)
		rep.Packets += int(h.accept.Counts().TxPackets)
		rep.Bytes += int64(h.accept.Counts().Payload)
		rep.Frames[n] = h.frames
	}
	return rep
}

// side is a host of the run.
type side struct {
	r *run
	s *Scenario
	n int // 0 or 1
	h *tb.Host

	dev    *driver.Device
	pds    []*driver.PD
	cqs    []*driver.CQ
	ends   []*end
	arenas []*arena
	board  Scoreboard[queue, completion]
	owed   int // completions expected that have not come

	accept  *accept.Acceptor
	delayed bool           // it learns of a frame that comes when the NIC has judged whether there is room
	waiting []waiting      // frames that have come and are not judged
	events  []accept.Event // asynchronous ones, so far
	frames  uint64
	rest    *tb.Rest
	guests  *guests    // or nil
	loose   []*Message // whose receives did not complete: they may have been written to

	phase    int // that threads may work on, from 1
	begin    hdl.Event
	finished int       // threads that are done with the phase
	step     hdl.Event // something that the coordinator waits for
	budget   int       // beats of the peer's rx_buf that are free
	back     int       // beats of the own, for answers
	room     hdl.Event

	remote       [][]driver.Endpoint // of the peer, by phase
	regions      []regions           // of the peer, by phase
	victims      []*driver.MR        // that the peer's SENDs invalidate
	victimBuf    *driver.Buffer
	calms        int    // times that this host has said whether nothing came
	peerCalm     []bool // what the peer said
	met, peerMet int    // points where both hosts meet that this one, and the peer, has come to

	foreign   int // completions of QPs that come and go beside the traffic
	exhausted int // sends that were given up
	faults    int // work requests that failed as they were meant to
	sent      int
	moves     uint64
	closing   bool
	done      bool
	err       error // the first
}

// newSide makes a host of the run and its threads, in a fixed order.
func newSide(r *run, n int) *side {
	s := &side{r: r, s: r.s, n: n, h: r.bench.Hosts[n], budget: r.s.Budget, back: r.s.Budget}
	s.accept = newAcceptor(s)
	s.h.Tap(s.tap)
	s.thread("main", s.main)
	s.thread("oob", s.listen)
	s.thread("churn", s.churn)
	for c := range r.s.CQs[n] {
		s.thread(fmt.Sprintf("cq_%d", c), func(t *hdl.Thread, bus *host.Bus) error { return s.poll(t, bus, c) })
	}
	for i := range r.s.Phases[0].Pairs {
		e := &end{s: s, i: i, credits: make([]int, len(r.s.Phases))}
		s.ends = append(s.ends, e)
		s.thread(fmt.Sprintf("send_%d", i), e.send)
		s.thread(fmt.Sprintf("receive_%d", i), e.receive)
		s.thread(fmt.Sprintf("cut_%d", i), e.cuts)
	}
	if r.s.Guests != nil {
		s.guests = newGuests(s)
	}
	return s
}

// thread starts a thread; its error ends the run.
func (s *side) thread(name string, fn func(*hdl.Thread, *host.Bus) error) {
	s.h.Go(name, func(t *hdl.Thread, bus *host.Bus) {
		if err := fn(t, bus); err != nil && s.err == nil {
			s.err = fmt.Errorf("%s.%s: cycle %d: %w", s.h.K.Name(), name, t.Now(), err)
		}
	})
}

// rand is a source of its own for each purpose.
func (s *side) rand(purpose, i int) *rand.Rand {
	return rand.New(rand.NewPCG(s.s.Seed, uint64(s.n)<<63|uint64(purpose)<<32|uint64(i)))
}

// Purposes of random sources.
const (
	forSending = iota + 1
	forReceiving
	forPolling
	forMemory
	forChurn
	forReads
	forGuests
)

// await waits for a phase to begin and gives the device as the thread sees it.
func (s *side) await(t *hdl.Thread, phase int) {
	for s.phase < phase {
		t.Wait(&s.begin, 0)
	}
}

// threads is how many take part in each phase.
func (s *side) threads() int {
	n := 1 + 3*len(s.ends)
	if s.guests != nil {
		n += s.guests.threads()
	}
	return n
}

// finish reports that a thread is done with the phase.
func (s *side) finish() {
	s.finished++
	s.moves++
	s.step.Notify()
}

// tap sees the frames of the port.
func (s *side) tap(f tb.Frame) {
	s.moves++
	if s.delayed && !f.Tx {
		s.waiting = append(s.waiting, waiting{f.BadFCS, slices.Clone(f.Data)})
	} else {
		s.accept.Frame(uint64(f.TimePs/tb.PeriodPs), f.Tx, f.BadFCS, f.Data)
	}
	h := s.frames ^ uint64(f.TimePs)<<1
	if f.Tx {
		h ^= 1
	}
	for _, b := range f.Data {
		h = (h ^ uint64(b)) * 0x100000001b3
	}
	s.frames = h
}
