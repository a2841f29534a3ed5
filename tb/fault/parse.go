package fault

import (
	"fmt"
	"slices"
	"strings"
)

// ParseError says what is wrong with a spec, and where.
type ParseError struct {
	Spec string
	At   int // byte in Spec, from 0
	Msg  string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("fault %q, at %d: %s", e.Spec, e.At+1, e.Msg)
}

// token is a word of a spec and where it stands.
type token struct {
	at        int
	text      string
	name      string
	value     string
	hasEquals bool
}

func tokens(spec string) (l []token) {
	at := 0
	for rest := spec; ; {
		trimmed := strings.TrimLeft(rest, " \t")
		at += len(rest) - len(trimmed)
		if trimmed == "" {
			return l
		}
		n := strings.IndexAny(trimmed+" ", " \t")
		t := token{at: at, text: trimmed[:n]}
		t.name, t.value, t.hasEquals = strings.Cut(t.text, "=")
		l = append(l, t)
		at, rest = at+n, trimmed[n:]
	}
}

// parser is a spec that is being read.
type parser struct {
	text  string
	spec  Spec
	words []word
	seen  map[string]token // by name, and by what it says
	err   error            // the first
}

func (p *parser) fail(t token, format string, args ...any) {
	if p.err == nil {
		p.err = &ParseError{p.text, t.at, fmt.Sprintf(format, args...)}
	}
}

// Parse reads a spec. Its error is a *ParseError.
func Parse(text string) (Spec, error) {
	p := parser{text: text, seen: map[string]token{}}
	all := tokens(text)
	domain := wireWords
	if slices.ContainsFunc(all, func(t token) bool { return t.text == "pcie" }) {
		domain = pcieWords
	}
	p.words = words[domain]
	for _, t := range all {
		p.word(t)
	}
	p.check()
	if p.err != nil {
		return Spec{}, p.err
	}
	return p.spec, nil
}

// word takes the next word.
func (p *parser) word(t token) {
	if v, ok := strings.CutSuffix(t.text, "%"); ok {
		p.once("rate", t)
		var err error
		if p.spec.Rate, err = percent(v); err != nil {
			p.fail(t, "%s: %v", t.text, err)
		}
		return
	}
	i := slices.IndexFunc(p.words, func(w word) bool { return w.name == t.name })
	if i < 0 {
		p.unknown(t)
		return
	}
	w := &p.words[i]
	switch {
	case t.hasEquals && w.value == "":
		p.fail(t, "%s takes no value", w.name)
		return
	case (!t.hasEquals || t.value == "") && w.value != "" && (t.hasEquals || w.value[0] != '['):
		p.fail(t, "%s needs a value: %s=%s", w.name, w.name, strings.Trim(w.value, "[]"))
		return
	}
	p.once(w.name, t)
	switch w.group {
	case action:
		p.once("action", t)
	case place:
		p.once("host", t)
	}
	if err := w.set(&p.spec, t.value); err != nil {
		p.fail(t, "%s: %v", t.text, err)
	}
}

// once demands that something is said once.
func (p *parser) once(what string, t token) {
	if before, twice := p.seen[what]; twice {
		p.fail(t, "%s: there is %s already", t.text, before.text)
	}
	p.seen[what] = t
}

// unknown says what a word may be.
func (p *parser) unknown(t token) {
	other := words[wireWords]
	where := "a fault of the wire, without pcie"
	if !p.spec.PCIe && !p.pcie() {
		other, where = words[pcieWords], "a fault of PCIe, which begins with pcie"
	}
	if slices.ContainsFunc(other, func(w word) bool { return w.name == t.name }) {
		p.fail(t, "%s belongs to %s", t.name, where)
		return
	}
	var l []string
	for _, w := range p.words {
		if w.value != "" && w.value[0] != '[' {
			w.name += "="
		}
		l = append(l, w.name)
	}
	p.fail(t, "%q is no word of a fault: must be one of %s, or a rate as 1%%", t.text, strings.Join(l, ", "))
}

// pcie tells whether the words are those of PCIe.
func (p *parser) pcie() bool { return p.words[0].name == "pcie" }

// check demands that the words go together.
func (p *parser) check() {
	s := &p.spec
	end := token{at: len(p.text)}
	has := func(name string) (token, bool) { t, ok := p.seen[name]; return t, ok }
	both := func(a, b string) {
		if t, ok := has(a); ok {
			if o, ok := has(b); ok {
				p.fail(later(t, o), "%s and %s exclude each other", earlier(t, o).text, later(t, o).text)
			}
		}
	}
	if s.Action == None {
		p.fail(end, "says not what is to happen: must have one of %s", p.actions())
	}
	for _, name := range []string{"nth", "times"} {
		both("rate", name)
	}
	if s.Named() && s.Host == Both {
		p.fail(end, "says not at which host, which only a rate as 1%% may leave open: must have a or b")
	}
	if t, ok := has("to"); ok && s.To <= s.From {
		p.fail(t, "%s: must be later than from", t.text)
	}
	if s.PCIe {
		p.checkPCIe(end)
		return
	}
	both("byte", "field")
	both("xor", "set")
	for _, name := range []string{"byte", "field", "xor", "set", "repair"} {
		if t, ok := has(name); ok && s.Action != Corrupt {
			p.fail(t, "%s belongs to corrupt", t.text)
		}
	}
	if t, ok := has("repair"); ok && s.Change.Field == "icrc" {
		p.fail(t, "repair makes the ICRC right again, and field=icrc changes it")
	}
	if t, ok := has("set"); ok && !s.Change.ByteSet && s.Change.Field == "" {
		p.fail(t, "%s needs byte= or field=", t.text)
	}
	for _, name := range []string{"xor", "set"} {
		if t, ok := has(name); ok && p.err == nil {
			if err := s.Change.fits(); err != nil {
				p.fail(t, "%s: %v", t.text, err)
			}
		}
	}
}

func (p *parser) checkPCIe(end token) {
	s := &p.spec
	if s.Action != Stop && !s.Read && !s.Write {
		p.fail(end, "says not of what: must have read or write")
	}
	if t, ok := p.seen["action"]; ok && s.Wait > maxPCIeWait {
		p.fail(t, "%s: must be at most %s on PCIe", t.text, short(maxPCIeWait))
	}
	if t, ok := p.seen["write"]; ok && s.Action == Never {
		p.fail(t, "a write has no completion that never could be sent: must be read")
	}
	if t, ok := p.seen["tag"]; ok && (s.Write || !s.Read) {
		p.fail(t, "only reads have tags: must have read and not write")
	}
}

func earlier(a, b token) token {
	if a.at < b.at {
		return a
	}
	return b
}

func later(a, b token) token {
	if a.at < b.at {
		return b
	}
	return a
}

// actions lists them.
func (p *parser) actions() string {
	var l []string
	for _, w := range p.words {
		if w.group == action {
			l = append(l, w.name)
		}
	}
	return strings.Join(l, ", ")
}
