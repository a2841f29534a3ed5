package diff

import (
	"os"
	"slices"

	"rnic/waves/read"
)

// found says what differs at a time.
func (c *comparison) found(now uint64) {
	slices.SortFunc(c.seen, func(a, b int32) int { return c.order(a) - c.order(b) })
	f := &First{Time: c.stamp(now), Ticks: now, Signals: []Signal{}, History: []Moment{}, Around: []Around{}}
	for _, i := range c.seen {
		p := c.pairs[i]
		va, vb := &c.a.Vars[p.va], &c.b.Vars[p.vb]
		s := Signal{Path: c.a.Path(va), A: va.Long(c.a.value(p.a, now)), B: vb.Long(c.b.value(p.b, now))}
		if path := c.b.Path(vb); path != s.Path {
			s.PathB = path
		}
		f.Signals = append(f.Signals, s)
	}
	switch {
	case !c.a.more && c.a.time < now:
		f.Ended = c.a.path
	case !c.b.more && c.b.time < now:
		f.Ended = c.b.path
	}
	c.First = f
}

// order is that of the first file, clocks last: where one stands still, it is rarely the point.
func (c *comparison) order(i int32) int {
	v := c.pairs[i].va
	if c.a.Vars[v].Clocklike() {
		return int(v) + len(c.a.Vars)
	}
	return int(v)
}

// value is that of an ID at a time, at which an event has not happened because it has
// before.
func (s *side) value(id int32, now uint64) []byte {
	if s.time < now && len(s.Raw(id)) == 1 && s.event(id) {
		return []byte{'0'}
	}
	return s.Raw(id)
}

func (s *side) event(id int32) bool {
	for i := range s.Vars {
		if s.Vars[i].ID == id {
			return s.Vars[i].Kind == read.Event
		}
	}
	return false
}

// module is the scope that a variable is in, below which others are looked at: the
// nearest that is no struct or the like.
func module(h *read.Header, v *read.Var) int32 {
	s := v.Scope
	for s >= 0 && h.Scopes[s].Parent >= 0 {
		switch h.Scopes[s].Type {
		case "struct", "union", "vhdl_record", "sv_array":
			s = h.Scopes[s].Parent
			continue
		}
		break
	}
	return s
}

// track follows values of a file up to a time.
type track struct {
	before map[int32]string // values that change at that time, as they were
	after  map[int32]string // values at that time
	times  []uint64         // of the last changes of the signal
	values []string
}

// again reads a file again, up to a time.
func (c *comparison) again(s *side, ids map[int32]*read.Var, signal int32, now uint64) (*track, error) {
	f, err := read.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	again := side{File: f, path: s.path, exp: s.exp}
	want := make([]bool, f.IDs)
	for id := range ids {
		want[id] = true
	}
	f.Want(want)
	t := &track{before: map[int32]string{}, after: map[int32]string{}}
	for first := true; first || again.more && again.next <= now; first = false {
		if err := again.step(); err != nil {
			return nil, err
		}
		if first {
			for id, v := range ids {
				t.after[id] = v.Long(f.Raw(id))
			}
			if v := ids[signal]; v.Kind != read.Event {
				t.times, t.values = append(t.times, again.time), append(t.values, t.after[signal])
			}
		}
		for _, id := range f.Changed() {
			v, ok := ids[id]
			if !ok {
				continue
			}
			text := v.Long(f.Raw(id))
			if again.time == now {
				if old, ok := t.after[id]; ok && (old != text || v.Kind == read.Event) {
					t.before[id] = old
				}
			}
			if id == signal && (t.after[id] != text || v.Kind == read.Event) {
				t.times, t.values = append(t.times, again.time), append(t.values, text)
				if n := len(t.times) - c.History - 1; n > 0 {
					t.times, t.values = t.times[n:], t.values[n:]
				}
			}
			t.after[id] = text
		}
	}
	return t, nil
}

// explain adds the history of the first signal, and what is around it.
func (c *comparison) explain() error {
	p, f := c.pairs[c.seen[0]], c.First
	va := &c.a.Vars[p.va]
	scope := module(&c.a.Header, va)
	f.Module = c.a.ScopePath(scope)
	for _, s := range []*side{&c.a, &c.b} {
		if st, err := os.Stat(s.path); err != nil || !st.Mode().IsRegular() {
			c.Notes = append(c.Notes, s.path+" is a pipe: what was before the difference is not known")
			return nil
		}
	}
	var near []pair
	one, two := map[int32]*read.Var{p.a: va}, map[int32]*read.Var{p.b: &c.b.Vars[p.vb]}
	for _, q := range c.pairs {
		v := &c.a.Vars[q.va]
		if module(&c.a.Header, v) == scope && q != p {
			near = append(near, q)
			one[q.a], two[q.b] = v, &c.b.Vars[q.vb]
		}
	}
	a, err := c.again(&c.a, one, p.a, f.Ticks)
	if err != nil {
		return err
	}
	b, err := c.again(&c.b, two, p.b, f.Ticks)
	if err != nil {
		return err
	}
	c.history(a, b)
	for _, q := range near {
		x := Around{A: a.after[q.a], B: b.after[q.b], BeforeA: a.before[q.a], BeforeB: b.before[q.b]}
		if x.BeforeA == "" && x.BeforeB == "" {
			continue
		}
		x.Name = c.a.Path(&c.a.Vars[q.va])[len(f.Module):]
		if f.Module != "" {
			x.Name = x.Name[1:]
		}
		x.Differs = x.A != x.B
		f.Around = append(f.Around, x)
	}
	return c.cycle(f)
}

// history merges the changes of both files.
func (c *comparison) history(a, b *track) {
	f := c.First
	for i, j := 0, 0; i < len(a.times) || j < len(b.times); {
		inA := i < len(a.times) && (j == len(b.times) || a.times[i] <= b.times[j])
		inB := j < len(b.times) && (i == len(a.times) || b.times[j] <= a.times[i])
		m := Moment{}
		if inA {
			m.Time, m.A = c.stamp(a.times[i]), a.values[i]
			i++
		}
		if inB {
			m.Time, m.B = c.stamp(b.times[j]), b.values[j]
			j++
		}
		f.History = append(f.History, m)
	}
	if n := len(f.History) - c.History - 1; n > 0 {
		f.History = f.History[n:]
	}
}

// cycle counts by the clock nearest to the first signal.
func (c *comparison) cycle(f *First) error {
	clock, err := read.FindClock(c.a.path, c.Clock, f.Signals[0].Path)
	if err != nil || clock == nil {
		return err
	}
	ticks := f.Ticks
	for range c.a.exp {
		ticks /= 10
	}
	if n, ok := clock.Cycle(ticks); ok {
		f.Cycle, f.Clock = &n, clock.Path
	}
	return nil
}
