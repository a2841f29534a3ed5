package read

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// vcd reads a VCD.
type vcd struct {
	f *File
	words
	codes
	*builder

	scaled  bool   // there is a timescale
	stamped bool   // a time has been read
	now     uint64 // of the step to come
	done    bool
	dump    string // the directive whose $end is to come
	began   int    // its line
	off     bool
	value   []byte
	digits  []byte
}

// fail is the error of the present line.
func (v *vcd) fail(format string, args ...any) error { return v.failAt(v.line, format, args...) }

var timescale = regexp.MustCompile(`^(1|10|100)([munpfaz]?s)$`)

var units = map[string]int{"s": 0, "ms": -3, "us": -6, "ns": -9, "ps": -12, "fs": -15, "as": -18, "zs": -21}

// header reads to $enddefinitions.
func (v *vcd) header() (*builder, error) {
	v.builder = newBuilder("VCD")
	v.h.Exponent = -9
	var enum *Enum // of the next variable
	for first := true; ; first = false {
		w, err := v.next()
		if err != nil {
			return nil, v.wrap(err, "the header does not end")
		}
		if first {
			w = bytes.TrimPrefix(w, []byte("\xef\xbb\xbf"))
		}
		line, name := v.line, string(w)
		switch name {
		case "$enddefinitions":
			if v.scope >= 0 {
				return nil, v.fail("the header ends within the scope %s", v.h.ScopePath(v.scope))
			}
			if !v.scaled {
				v.f.note("%s: no $timescale: 1ns is assumed", v.f.name)
			}
			if err := v.skip(); err != nil {
				return nil, v.wrap(err, "the header does not end")
			}
			return v.builder, nil
		case "$comment", "$attrend":
			if err := v.skip(); err != nil {
				return nil, v.wrap(err, "%s of line %d does not end", name, line)
			}
			continue
		case "$dumpvars", "$dumpall", "$dumpon", "$dumpoff":
			return nil, v.fail("%s before $enddefinitions", name)
		}
		if w[0] != '$' || name == "$end" {
			return nil, v.fail("%s where a directive should begin", quote(w))
		}
		args, err := v.rest()
		if err != nil {
			return nil, v.wrap(err, "%s of line %d does not end", name, line)
		}
		if enum, err = v.directive(name, args, enum); err != nil {
			return nil, err
		}
	}
}

// rest is the words to $end.
func (v *vcd) rest() (args []string, err error) {
	size := 0
	for {
		w, err := v.next()
		if err != nil {
			return nil, err
		}
		if string(w) == "$end" {
			return args, nil
		}
		if size += len(w) + 16; size > maxWord {
			return nil, v.fail("a directive of more than %d bytes", maxWord)
		}
		args = append(args, string(w))
	}
}

// directive takes one. It gives the enum of the next variable.
func (v *vcd) directive(name string, args []string, enum *Enum) (*Enum, error) {
	var err error
	switch name {
	case "$date":
		v.h.Date = strings.Join(args, " ")
	case "$version":
		v.h.Version = strings.Join(args, " ")
	case "$timescale":
		m := timescale.FindStringSubmatch(strings.Join(args, ""))
		if m == nil {
			return nil, v.fail("timescale %q: must be 1, 10 or 100 of s, ms, us, ns, ps or fs", strings.Join(args, " "))
		}
		v.h.Exponent, v.scaled = units[m[2]]+len(m[1])-1, true
	case "$scope":
		if len(args) != 2 {
			return nil, v.fail("$scope %q: must have a type and a name", strings.Join(args, " "))
		}
		err = v.enter(args[0], args[1])
	case "$upscope":
		if len(args) > 0 {
			return nil, v.fail("$upscope %q: takes no words", strings.Join(args, " "))
		}
		err = v.leave()
	case "$var":
		return nil, v.variable(args, enum)
	case "$attrbegin":
		return v.attribute(args, enum)
	}
	if err != nil {
		return nil, v.fail("%v", err)
	}
	return enum, nil
}

// attribute takes a table of an enum, or which one the next variable has.
func (v *vcd) attribute(args []string, enum *Enum) (*Enum, error) {
	if len(args) < 4 || args[0] != "misc" || strings.TrimLeft(args[1], "0") != "7" {
		return enum, nil
	}
	h, err := strconv.ParseInt(args[len(args)-1], 10, 64)
	if err != nil {
		return nil, v.fail("$attrbegin: %s is no number of an enum", quote([]byte(args[len(args)-1])))
	}
	if args = args[2 : len(args)-1]; len(args) == 1 {
		e := v.enums[h]
		if e == nil {
			return nil, v.fail("$attrbegin: enum %d has no table", h)
		}
		return e, nil
	}
	if v.enums[h], err = table(args); err != nil {
		return nil, v.fail("%v", err)
	}
	return enum, nil
}

// variable takes a $var: type, width, code, name and perhaps a range.
func (v *vcd) variable(args []string, enum *Enum) error {
	if len(args) < 4 {
		return v.fail("$var %q: must have a type, a width, a code and a name", strings.Join(args, " "))
	}
	width, err := strconv.Atoi(args[1])
	if err != nil || width < 0 {
		return v.fail("$var %s: %s is no width", strings.Join(args, " "), quote([]byte(args[1])))
	}
	kind := Bits
	switch strings.ToLower(args[0]) {
	case "real", "realtime", "shortreal", "real_parameter":
		kind, width = Real, 8
	case "string":
		kind, width = String, 0
	case "event":
		kind, width = Event, 1
	case "port":
		return v.fail("a port: extended VCD is not read")
	default:
		if width == 0 {
			return v.fail("$var %s: a width of 0", strings.Join(args, " "))
		}
	}
	code := []byte(args[2])
	id, ok := v.find(code)
	switch {
	case !ok:
		if id, err = v.builder.value(kind, width); err != nil {
			return v.fail("%v", err)
		}
		v.add(code, id)
	case v.kinds[id] != kind || int(v.width[id]) != width && kind == Bits:
		return v.fail("$var %s: the code %s is taken by a variable of another width or kind", strings.Join(args, " "), quote(code))
	}
	if err := v.declare(args[0], strings.Join(args[3:], " "), id, enum); err != nil {
		return v.fail("%v", err)
	}
	return nil
}

// wrap makes an error of the end of the file, or of what it could not be read for.
func (v *vcd) wrap(err error, format string, args ...any) error {
	if _, ok := err.(*Error); ok {
		return err
	}
	if err == io.EOF {
		return v.fail(format, args...)
	}
	return v.fail("%v", err)
}
