package random

import (
	"fmt"
	"slices"
)

// Scoreboard holds what must come from each queue, in order, and judges what does.
// Q names a queue. The zero value is empty.
type Scoreboard[Q, V comparable] struct {
	queues map[Q][]V
	order  []Q // as first expected
	Got    int // values that came and were right
}

// Expect adds v to what must come from q.
func (s *Scoreboard[Q, V]) Expect(q Q, v V) {
	if s.queues == nil {
		s.queues = map[Q][]V{}
	}
	if _, ok := s.queues[q]; !ok {
		s.order = append(s.order, q)
	}
	s.queues[q] = append(s.queues[q], v)
}

// Check judges what came from q: it must be what was expected first.
func (s *Scoreboard[Q, V]) Check(q Q, v V) error {
	l := s.queues[q]
	switch {
	case len(l) == 0:
		return fmt.Errorf("%v: got %+v, expected nothing more", q, v)
	case l[0] != v:
		where := "which was never expected"
		if i := slices.Index(l, v); i > 0 {
			where = fmt.Sprintf("which is %d places too early", i)
		}
		return fmt.Errorf("%v: got %+v, %s; expected %+v", q, v, where, l[0])
	}
	s.queues[q] = l[1:]
	s.Got++
	return nil
}

// Forget drops what has not come from q, and returns it.
func (s *Scoreboard[Q, V]) Forget(q Q) []V {
	l := s.queues[q]
	delete(s.queues, q)
	s.order = slices.DeleteFunc(s.order, func(o Q) bool { return o == q })
	return l
}

// Pending is how many values have not come from q.
func (s *Scoreboard[Q, V]) Pending(q Q) int { return len(s.queues[q]) }

// Final demands that all has come. It names at most 8 queues.
func (s *Scoreboard[Q, V]) Final() error {
	var missing []string
	for _, q := range s.order {
		if l := s.queues[q]; len(l) > 0 {
			missing = append(missing, fmt.Sprintf("%v: %d missing, first %+v", q, len(l), l[0]))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%d queues have not given all: %q", len(missing), missing[:min(8, len(missing))])
}
