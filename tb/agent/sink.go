package agent

import "rnic/hdl"

// Sink takes from a stream, at most one a cycle, and records value and cycle.
type Sink[T any] struct {
	hdl.Behave
	In       hdl.In[T]
	Throttle Throttle
	Got      []T
	At       []uint64 // cycle in which each was taken
	OnTake   func(v T)
	Arrived  hdl.Event // notified at each value
}

// Tick takes the next value if it may.
func (s *Sink[T]) Tick() {
	if !s.In.Valid() {
		return
	}
	if s.Throttle.Go(s.Path(), s.Now()) {
		v := *s.In.Take()
		s.Got = append(s.Got, v)
		s.At = append(s.At, s.Now())
		if s.OnTake != nil {
			s.OnTake(v)
		}
		s.Arrived.Notify()
		return
	}
	s.WakeAt(s.Now() + 1)
}
