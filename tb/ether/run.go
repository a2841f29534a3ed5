package ether

import (
	"context"
	"time"

	"rnic/tb"
)

// Wire is the way outside. Its frames have no FCS.
type Wire interface {
	Send(frame []byte) // without anybody there, it is lost
	Frames() <-chan []byte
	Close() error
}

const (
	slice = 256    // cycles between looks at the outside, while the model works
	ahead = 25_000 // cycles, 100 us, that simulated time may be ahead while it does
)

// pace relates cycles to real time.
type pace struct {
	wall  time.Time
	cycle uint64
}

// allowed is the cycle that simulated time may reach by now. What the model is
// behind is forgotten.
func (p *pace) allowed(cycle uint64) uint64 {
	now := time.Now()
	a := p.cycle + uint64(now.Sub(p.wall).Nanoseconds())*1000/tb.PeriodPs
	if a > cycle {
		p.wall, p.cycle = now, cycle
		return cycle
	}
	return a
}

// Run runs the station until ctx ends: frames come and go by the wire, lines from a
// channel, and what the program says to each goes to reply, which must not wait for
// a line. It returns nil when ctx has ended.
func (s *Station) Run(ctx context.Context, w Wire, lines <-chan string, reply func(string)) error {
	p := pace{time.Now(), s.K.Cycle()}
	defer s.rec.end(s)
	for ctx.Err() == nil {
		now := s.K.Cycle()
		next, idle := s.K.Idle()
		may := p.allowed(now)
		var in input
		got := true
		switch {
		case idle:
			in, got = await(ctx, w, lines, duration(next-now))
			next = min(next, p.cycle+uint64(time.Since(p.wall).Nanoseconds())*1000/tb.PeriodPs)
		case now > may+ahead:
			in, got = await(ctx, w, lines, duration(now-may))
			next = now
		default:
			next = now + slice
			in, got = await(ctx, w, lines, 0)
		}
		if err := s.run(max(now, next)); err != nil {
			return err
		}
		for ; got; in, got = await(ctx, w, lines, 0) {
			s.rec.input(s.K.Cycle(), in)
			s.take(in)
		}
		s.flush(w.Send, reply)
	}
	return nil
}

// duration is the real time of so many cycles, at most a minute.
func duration(cycles uint64) time.Duration {
	return time.Duration(min(cycles, uint64(time.Minute.Nanoseconds())*1000/tb.PeriodPs) * tb.PeriodPs / 1000)
}

// await takes what has come from outside, and waits for it at most so long.
func await(ctx context.Context, w Wire, lines <-chan string, d time.Duration) (in input, ok bool) {
	select {
	case f := <-w.Frames():
		return input{frame: f}, true
	case l := <-lines:
		return input{line: l}, true
	default:
	}
	if d <= 0 {
		return in, false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case f := <-w.Frames():
		return input{frame: f}, true
	case l := <-lines:
		return input{line: l}, true
	case <-t.C:
	case <-ctx.Done():
	}
	return in, false
}

// flush hands out what the model has for the outside.
func (s *Station) flush(send func([]byte), reply func(string)) {
	p := &s.node.Wire
	for _, f := range p.out {
		send(f)
	}
	p.out = p.out[:0]
	for _, r := range s.replies {
		reply(r)
	}
	s.replies = s.replies[:0]
}
