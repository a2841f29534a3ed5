package agent

import "rnic/hdl"

// Source puts what was pushed into a stream, in order, at most one a cycle.
type Source[T any] struct {
	hdl.Behave
	Out      hdl.Out[T]
	Throttle Throttle
	// NotBefore, if set, names the earliest cycle of the n-th value (from 0).
	NotBefore func(n int) uint64
	queue     []T
	sent      int
	live      bool
}

// Push queues values: before the run, from a thread, or from another agent.
func (s *Source[T]) Push(v ...T) {
	s.queue = append(s.queue, v...)
	if s.live {
		s.Wake()
	}
}

// Pending is the number of values not yet put.
func (s *Source[T]) Pending() int { return len(s.queue) }

// Sent is the number of values put so far.
func (s *Source[T]) Sent() int { return s.sent }

// Tick puts the next value if it may.
func (s *Source[T]) Tick() {
	s.live = true
	if len(s.queue) == 0 || !s.Out.Ready() {
		return
	}
	if s.NotBefore != nil {
		if at := s.NotBefore(s.sent); at > s.Now() {
			s.WakeAt(at)
			return
		}
	}
	if s.Throttle.Go(s.Path(), s.Now()) {
		s.Out.Put(s.queue[0])
		s.queue = s.queue[1:]
		s.sent++
	}
	if len(s.queue) > 0 {
		s.WakeAt(s.Now() + 1)
	}
}
