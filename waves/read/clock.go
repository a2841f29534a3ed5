package read

import (
	"fmt"
	"strings"
)

// Clock counts cycles. Cycle c begins with the rising edge at Offset + c x Period; where
// the clock stands still for a while (it is x where an idle stretch was passed over),
// cycles go on as if it ran.
type Clock struct {
	Path           string
	Offset, Period uint64 // ticks
}

// Cycle is the cycle at a time; there is none before the first edge, and without a clock.
func (c *Clock) Cycle(t uint64) (uint64, bool) {
	if c == nil || t < c.Offset {
		return 0, false
	}
	return (t - c.Offset) / c.Period, true
}

// clockNames are what clocks are called.
var clockNames = map[string]bool{"clk": true, "clock": true, "clk_i": true, "i_clk": true, "clk_in": true, "aclk": true, "sys_clk": true}

// Clocklike tells whether a variable is called as clocks are, and has one bit.
func (v *Var) Clocklike() bool {
	return v.Kind == Bits && v.Width == 1 && clockNames[strings.ToLower(v.Name)]
}

// ClockVar is the variable of a path, or the one nearest to a path that is called as
// clocks are: in its scope, else the next above, else the first of the file; -1 if there is none.
func (h *Header) ClockVar(path, near string) (int, error) {
	best, shared := -1, -1
	for i := range h.Vars {
		v := &h.Vars[i]
		if path != "" {
			if h.Path(v) == path {
				if v.Kind != Bits || v.Width != 1 {
					return 0, fmt.Errorf("%s has %d bits: a clock has one", path, v.Width)
				}
				return i, nil
			}
			continue
		}
		if !v.Clocklike() {
			continue
		}
		scope := h.ScopePath(v.Scope)
		n := 0
		if scope != "" && strings.HasPrefix(near, scope+".") {
			n = len(scope)
		}
		if n > shared {
			best, shared = i, n
		}
	}
	if path != "" {
		return 0, fmt.Errorf("there is no signal %s to be the clock", path)
	}
	return best, nil
}

// FindClock opens a file again and reads it until a clock has gone through a cycle. The
// clock is that of ClockVar. It is nil if there is none, or it never does.
func FindClock(file, path, near string) (*Clock, error) {
	f, err := Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	i, err := f.ClockVar(path, near)
	if err != nil || i < 0 {
		return nil, err
	}
	id := f.Vars[i].ID
	want := make([]bool, f.IDs)
	want[id] = true
	f.Want(want)
	before, rise, risen := byte('x'), uint64(0), false
	for f.Next() {
		now := f.Raw(id)[0]
		switch {
		case now == before:
			continue
		case now == '1' && before == '0' && risen:
			period := f.Time() - rise
			return &Clock{Path: f.Path(&f.Vars[i]), Offset: rise % period, Period: period}, nil
		case now == '1':
			rise, risen = f.Time(), true
		case now != '0':
			risen = false
		}
		before = now
	}
	return nil, nil // if it is damaged, whoever reads all of it tells
}
