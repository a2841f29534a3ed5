// Package diff finds where two waveforms differ first. Each may be a VCD or an FST of
// any tool.
//
// Signals are the same if their paths are, after --map, and if they hold the same kind
// of value of the same width. Both files are read once, at the same time, a time stamp
// at a time: what is compared is the state at each time at which either changes, so that
// it does not matter how often a file repeats a value, nor in which order it tells of
// several. A file that begins later is compared from there, and one that ends earlier
// holds its values, which differ as soon as the other's change.
//
// Memory is that of two readers, and 16 bytes a signal. Only when a difference has been
// found are the files read again up to there, for what the signal and its module did
// before; a pipe cannot be, and its history is left out.
package diff

import (
	"bytes"
	"fmt"
	"io"

	"rnic/waves/read"
)

// Options choose what is compared.
type Options struct {
	Map      []string // a.b=c.d: what is below a.b in the first file is below c.d in the second
	Ignore   []string // patterns of read.Match over paths of the first file
	From, To string   // times; empty: all
	Clock    string   // path of the clock in the first file; else the nearest one
	History  int      // changes of the signal before the difference
}

// Result is what came of it.
type Result struct {
	A        File     `json:"a"`
	B        File     `json:"b"`
	Compared int      `json:"compared"` // signals
	OnlyA    []string `json:"only_a"`
	OnlyB    []string `json:"only_b"`
	Shapes   []Shape  `json:"shapes"` // signals of the same path that cannot be compared
	From     string   `json:"from"`   // time from which on
	To       string   `json:"to"`
	First    *First   `json:"first,omitempty"` // nil: there is no difference
	Notes    []string `json:"notes"`
}

// Equal tells that nothing differs.
func (r *Result) Equal() bool { return r.First == nil && len(r.Shapes) == 0 }

// File is one side.
type File struct {
	Name      string `json:"name"`
	Format    string `json:"format"`
	Signals   int    `json:"signals"`
	Timescale string `json:"timescale"`
}

