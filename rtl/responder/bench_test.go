package responder_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/rtl/port"
	"rnic/rtl/responder"
	"rnic/tb/agent"
)

// jobsDepth is the depth of the stream of jobs.
const jobsDepth = 2

// feeder gives jobs and results of atomics, each at its time. As scatter has it, a
// purge waits until the results of all atomics before it in its QP have been given,
// and a result until all purges before its job have been taken.
type feeder struct {
	hdl.Behave
	Jobs     hdl.Out[port.Job]
	Res      hdl.Out[port.AtomicRes]
	Throttle agent.Throttle
	jobs     []port.Job
	results  []due
	open     map[port.QPN]int // READs and atomics of a QP that were given, and are not answered
	Sent     int              // jobs given
	At       []uint64         // cycle in which each was
}

// due is a result, with the number of the job that it belongs to and of the last
// purge before that. It comes at most four jobs before its own.
type due struct {
	at         uint64
	job, purge int
	r          port.AtomicRes
}

// owes tells whether the next job is a purge of a QP with results to come.
func (f *feeder) owes() bool {
	for _, d := range f.results {
		if f.jobs[0].Purge && d.r.QPN == f.jobs[0].QPN && d.job < f.Sent {
			return true
		}
	}
	return false
}

// many tells whether the QP of the next job has all READs and atomics outstanding that
// it may have. It is less than 16, since answers of an older life may come late.
func (f *feeder) many() bool {
	j := &f.jobs[0]
	return f.open != nil && needsAnswer(j) && f.open[j.QPN] >= 12
}

// needsAnswer tells whether a job is that of a new READ or atomic.
func needsAnswer(j *port.Job) bool {
	return (j.Kind == port.JobRead || j.Kind == port.JobAtomic) && !j.Again
}

// inside is the number of jobs in the stream.
func (f *feeder) inside() int { return jobsDepth - f.Jobs.Space() }

func (f *feeder) Tick() {
	now := f.Now()
	if len(f.results) > 0 && f.results[0].at <= now && f.results[0].purge < f.Sent-f.inside() && f.results[0].job < f.Sent+4 && f.Res.Ready() {
		f.Res.Put(f.results[0].r)
		f.results = f.results[1:]
	}
	if len(f.jobs) > 0 && f.Jobs.Ready() && f.Throttle.Go(f.Path(), now) && !f.owes() && !f.many() {
		f.Jobs.Put(f.jobs[0])
		f.count(&f.jobs[0])
		f.jobs = f.jobs[1:]
		f.Sent++
		f.At = append(f.At, now)
	}
	if len(f.jobs) > 0 || len(f.results) > 0 {
		f.WakeAt(now + 1)
	}
}

// count notes a job that is given.
func (f *feeder) count(j *port.Job) {
	switch {
	case f.open == nil:
	case j.Purge:
		f.open[j.QPN] = 0
	case needsAnswer(j):
		f.open[j.QPN]++
	}
}

// gate is a Sink that can be shut.
type gate struct {
	agent.Sink[port.TxPkt]
	Shut bool
}

func (g *gate) Tick() {
	if g.Shut {
		g.WakeAt(g.Now() + 1)
		return
	}
	g.Sink.Tick()
}

// bench has an agent at each port.
type bench struct {
	DUT   *responder.Responder
	Feed  feeder
	Pkt   gate
	Piece agent.Sink[port.TxPiece]
	Done  agent.Sink[port.RespDone]
	k     *hdl.Kernel
}

func newBench(t require.TestingT, o hdl.Options, p responder.Params, throttle uint64) *bench {
	b := &bench{DUT: responder.New(p)}
	for _, th := range []*agent.Throttle{&b.Feed.Throttle, &b.Pkt.Throttle, &b.Piece.Throttle, &b.Done.Throttle} {
		th.Seed = throttle
	}
	hdl.Connect(&b.Feed.Jobs, &b.DUT.Jobs, jobsDepth)
	hdl.Connect(&b.Feed.Res, &b.DUT.AtomicRes, 2)
	hdl.Connect(&b.DUT.Pkt, &b.Pkt.In, 2)
	hdl.Connect(&b.DUT.Piece, &b.Piece.In, 2)
	hdl.Connect(&b.DUT.Done, &b.Done.In, 2)
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	b.k = k
	return b
}

func open(t *testing.T, p responder.Params) *bench {
	b := newBench(t, hdl.Options{Strict: true}, p, 0)
	t.Cleanup(b.k.Close)
	return b
}

// give adds jobs, from a test between two runs.
func (b *bench) give(jobs ...port.Job) {
	b.Feed.jobs = append(b.Feed.jobs, jobs...)
	if b.k.Cycle() > 0 {
		b.Feed.Wake()
	}
}

// result adds a result of an atomic.
func (b *bench) result(r port.AtomicRes) {
	b.Feed.results = append(b.Feed.results, due{at: b.k.Cycle(), job: -1, purge: -1, r: r})
	if b.k.Cycle() > 0 {
		b.Feed.Wake()
	}
}

func (b *bench) run(t require.TestingT, cycles uint64) {
	require.NoError(t, b.k.Run(b.k.Cycle()+cycles))
}
