// Package vcdnorm reads VCD files into a form in which two files are equal if they
// show the same, whoever wrote them and in whatever order; and it checks that a file
// keeps to the strict dialect that package waves promises. It shares nothing with the
// writer.
package vcdnorm

import (
	"bufio"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
)

// File is what a VCD shows.
type File struct {
	Timescale string // "1ps"
	Start     int64  // first time stamp
	End       int64  // last time stamp
	Vars      []*Var // in the order of declaration
	byID      map[string]*Var
}

// Var is a variable and its history.
type Var struct {
	Path    string // scopes and name, joined by dots
	Scope   string // types of its scopes
	Kind    string // wire, reg, string, ...
	Width   int
	Changes []Change // times ascend, values differ
	dumped  bool
	at      int64 // time of the last line that gave it a value
}

// Change is a new value: digits at full width, or text with its escapes undone.
type Change struct {
	Time  int64
	Value string
}

// Read takes any VCD of the usual dialects.
func Read(r io.Reader) (*File, error) { return parse(r, false) }

// Check takes only the dialect of package waves: a directive or a change a line, dense
// codes, safe names, every variable in $dumpvars, ascending times, each change one that
// changes, in its shortest form.
func Check(r io.Reader) (*File, error) { return parse(r, true) }

// At is the value of a variable at a time, of the path; empty before the first.
func (f *File) At(path string, t int64) string {
	for _, v := range f.Vars {
		if v.Path == path {
			n := sort.Search(len(v.Changes), func(i int) bool { return v.Changes[i].Time > t })
			if n > 0 {
				return v.Changes[n-1].Value
			}
		}
	}
	return ""
}

// Find is the variable of a path, or nil.
func (f *File) Find(path string) *Var {
	for _, v := range f.Vars {
		if v.Path == path {
			return v
		}
	}
	return nil
}

// Canon is the form to compare.
func (f *File) Canon() string {
	lines := []string{fmt.Sprintf("%s %d..%d", f.Timescale, f.Start, f.End)}
	for _, v := range f.Vars {
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s %d", v.Path, v.Kind, v.Width)
		for _, c := range v.Changes {
			fmt.Fprintf(&b, " %d=%q", c.Time, c.Value)
		}
		lines = append(lines, b.String())
	}
	sort.Strings(lines[1:])
	return strings.Join(lines, "\n") + "\n"
}

func parse(r io.Reader, strict bool) (*File, error) {
	p := &parser{strict: strict, names: map[string]bool{}, f: &File{byID: map[string]*Var{}, Start: -1}}
	s := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := s.ReadString('\n')
		p.line++
		if err != nil && err != io.EOF {
			return nil, err
		}
		if strict && err == io.EOF && line != "" {
			return nil, fmt.Errorf("line %d does not end", p.line)
		}
		if line != "" {
			if e := p.take(strings.TrimSuffix(line, "\n")); e != nil {
				return nil, fmt.Errorf("line %d: %w", p.line, e)
			}
		}
		if err == io.EOF {
			return p.f, p.finish()
		}
	}
}

func (p *parser) finish() error {
	f := p.f
	f.End = p.now
	switch {
	case !p.body || len(p.scopes) != 0 || len(p.pending) != 0:
		return fmt.Errorf("the header does not end")
	case f.Start < 0:
		return fmt.Errorf("no time stamp")
	case p.dumping:
		return fmt.Errorf("$dumpvars does not end")
	}
	return nil
}

// letters are the escapes of one letter that fst2vcd writes.
var letters = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\a`, "\a", `\b`, "\b", `\f`, "\f", `\v`, "\v")

// unescape undoes the escapes of a string value, octal or of one letter.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
		} else if n, err := strconv.ParseUint(s[i+1:min(i+4, len(s))], 8, 8); err == nil && i+3 < len(s) {
			b.WriteByte(byte(n))
			i += 3
		} else {
			b.WriteString(letters.Replace(s[i:min(i+2, len(s))]))
			i++
		}
	}
	return b.String()
}
