package scenario

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Range is a number or a range of numbers, both ends included; of times in
// nanoseconds.
type Range struct {
	Set    bool
	Lo, Hi uint64
}

// exactly is the range of one number.
func exactly(n uint64) Range { return Range{true, n, n} }

// has tells whether a number is in it; all are in one that was not given.
func (g Range) has(n uint64) bool { return !g.Set || n >= g.Lo && n <= g.Hi }

// text writes the range; unit writes a number.
func (g Range) text(unit func(uint64) string) string {
	switch {
	case g.Lo == g.Hi:
		return unit(g.Lo)
	case g.Hi == math.MaxUint64:
		return unit(g.Lo) + " or more"
	case g.Lo == 0:
		return "up to " + unit(g.Hi)
	}
	return unit(g.Lo) + " to " + unit(g.Hi)
}

func plain(n uint64) string { return fmt.Sprint(n) }

func nanoseconds(n uint64) string { return time.Duration(min(n, math.MaxInt64)).String() }

// ends reads N, LO..HI, LO.. or ..HI.
func (r *reader) ends(n ast.Node, form string, parse func(string) (uint64, error)) Range {
	s, ok := r.scalar(n, form)
	if !ok {
		return Range{}
	}
	lo, hi, two := strings.Cut(s, "..")
	if !two {
		hi = lo
	}
	g := Range{Set: true, Hi: math.MaxUint64}
	var err error
	if lo != "" {
		g.Lo, err = parse(lo)
	}
	if hi != "" && err == nil {
		g.Hi, err = parse(hi)
	}
	switch {
	case lo == "" && hi == "":
		err = fmt.Errorf("must be %s", form)
	case err == nil && g.Lo > g.Hi:
		err = fmt.Errorf("the range ends before it begins")
	}
	if err != nil {
		r.fail(place(n), "%q: %v", s, err)
		return Range{}
	}
	return g
}

// counts reads a number or a range of numbers.
func (r *reader) counts(n ast.Node) Range {
	const form = "a number or a range, as 3, 2..5, 2.. or ..5"
	return r.ends(n, form, func(s string) (uint64, error) {
		v, err := parseNumber(s)
		if err != nil {
			err = fmt.Errorf("must be %s", form)
		}
		return v, err
	})
}

// times reads a range of times.
func (r *reader) times(n ast.Node) Range {
	g := r.ends(n, "a range of times, as 2us..3us, 2us.. or ..3us", func(s string) (uint64, error) {
		d, err := parseTime(s)
		return uint64(d), err
	})
	if s, _, ok := text(n); ok && g.Set && !strings.Contains(s, "..") {
		r.fail(place(n), "%q is no range: must be as 2us..3us, 2us.. or ..3us", s)
	}
	return g
}

// PSN is a packet sequence number: with Relative counted from the first of the
// requester.
type PSN struct {
	Set, Relative bool
	N             uint32
}

// psn reads N or +N.
func (r *reader) psn(n ast.Node) PSN {
	const form = "a PSN: a number of 24 bits, or +N, counted from the requester's first"
	s, ok := r.scalar(n, form)
	if !ok {
		return PSN{}
	}
	d, relative := strings.CutPrefix(s, "+")
	v, err := parseNumber(d)
	if err != nil || v >= 1<<24 {
		r.fail(place(n), "%q: must be %s", s, form)
	}
	return PSN{true, relative, uint32(v & 0xffffff)}
}

// String is as it is written.
func (p PSN) String() string {
	if p.Relative {
		return fmt.Sprintf("+%d", p.N)
	}
	return fmt.Sprint(p.N)
}
