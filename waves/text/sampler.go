package text

import (
	"fmt"
	"math"

	"rnic/waves/read"
)

// Window is what to look at.
type Window struct {
	From, To uint64 // ticks
	Signals  []int  // in Vars
	Clock    *read.Clock
	Cycles   bool // sample at the beginning of cycles
}

// Sample is the values of signals at a time.
type Sample struct {
	Time    uint64
	Values  []string // text of each signal
	Changed []bool   // which are others than in the sample before
	Gap     bool     // cycles without a change have been passed over
}

// All is a window without an end.
const All = math.MaxUint64

// Sampler goes through a file.
type Sampler struct {
	f     *read.File
	w     Window
	vars  []*read.Var
	of    map[int32][]int // signals of an ID
	clock []bool          // which signals are the clock
	now   []string
	cycle uint64 // of the last sample
}

// NewSampler begins with a file of which nothing has been read.
func NewSampler(f *read.File, w Window) (*Sampler, error) {
	if w.Cycles && w.Clock == nil {
		return nil, fmt.Errorf("there is no clock to sample by")
	}
	s := &Sampler{f: f, w: w, of: map[int32][]int{}, clock: make([]bool, len(w.Signals)), now: make([]string, len(w.Signals))}
	want := make([]bool, f.IDs)
	for i, v := range w.Signals {
		x := &f.Vars[v]
		s.vars = append(s.vars, x)
		s.of[x.ID] = append(s.of[x.ID], i)
		want[x.ID] = true
	}
	if w.Clock != nil {
		for i := range f.Vars {
			if f.Path(&f.Vars[i]) == w.Clock.Path {
				for _, j := range s.of[f.Vars[i].ID] {
					s.clock[j] = true
				}
			}
		}
	}
	f.Want(want)
	return s, nil
}

// Begin goes to the beginning of the window, and gives the values there.
func (s *Sampler) Begin() (*Sample, error) {
	if !s.f.Next() {
		if s.f.Err() != nil {
			return nil, s.f.Err()
		}
		return nil, fmt.Errorf("there is no time stamp")
	}
	s.w.From = max(s.w.From, s.f.Time())
	if s.w.To < s.w.From {
		return nil, fmt.Errorf("the file begins at %s", read.FormatTime(s.f.Time(), s.f.Exponent))
	}
	if s.w.Cycles { // from the next cycle on
		c := s.w.Clock
		n, ok := c.Cycle(s.w.From)
		switch {
		case !ok:
			s.w.From = c.Offset
		case c.Offset+n*c.Period != s.w.From:
			s.w.From = c.Offset + (n+1)*c.Period
		}
		s.cycle, _ = c.Cycle(s.w.From)
	}
	for {
		t, ok := s.f.Upcoming()
		if !ok || t > s.w.From {
			break
		}
		s.f.Next()
	}
	if err := s.f.Err(); err != nil {
		return nil, err
	}
	if _, more := s.f.Upcoming(); !more && s.f.Time() < s.w.From {
		return nil, fmt.Errorf("the file ends at %s", read.FormatTime(s.f.Time(), s.f.Exponent))
	}
	for i := range s.vars {
		s.now[i] = s.value(i, s.w.From)
	}
	return &Sample{Time: s.w.From, Values: append([]string(nil), s.now...), Changed: make([]bool, len(s.now))}, nil
}

// value is the text of a signal; that of an event only at its time.
func (s *Sampler) value(i int, at uint64) string {
	v := s.vars[i]
	if v.Kind == read.Event && s.f.Time() != at {
		return "0"
	}
	return v.Text(s.f.Raw(v.ID))
}

// Next is the next sample; nil at the end of the window or of the file.
func (s *Sampler) Next() (*Sample, error) {
	changed := make([]bool, len(s.now))
	any := false
	sample := func(t uint64) *Sample {
		return &Sample{Time: t, Values: append([]string(nil), s.now...), Changed: changed}
	}
	for i, v := range s.vars {
		if v.Kind == read.Event && s.now[i] != "0" {
			s.now[i] = "0"
		}
	}
	at := uint64(0)
	for {
		t, ok := s.f.Upcoming()
		if err := s.f.Err(); err != nil {
			return nil, err
		}
		cycle := uint64(0)
		if ok && s.w.Cycles {
			cycle, _ = s.w.Clock.Cycle(t)
			if s.w.Clock.Offset+cycle*s.w.Clock.Period < t {
				cycle++ // seen at the next edge
			}
		}
		if !ok || t > s.w.To || any && (!s.w.Cycles || cycle != at) {
			break
		}
		s.f.Next()
		if err := s.f.Err(); err != nil {
			return nil, err
		}
		for _, id := range s.f.Changed() {
			for _, i := range s.of[id] {
				if now := s.value(i, t); now != s.now[i] {
					s.now[i] = now
					changed[i] = true
					any = any || !s.w.Cycles || !s.clock[i]
				}
			}
		}
		if !s.w.Cycles && any {
			return sample(t), nil
		}
		at = cycle
	}
	if !any {
		return nil, nil
	}
	x := sample(s.w.Clock.Offset + at*s.w.Clock.Period)
	if x.Time > s.w.To {
		return nil, nil
	}
	x.Gap = at > s.cycle+1
	s.cycle = at
	return x, nil
}
