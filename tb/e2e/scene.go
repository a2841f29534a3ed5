package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/driver"
	"rnic/tb"
)

// Options describe a scene. The zero value is the default machine.
type Options struct {
	Bench  tb.Config
	Driver driver.Config // addresses are set by the scene
	Dirty  bool          // the test leaves completions, or a dead queue, behind
	// Credits has acknowledgements give end-to-end credits. Without, nothing but the
	// window holds a send queue up, as most tests take for granted.
	Credits bool
}

// Scene is two hosts with open devices.
type Scene struct {
	A, B  *Side
	Bench *tb.Bench
	t     testing.TB
	o     Options
	done  bool
}

// limit is far more cycles than any step takes: 4 s of simulated time.
const limit = 1_000_000_000

// settle is how long a scene rests before it is looked whether it does, cycles.
const settle = 4000

// New sets a scene up. It is checked and torn down at the end of the test.
func New(t testing.TB, o Options) *Scene {
	t.Helper()
	o.Bench.NIC.QPC.NoCredits = !o.Credits
	b, err := tb.New(o.Bench)
	require.NoError(t, err)
	s := &Scene{t: t, o: o, Bench: b}
	t.Cleanup(func() {
		s.Close()
		b.Close()
	})
	s.A, s.B = newSide(s, b.Hosts[0]), newSide(s, b.Hosts[1])
	s.A.peer, s.B.peer = s.B, s.A
	for _, d := range []*Side{s.A, s.B} {
		d.Do(d.open)
		require.NoError(t, d.err)
	}
	s.Sleep(settle)
	for _, d := range []*Side{s.A, s.B} {
		d.rest = tb.NewRest(d.Host)
	}
	return s
}

// Both has each host do something at the same time.
func (s *Scene) Both(a, b func()) {
	s.t.Helper()
	s.A.begin(a)
	s.B.begin(b)
	s.run(func() bool { return s.A.script == nil && s.B.script == nil })
}

// Sleep lets cycles pass.
func (s *Scene) Sleep(cycles int64) {
	s.t.Helper()
	s.A.Do(func() { s.A.Bus.Spend(cycles * tb.PeriodPs) })
}

// run runs the bench until something is done.
func (s *Scene) run(done func() bool) {
	s.t.Helper()
	require.NoError(s.t, s.Bench.World.Run(done, s.Bench.World.Now()+limit))
}

// Digest is that of all that has happened.
func (s *Scene) Digest() uint64 { return s.Bench.World.Digest() }

// Close checks that both hosts have come to rest, with everything accounted for,
// and closes the devices.
func (s *Scene) Close() {
	s.t.Helper()
	if s.done || s.t.Failed() {
		return
	}
	s.done = true
	s.Sleep(settle)
	for _, d := range []*Side{s.A, s.B} {
		if !s.o.Dirty {
			d.demandNoCompletions()
		}
		d.demandCounters()
		d.demandFrames()
	}
	for _, d := range []*Side{s.A, s.B} {
		d.Do(func() { d.err = d.closeQueues() })
		require.NoError(s.t, d.err)
	}
	s.Sleep(settle)
	for _, d := range []*Side{s.A, s.B} {
		require.NoError(s.t, d.rest.Check())
		d.Do(func() { d.err = d.Dev.Close() })
		require.NoError(s.t, d.err)
	}
}

// Scene is that of the side.
func (d *Side) Scene() *Scene { return d.scene }
