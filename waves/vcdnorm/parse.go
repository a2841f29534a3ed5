package vcdnorm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// parser goes by lines; directives of the header may take several unless strict.
type parser struct {
	f       *File
	strict  bool
	line    int
	pending []string // tokens of a directive that has not ended
	scopes  [][2]string
	names   map[string]bool
	body    bool
	dumping bool
	stamped bool // the last line was a time stamp
	now     int64
}

var (
	safeName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	timescale = regexp.MustCompile(`^(1|10|100)(s|ms|us|ns|ps|fs)$`)
	kinds     = map[string]bool{"wire": true, "reg": true, "string": true}
	scopes    = map[string]bool{"module": true, "struct": true}
)

func (p *parser) take(line string) error {
	if p.strict {
		for i := range len(line) {
			if line[i] < ' ' || line[i] >= 0x7f {
				return fmt.Errorf("byte %#x", line[i])
			}
		}
	}
	if p.body {
		return p.change(line)
	}
	words := strings.Fields(line)
	if p.strict && len(words) > 0 && (words[0][0] != '$' || words[len(words)-1] != "$end" || strings.Join(words, " ") != line) {
		return fmt.Errorf("not a directive: %q", line)
	}
	for _, w := range words {
		if w != "$end" {
			p.pending = append(p.pending, w)
			continue
		}
		if len(p.pending) == 0 {
			return fmt.Errorf("$end of nothing")
		}
		d := p.pending
		p.pending = nil
		if err := p.directive(d); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) directive(d []string) error {
	switch d[0] {
	case "$date", "$version", "$comment", "$attrbegin", "$attrend":
		return nil
	case "$timescale":
		p.f.Timescale = strings.Join(d[1:], "")
		if !timescale.MatchString(p.f.Timescale) {
			return fmt.Errorf("timescale %s", p.f.Timescale)
		}
		return nil
	case "$scope":
		if len(d) != 3 || p.strict && (!safeName.MatchString(d[2]) || !scopes[d[1]]) {
			return fmt.Errorf("scope %q", d[1:])
		}
		p.scopes = append(p.scopes, [2]string{d[1], d[2]})
		return p.name(d[2], "/")
	case "$upscope":
		if len(p.scopes) == 0 || len(d) != 1 {
			return fmt.Errorf("unbalanced $upscope")
		}
		p.scopes = p.scopes[:len(p.scopes)-1]
		return nil
	case "$var":
		return p.variable(d[1:])
	case "$enddefinitions":
		if len(p.scopes) != 0 || p.f.Timescale == "" {
			return fmt.Errorf("the header ends within a scope or without a timescale")
		}
		p.body = true
		return nil
	}
	return fmt.Errorf("directive %s", d[0])
}

// name claims a scope or variable in the present scope.
func (p *parser) name(n, sort string) error {
	path := ""
	for _, s := range p.scopes {
		path += s[1] + "."
	}
	if sort == "/" {
		path = strings.TrimSuffix(path, n+".")
	}
	if path += n; p.names[path] && p.strict {
		return fmt.Errorf("second %s", path)
	}
	p.names[path] = true
	return nil
}

func (p *parser) variable(d []string) error {
	if len(d) != 4 && len(d) != 5 || len(p.scopes) == 0 {
		return fmt.Errorf("variable %q", d)
	}
	w, err := strconv.Atoi(d[1])
	v := &Var{Kind: d[0], Width: w, at: -1}
	if v.Kind == "string" {
		v.Width = 1
	}
	if err != nil || v.Width < 1 {
		return fmt.Errorf("width %s", d[1])
	}
	for _, s := range p.scopes {
		v.Scope += s[0] + "."
		v.Path += s[1] + "."
	}
	v.Path += d[3]
	if len(d) == 5 {
		if d[4] != fmt.Sprintf("[%d:0]", w-1) {
			return fmt.Errorf("range %s of width %d", d[4], w)
		}
	} else if p.strict && w > 1 {
		return fmt.Errorf("no range at width %d", w)
	}
	if p.strict && (!safeName.MatchString(d[3]) || !kinds[d[0]] || d[2] != nth(len(p.f.Vars))) {
		return fmt.Errorf("variable %q", d)
	}
	if p.f.byID[d[2]] != nil {
		return fmt.Errorf("code %s is taken", d[2])
	}
	p.f.byID[d[2]] = v
	p.f.Vars = append(p.f.Vars, v)
	return p.name(d[3], "")
}

// nth is the code of the n-th variable, by counting as one does with digits 1 to 94.
func nth(n int) string {
	s := string(rune('!' + n%94))
	if n >= 94 {
		s += nth(n/94 - 1)
	}
	return s
}

func (p *parser) change(line string) error {
	if line == "" {
		return fmt.Errorf("empty line")
	}
	stamped := p.stamped
	p.stamped = false
	switch line[0] {
	case '#':
		t, err := strconv.ParseInt(line[1:], 10, 64)
		if err != nil || t < p.now || t == p.now && p.f.Start >= 0 || p.strict && p.dumping {
			return fmt.Errorf("time %s after %d", line, p.now)
		}
		if p.f.Start < 0 {
			p.f.Start = t
		}
		p.now, p.stamped = t, true
		return nil
	case '$':
		return p.dump(line, stamped)
	}
	if p.f.Start < 0 || p.strict && p.now == p.f.Start && !p.dumping {
		return fmt.Errorf("change %q outside of the dump", line)
	}
	return p.value(line)
}

func (p *parser) dump(line string, stamped bool) error {
	switch {
	case line == "$dumpvars" && p.f.Start >= 0 && (!p.strict || stamped && p.now == p.f.Start):
		p.dumping = true
		return nil
	case line == "$end" && p.dumping:
		p.dumping = false
		for _, v := range p.f.Vars {
			if !v.dumped && p.strict {
				return fmt.Errorf("%s is not in $dumpvars", v.Path)
			}
		}
		return nil
	}
	return fmt.Errorf("%q", line)
}

func (p *parser) value(line string) error {
	val, id := line[:1], line[1:]
	if strings.ContainsAny(val, "bBsS") {
		var ok bool
		if val, id, ok = strings.Cut(line, " "); !ok {
			return fmt.Errorf("change %q", line)
		}
	}
	v := p.f.byID[id]
	if v == nil {
		return fmt.Errorf("code %q of %q is not declared", id, line)
	}
	kind, digits := val[0], val[1:]
	switch {
	case kind == 's' && v.Kind == "string":
		val = unescape(digits)
	case kind == 'b' && v.Kind != "string" && (v.Width > 1 || !p.strict):
		if digits == "" || len(digits) > v.Width || strings.Trim(digits, "01xz") != "" {
			return fmt.Errorf("value %q at width %d", val, v.Width)
		}
		if short := digits[0] == '0' && len(digits) > 1 && strings.ContainsAny(digits[1:2], "01") ||
			digits[0] == 'x' && len(digits) > 1 && digits[1] == 'x'; p.strict && short {
			return fmt.Errorf("value %q is not in its shortest form", val)
		}
		fill := digits[:1]
		if fill == "1" {
			fill = "0"
		}
		val = strings.Repeat(fill, v.Width-len(digits)) + digits
	case v.Width != 1 || v.Kind == "string" || !strings.Contains("01xz", val):
		return fmt.Errorf("change %q of %s", line, v.Path)
	}
	if n := len(v.Changes); p.strict && (n > 0 && v.Changes[n-1].Value == val || v.at == p.now) {
		return fmt.Errorf("change %q of %s to what it is, or twice at %d", line, v.Path, p.now)
	}
	v.dumped, v.at = true, p.now
	if n := len(v.Changes); n > 0 && v.Changes[n-1].Time == p.now {
		v.Changes = v.Changes[:n-1]
	}
	if n := len(v.Changes); n == 0 || v.Changes[n-1].Value != val {
		v.Changes = append(v.Changes, Change{p.now, val})
	}
	return nil
}