// Shape is a signal that is another thing in each file.
type Shape struct {
	Path string `json:"path"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// First is the first time at which there is a difference.
type First struct {
	Time    string   `json:"time"`
	Ticks   uint64   `json:"ticks"` // of the finer timescale
	Cycle   *uint64  `json:"cycle,omitempty"`
	Clock   string   `json:"clock,omitempty"`
	Ended   string   `json:"ended,omitempty"` // the file that had ended before
	Signals []Signal `json:"signals"`         // in the order of the first file, clocks last
	History []Moment `json:"history"`         // of the first signal
	Module  string   `json:"module"`          // that it is in
	Around  []Around `json:"around"`          // what else changes there at this time
}

// Signal is one that differs.
type Signal struct {
	Path  string `json:"path"`
	PathB string `json:"path_b,omitempty"` // if it is another
	A     string `json:"a"`
	B     string `json:"b"`
}

// Moment is a time at which a signal changed in either file.
type Moment struct {
	Time string `json:"time"`
	A    string `json:"a,omitempty"` // empty: no change
	B    string `json:"b,omitempty"`
}

// Around is a signal that changes when another differs.
type Around struct {
	Name    string `json:"name"`
	BeforeA string `json:"before_a,omitempty"` // empty: no change
	A       string `json:"a"`
	BeforeB string `json:"before_b,omitempty"`
	B       string `json:"b"`
	Differs bool   `json:"differs,omitempty"`
}

// side is a file that is being compared. Times are in the common ticks.
type side struct {
	*read.File
	path  string
	exp   int    // common ticks are that many powers of ten finer
	time  uint64 // of the present step
	next  uint64 // of the one after
	more  bool   // there is one
	of    []int32
	pairs []int32 // by ID: those of id are pairs[of[id]:of[id+1]]
}

// step goes to the next step.
func (s *side) step() (err error) {
	if !s.Next() {
		if s.more = false; s.Err() == nil {
			return io.EOF
		}
		return s.Err()
	}
	if s.time, err = read.Scale(s.Time(), s.exp); err != nil {
		return err
	}
	s.next, s.more = s.Upcoming()
	s.next, err = read.Scale(s.next, s.exp)
	if !s.more {
		return s.Err()
	}
	return err
}

// reach goes to the last step that is not after a time.
func (s *side) reach(t uint64) error {
	for s.more && s.next <= t {
		if err := s.step(); err != nil {
			return err
		}
	}
	return nil
}

// pair is a signal of both.
type pair struct {
	a, b int32 // IDs
	va   int32 // variables
	vb   int32
}

type comparison struct {
	Options
	*Result
	a, b  side
	pairs []pair
	exp   int // of a common tick
	from  uint64
	to    uint64
	seen  []int32 // pairs that differ
	mark  []bool
}

// Files compares two files.
func Files(a, b string, o Options) (*Result, error) {
	c := &comparison{Options: o, Result: &Result{OnlyA: []string{}, OnlyB: []string{}, Shapes: []Shape{}, Notes: []string{}}}
	for _, s := range []struct {
		side *side
		path string
		file *File
	}{{&c.a, a, &c.A}, {&c.b, b, &c.B}} {
		f, err := read.Open(s.path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		*s.side = side{File: f, path: s.path}
		*s.file = File{s.path, f.Format, len(f.Vars), f.Timescale()}
	}
	c.exp = min(c.a.Exponent, c.b.Exponent)
	c.a.exp, c.b.exp = c.a.Exponent-c.exp, c.b.Exponent-c.exp
	if err := c.match(); err != nil {
		return nil, err
	}
	if err := c.window(); err != nil {
		return nil, err
	}
	if err := c.run(); err != nil {
		return nil, err
	}
	c.Notes = append(append(c.Notes, c.a.Notes()...), c.b.Notes()...)
	if len(c.seen) > 0 {
		if err := c.explain(); err != nil {
			return nil, err
		}
	}
	return c.Result, nil
}

// run compares until something differs.
func (c *comparison) run() error {
	for _, s := range []*side{&c.a, &c.b} {
		switch err := s.step(); {
		case err == io.EOF:
			return fmt.Errorf("%s: has no time stamp", s.path)
		case err != nil:
			return err
		}
	}
	now := max(c.a.time, c.b.time)
	switch {
	case c.from > now:
		now = c.from
	case c.a.time < now:
		c.Notes = append(c.Notes, fmt.Sprintf("%s begins at %s: compared from there", c.b.path, c.stamp(now)))
	case c.b.time < now:
		c.Notes = append(c.Notes, fmt.Sprintf("%s begins at %s: compared from there", c.a.path, c.stamp(now)))
	}
	c.Result.From = c.stamp(now)
	for _, s := range []*side{&c.a, &c.b} {
		if err := s.reach(now); err != nil {
			return err
		}
		if !s.more && s.time < now {
			return fmt.Errorf("%s: ends at %s: there is nothing to compare from %s on", s.path, c.stamp(s.time), c.stamp(now))
		}
	}
	atA, atB := c.a.time == now, c.b.time == now
	for i := range c.pairs {
		c.compare(int32(i), atA, atB)
	}
	for len(c.seen) == 0 && (c.a.more || c.b.more) {
		atA = c.a.more && (!c.b.more || c.a.next <= c.b.next)
		atB = c.b.more && (!c.a.more || c.b.next <= c.a.next)
		t := c.b.next
		if atA {
			t = c.a.next
		}
		if t > c.to {
			now = c.to
			break
		}
		now = t
		for _, x := range []struct {
			s  *side
			at bool
		}{{&c.a, atA}, {&c.b, atB}} {
			if x.at {
				if err := x.s.step(); err != nil {
					return err
				}
			}
		}
		if atA {
			c.changed(&c.a, atA, atB)
		}
		if atB {
			c.changed(&c.b, atA, atB)
		}
	}
	c.Result.To = c.stamp(now)
	if len(c.seen) > 0 {
		c.found(now)
	}
	return nil
}

// compare notes a pair that differs. An event counts only at the time of its step.
func (c *comparison) compare(i int32, atA, atB bool) {
	p := &c.pairs[i]
	a, b := c.a.Raw(p.a), c.b.Raw(p.b)
	if c.a.Vars[p.va].Kind == read.Event {
		if (atA && a[0] == '1') == (atB && b[0] == '1') {
			return
		}
	} else if bytes.Equal(a, b) {
		return
	}
	if !c.mark[i] {
		c.mark[i] = true
		c.seen = append(c.seen, i)
	}
}

// changed compares what a step of a side changes.
func (c *comparison) changed(s *side, atA, atB bool) {
	for _, id := range s.Changed() {
		for _, i := range s.pairs[s.of[id]:s.of[id+1]] {
			c.compare(i, atA, atB)
		}
	}
}

func (c *comparison) stamp(t uint64) string { return read.FormatTime(t, c.exp) }
