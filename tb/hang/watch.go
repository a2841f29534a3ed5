package hang

import (
	"errors"
	"fmt"

	"rnic/hdl"
	"rnic/tb"
)

// Options are the limits of a Dog.
type Options struct {
	// Limit is how long, in cycles, a work request may stay without progress beyond what
	// its retries take, or without an ACK timer at all; and how long nothing may move
	// while no QP has work. 0: 25,000,000, 100 ms.
	Limit uint64
}

// Dog watches a bench.
type Dog struct {
	bench *tb.Bench
	limit uint64
	sides [2]*side
	next  uint64 // cycle of the next look
	last  uint64 // cycle of the last
	moves uint64 // frames, completions, commands as of then
	still uint64 // cycles for which they were the same
	found *finding
}

// finding is what a Dog has noticed.
type finding struct {
	side    *side
	qp      *qp // nil: nothing moves at all
	why     string
	at      uint64
	noticed uint64
}

// Watch puts a Dog on a bench that does not run at present. It sees the frames from
// now on.
func Watch(b *tb.Bench, o Options) *Dog {
	hdl.Default(&o.Limit, 25_000_000)
	d := &Dog{bench: b, limit: o.Limit}
	for n, h := range b.Hosts {
		d.sides[n] = newSide(b, n, h)
	}
	return d
}

// Run is World.Run of the bench, but a run that does not go on ends with a *Hang.
func (d *Dog) Run(done func() bool, limit uint64) error {
	err := d.bench.World.Run(func() bool { return done != nil && done() || d.Barks() }, limit)
	return d.Explain(err)
}

// Barks tells, at a barrier, whether the run does not go on. It looks now and then
// only; in between it costs a comparison.
func (d *Dog) Barks() bool {
	if now := d.bench.World.Now(); now >= d.next && d.found == nil {
		d.look(now)
	}
	return d.found != nil
}

// Explain makes a *Hang of the end of a run, if it is one: Barks has been true, or the
// error of the run is a deadlock, or its cycle limit with work requests open. Else it
// returns the error as it is.
func (d *Dog) Explain(err error) error {
	var dead *hdl.WorldDeadlock
	switch {
	case d.found != nil && err == nil:
	case errors.As(err, &dead), errors.Is(err, hdl.ErrLimit):
		d.found = d.oldest(err)
		if d.found == nil {
			return err
		}
	default:
		return err
	}
	return d.explain(dead, err)
}

// Suspect explains where a run stands that its caller gave up at cycle noticed. It is
// nil if no QP has work.
func (d *Dog) Suspect(why string) *Hang {
	if d.found == nil {
		d.found = d.oldest(errors.New(why))
	}
	if d.found == nil {
		return nil
	}
	return d.explain(nil, nil)
}

// look compares all QPs with what they were.
func (d *Dog) look(now uint64) {
	busy := d.update(now)
	held := d.held(now)
	for _, s := range d.sides {
		for _, q := range s.qps {
			if why := d.judge(s, q, now, held); why != "" && d.found == nil {
				d.found = &finding{s, q, why, q.since, now}
			}
		}
	}
	if d.found == nil && !busy && d.still > d.limit && d.waits() {
		why := fmt.Sprintf("nothing has moved for %d cycles, no QP has work, and a thread waits for an interrupt", d.still)
		d.found = &finding{why: why, at: now - d.still, noticed: now}
	}
}

// update reads all contexts, and tells whether a QP has work.
func (d *Dog) update(now uint64) (busy bool) {
	n, moves, seen := 0, uint64(0), now
	if now > d.last+every || now == d.last {
		seen = min(now, d.motion()) // the rest of the time was jumped over
	}
	for _, s := range d.sides {
		busy = s.update(now, seen) || busy
		n += len(s.qps)
		moves += s.moves()
	}
	step := uint64(max(64, 16*n)) // so that a look costs next to nothing a cycle
	// Time that was jumped over is no sign: something was due at its end.
	if d.still += min(now-d.last, 4*step); moves != d.moves || busy {
		d.still = 0
	}
	d.moves, d.last, d.next = moves, now, now+step
	return busy
}

// oldest is the work request that has been without progress longest; nil: none is
// open and no thread waits.
func (d *Dog) oldest(err error) (f *finding) {
	now := d.bench.World.Now()
	d.update(now)
	for _, s := range d.sides {
		for _, q := range s.qps {
			if q.work && (f == nil || q.since < f.at) {
				f = &finding{s, q, firstLine(err), q.since, now}
			}
		}
	}
	var dead *hdl.WorldDeadlock
	if f == nil && errors.As(err, &dead) {
		return &finding{why: firstLine(err), at: dead.Kernels[0].Cycle, noticed: now}
	}
	return f
}

// waits tells whether a thread waits for an interrupt without limit.
func (d *Dog) waits() bool {
	for _, s := range d.sides {
		for _, w := range s.h.K.Waiters() {
			if interrupt(w) {
				return true
			}
		}
	}
	return false
}
