package read

import (
	"fmt"
	"io"
	"math"
	"strconv"
)

func (v *vcd) failAt(line int, format string, args ...any) error {
	return &Error{File: v.f.name, Line: line, Fault: fmt.Sprintf(format, args...)}
}

func (v *vcd) want([]bool) {} // to look at a change costs as much as to take it

func (v *vcd) dumping() bool { return !v.off }

func (v *vcd) upcoming(*state) (uint64, error) {
	if v.done {
		return 0, io.EOF
	}
	return v.now, nil
}

// step reads to the next time stamp that is another.
func (v *vcd) step(s *state) (uint64, error) {
	if v.done {
		return 0, io.EOF
	}
	any := v.stamped
	for {
		w, err := v.next()
		if err != nil {
			return v.now, v.finish(err, any)
		}
		if w[0] == '#' {
			t, err := v.time(w)
			switch {
			case err != nil:
				return 0, err
			case !any: // the first
				any, v.stamped, v.now = true, true, t
				continue
			case t < v.now:
				return 0, v.fail("time %d after %d", t, v.now)
			case t == v.now:
				v.stamped = true
				continue
			}
			before := v.now
			v.now, v.stamped = t, true
			return before, nil
		}
		if w[0] == '$' {
			err = v.command(w)
		} else {
			any = true // before a time stamp: at 0
			err = v.change(s, w)
		}
		if err != nil {
			return 0, err
		}
	}
}

// finish judges the end of the file: the step before is the last one, if there is any.
func (v *vcd) finish(err error, any bool) error {
	switch {
	case err != io.EOF:
		return v.wrap(err, "")
	case v.dump != "":
		return v.fail("the file ends within the %s of line %d", v.dump, v.began)
	}
	v.done = true
	if v.over {
		v.f.note("%s: line %d: the last line has no end: the file may be cut", v.f.name, v.line)
	}
	if !any {
		return io.EOF
	}
	return nil
}

func (v *vcd) time(w []byte) (t uint64, err error) {
	if len(w) == 1 {
		return 0, v.fail("# without a time")
	}
	for _, c := range w[1:] {
		d := uint64(c - '0')
		if d > 9 {
			return 0, v.fail("time %s is no whole number", quote(w))
		}
		if t > (math.MaxUint64-d)/10 {
			return 0, v.fail("time %s is beyond 64 bits", quote(w))
		}
		t = t*10 + d
	}
	return t, nil
}

// command takes a directive among the changes.
func (v *vcd) command(w []byte) error {
	name, line := string(w), v.line
	switch name {
	case "$dumpvars", "$dumpall", "$dumpon", "$dumpoff":
		if v.dump != "" {
			return v.fail("%s within the %s of line %d", name, v.dump, v.began)
		}
		v.dump, v.began = name, line
		v.off = name == "$dumpoff"
		return nil
	case "$end":
		if v.dump == "" {
			return v.fail("$end of nothing")
		}
		v.dump = ""
		return nil
	case "$comment", "$vcdclose":
		if err := v.skip(); err != nil {
			return v.wrap(err, "%s of line %d does not end", name, line)
		}
		return nil
	case "$var", "$scope", "$upscope":
		return v.fail("%s after $enddefinitions: all must be declared before the first value", name)
	case "$date", "$version", "$timescale", "$enddefinitions":
		return v.fail("%s after $enddefinitions: a second VCD in the file?", name)
	case "$dumpports", "$dumpportsall", "$dumpportson", "$dumpportsoff":
		return v.fail("%s: extended VCD is not read", name)
	}
	return v.fail("%s is no directive", quote(w))
}

// change takes one.
func (v *vcd) change(s *state, w []byte) error {
	c := w[0]
	if d := digitOf[c]; d != 0 {
		id, err := v.id(w[1:], w[:1])
		if err != nil {
			return err
		}
		if k := s.kinds[id]; s.at[id+1]-s.at[id] != 1 || k != Bits && k != Event {
			return v.fail("the value %s for %s", quote(w[:1]), v.what(id))
		}
		s.digit(id, d)
		return nil
	}
	switch c {
	case 'b', 'B', 'r', 'R', 's', 'S':
	case 'p', 'P':
		return v.fail("%s: extended VCD is not read", quote(w))
	default:
		return v.fail("%s is no change, time or directive", quote(w))
	}
	v.value = append(v.value[:0], w...)
	code, err := v.next()
	if err != nil {
		return v.wrap(err, "the file ends within a change: %s has no code", quote(v.value))
	}
	c |= 0x20
	text := v.value[1:]
	if c == 'b' {
		for _, d := range text {
			if digitOf[d] == 0 {
				return v.fail("the value %s has %s, which is no digit: a space missing before the code?", quote(v.value), quote([]byte{d}))
			}
		}
	}
	id, err := v.id(code, v.value)
	if err != nil {
		return err
	}
	switch k := s.kinds[id]; {
	case c == 's' && k == String:
		v.digits = unescape(v.digits[:0], text)
		s.text(id, v.digits)
		return nil
	case c == 'r' && k == Real:
		x, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			return v.fail("%s is no real number", quote(text))
		}
		s.real(id, x)
		return nil
	case c == 'b' && k == Bits:
		return v.vector(s, id, text)
	case c == 'b' && k == Event && len(text) == 1:
		s.digit(id, digitOf[text[0]])
		return nil
	}
	return v.fail("the value %s for %s", quote(v.value), v.what(id))
}

// vector extends a value to the left, as IEEE 1364 18.2.2 has it.
func (v *vcd) vector(s *state, id int32, text []byte) error {
	n := int(s.at[id+1] - s.at[id])
	if len(text) == 0 || len(text) > n {
		return v.fail("a value of %d digits for %s", len(text), v.what(id))
	}
	fill := digitOf[text[0]]
	if fill == '1' {
		fill = '0'
	}
	d := v.digits[:0]
	for range n - len(text) {
		d = append(d, fill)
	}
	for _, c := range text {
		d = append(d, digitOf[c])
	}
	v.digits = d
	if n == 1 {
		s.digit(id, d[0])
	} else {
		s.digits(id, d)
	}
	return nil
}

// id is that of a code.
func (v *vcd) id(code, value []byte) (int32, error) {
	if len(code) == 0 {
		return 0, v.fail("the value %s has no code: a space before it?", quote(value))
	}
	id, ok := v.find(code)
	if !ok {
		return 0, v.fail("no variable has the code %s, of the value %s", quote(code), quote(value))
	}
	return id, nil
}

// what names an ID.
func (v *vcd) what(id int32) string {
	for i := range v.f.Vars {
		if x := &v.f.Vars[i]; x.ID == id {
			path := v.f.Path(x)
			if x.Kind == Bits {
				return fmt.Sprintf("%s, which has %d bits", path, x.Width)
			}
			return fmt.Sprintf("%s, which is of type %s", path, x.Type)
		}
	}
	return "a variable"
}
