package diff

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"rnic/waves/read"
)

// mapped is a path of the first file as the second has it.
func mapped(path string, rules [][2]string) string {
	for _, r := range rules {
		from, to := r[0], r[1]
		rest, ok := strings.CutPrefix(path, from)
		switch {
		case !ok || from != "" && rest != "" && rest[0] != '.':
			continue
		case from == "" && to != "":
			return to + "." + rest
		case to == "":
			return strings.TrimPrefix(rest, ".")
		}
		return to + rest
	}
	return path
}

// rules reads --map.
func rules(list []string) ([][2]string, error) {
	var out [][2]string
	for _, m := range list {
		from, to, ok := strings.Cut(m, "=")
		if !ok || from == to {
			return nil, fmt.Errorf("--map %s: must be as a.b=c.d", m)
		}
		out = append(out, [2]string{from, to})
	}
	return out, nil
}

// match finds the pairs. Of several variables of a path the first belongs to the first.
func (c *comparison) match() error {
	rules, err := rules(c.Map)
	if err != nil {
		return err
	}
	used := make([]bool, len(rules))
	byPath := make(map[string][]int32, len(c.b.Vars))
	for i := range c.b.Vars {
		p := c.b.Path(&c.b.Vars[i])
		byPath[p] = append(byPath[p], int32(i))
	}
	both := make([]bool, len(c.b.Vars))
	twice := map[[2]int32]bool{}
	for i := range c.a.Vars {
		va := &c.a.Vars[i]
		path := c.a.Path(va)
		to := mapped(path, rules)
		for j, r := range rules {
			used[j] = used[j] || mapped(path, [][2]string{r}) != path
		}
		list := byPath[to]
		if len(list) > 0 {
			byPath[to] = list[1:]
			both[list[0]] = true
		}
		if c.ignored(path) {
			continue
		}
		if len(list) == 0 {
			c.OnlyA = append(c.OnlyA, path)
			continue
		}
		vb := &c.b.Vars[list[0]]
		c.Compared++
		switch ids := [2]int32{va.ID, vb.ID}; {
		case va.Kind != vb.Kind || va.Width != vb.Width:
			c.Shapes = append(c.Shapes, Shape{path, shape(va), shape(vb)})
			c.Compared--
		case !twice[ids]:
			twice[ids] = true
			c.pairs = append(c.pairs, pair{va.ID, vb.ID, int32(i), list[0]})
		}
	}
	for j, u := range used {
		if !u {
			return fmt.Errorf("--map %s: %s has nothing below %s", c.Map[j], c.a.path, rules[j][0])
		}
	}
	for i := range c.b.Vars {
		if p := c.b.Path(&c.b.Vars[i]); !both[i] && !c.ignored(p) {
			c.OnlyB = append(c.OnlyB, p)
		}
	}
	if len(c.pairs) == 0 && len(c.Shapes) == 0 {
		if slices.Contains(both, true) {
			return errors.New("nothing is left to compare: all that is in both is ignored")
		}
		return c.nothing()
	}
	c.mark = make([]bool, len(c.pairs))
	c.a.index(c.pairs, func(p pair) int32 { return p.a })
	c.b.index(c.pairs, func(p pair) int32 { return p.b })
	return nil
}

func (c *comparison) ignored(path string) bool {
	for _, p := range c.Ignore {
		if read.Match(p, path) {
			return true
		}
	}
	return false
}

// nothing is the error when no path is in both.
func (c *comparison) nothing() error {
	if len(c.a.Vars) == 0 || len(c.b.Vars) == 0 {
		return errors.New("a file has no signals")
	}
	a, b := c.a.Path(&c.a.Vars[0]), c.b.Path(&c.b.Vars[0])
	return fmt.Errorf("no signal is in both: %s has %s, %s has %s; --map a.b=c.d says what is what", c.a.path, a, c.b.path, b)
}

func shape(v *read.Var) string {
	if v.Kind == read.Bits || v.Kind == read.Event {
		return fmt.Sprintf("%s of %d bits", v.Type, v.Width)
	}
	return v.Type
}

// index lists the pairs of each ID.
func (s *side) index(pairs []pair, id func(pair) int32) {
	s.of = make([]int32, s.IDs+1)
	for _, p := range pairs {
		s.of[id(p)+1]++
	}
	for i := range s.IDs {
		s.of[i+1] += s.of[i]
	}
	s.pairs = make([]int32, len(pairs))
	at := append([]int32(nil), s.of...)
	for i, p := range pairs {
		s.pairs[at[id(p)]] = int32(i)
		at[id(p)]++
	}
	want := make([]bool, s.IDs)
	for _, p := range pairs {
		want[id(p)] = true
	}
	s.Want(want)
}

// window reads --from and --to.
func (c *comparison) window() (err error) {
	c.to = math.MaxUint64
	var clock *read.Clock
	if strings.HasPrefix(c.Options.From, "c") || strings.HasPrefix(c.Options.To, "c") {
		if clock, err = read.FindClock(c.a.path, c.Clock, ""); err != nil {
			return err
		}
	}
	for _, w := range []struct {
		name, text string
		to         *uint64
	}{{"--from", c.Options.From, &c.from}, {"--to", c.Options.To, &c.to}} {
		if w.text == "" {
			continue
		}
		t, err := c.a.ParseTime(w.text, clock)
		if err == nil {
			t, err = read.Scale(t, c.a.exp)
		}
		if err != nil {
			return fmt.Errorf("%s %w", w.name, err)
		}
		*w.to = t
	}
	if c.to < c.from {
		return fmt.Errorf("--to %s: before --from %s", c.Options.To, c.Options.From)
	}
	return nil
}
