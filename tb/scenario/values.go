package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"rnic/tb"
)

// Ref names something, at a place of the file.
type Ref struct {
	Pos
	Name string
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// name reads the name of something.
func (r *reader) name(n ast.Node) (string, bool) {
	s, ok := r.scalar(n, "a name")
	if ok && !nameForm.MatchString(s) {
		r.fail(place(n), "%q is no name: must be of small letters, digits and _, and begin with a letter", s)
		return "", false
	}
	return s, ok
}

func (r *reader) ref(n ast.Node) Ref {
	s, _ := r.name(n)
	return Ref{place(n), s}
}

// refs reads a name or a list of them.
func (r *reader) refs(n ast.Node) (l []Ref) {
	for _, e := range r.list(n) {
		l = append(l, r.ref(e))
	}
	return l
}

// word reads one of some words and returns its index, or -1.
func (r *reader) word(n ast.Node, what string, words []string) int {
	s, ok := r.scalar(n, what)
	if !ok {
		return -1
	}
	i := slices.Index(words, s)
	if i < 0 {
		r.fail(place(n), "%q is no %s: %s", s, what, oneOf(s, words))
	}
	return i
}

func (r *reader) bool(n ast.Node) bool {
	s, ok := r.scalar(n, "true or false")
	if ok && s != "true" && s != "false" {
		r.fail(place(n), "%q: must be true or false", s)
	}
	return s == "true"
}

// parseNumber reads a decimal number, or one with 0x.
func parseNumber(s string) (uint64, error) {
	if h, ok := strings.CutPrefix(s, "0x"); ok {
		return strconv.ParseUint(h, 16, 64)
	}
	return strconv.ParseUint(s, 10, 64)
}

// number reads one from lo to hi.
func (r *reader) number(n ast.Node, lo, hi uint64) uint64 {
	want := fmt.Sprintf("a number from %d to %d", lo, hi)
	if hi > 1<<48 {
		want = fmt.Sprintf("a number from %d to %#x", lo, hi)
	}
	s, ok := r.scalar(n, want)
	if !ok {
		return lo
	}
	v, err := parseNumber(s)
	if err != nil || v < lo || v > hi {
		r.fail(place(n), "%q: must be %s", s, want)
		return lo
	}
	return v
}

// sizes are the units of bytes, the longest names first.
var sizes = []struct {
	unit string
	n    uint64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}}

const sizeForm = "bytes with a unit, as 64B, 4KiB or 1MiB"

// maxBytes is beyond all that has a size, 2^40.
const maxBytes = 1 << 40

func parseSize(s string) (uint64, error) {
	for _, u := range sizes {
		if d, ok := strings.CutSuffix(s, u.unit); ok {
			v, err := parseNumber(d)
			if err != nil || v > maxBytes/u.n {
				return 0, fmt.Errorf("must be %s", sizeForm)
			}
			return v * u.n, nil
		}
	}
	if _, err := parseNumber(s); err == nil {
		return 0, fmt.Errorf("the unit is missing: must be %s", sizeForm)
	}
	return 0, fmt.Errorf("must be %s", sizeForm)
}

func (r *reader) size(n ast.Node, lo, hi uint64) uint64 {
	s, ok := r.scalar(n, sizeForm)
	if !ok {
		return lo
	}
	v, err := parseSize(s)
	switch {
	case err != nil:
		r.fail(place(n), "%q: %v", s, err)
	case v < lo || v > hi:
		r.fail(place(n), "%q: must be %dB to %dB", s, lo, hi)
	default:
		return v
	}
	return lo
}

const (
	timeForm = "a time with a unit, as 300ns, 4.5us, 1ms or 20cycles"
	maxTime  = 1000 * time.Second
)

func parseTime(s string) (time.Duration, error) {
	if d, ok := strings.CutSuffix(s, "cycles"); ok {
		v, err := parseNumber(d)
		if err != nil || v > uint64(maxTime/tb.Period) {
			return 0, fmt.Errorf("must be %s", timeForm)
		}
		return time.Duration(v) * tb.Period, nil
	}
	d, err := time.ParseDuration(s)
	switch {
	case err == nil && d >= 0 && d <= maxTime && (d > 0 || strings.HasSuffix(s, "s")):
		return d, nil
	case err == nil && d == 0 || strings.Trim(s, "0123456789.") == "" && s != "":
		return 0, fmt.Errorf("the unit is missing: must be %s", timeForm)
	}
	return 0, fmt.Errorf("must be %s", timeForm)
}

// time reads a duration from lo to hi.
func (r *reader) time(n ast.Node, lo, hi time.Duration) time.Duration {
	s, ok := r.scalar(n, timeForm)
	if !ok {
		return lo
	}
	d, err := parseTime(s)
	switch {
	case err != nil:
		r.fail(place(n), "%q: %v", s, err)
	case d < lo || d > hi:
		r.fail(place(n), "%q: must be %v to %v", s, lo, hi)
	default:
		return d
	}
	return lo
}
