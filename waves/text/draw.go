package text

import (
	"strings"
	"unicode/utf8"

	"rnic/waves/read"
)

// Style is how a drawing looks.
type Style struct {
	Width int // columns of the terminal
	ASCII bool
}

// Most of a name and of a value that is shown.
const (
	maxNameShown = 40
	maxCell      = 24
	minCell      = 2
)

// glyphs are the signs of a style.
type glyphs struct {
	low, high, rise, fall, edge, x, z, happens, gap, cut string
}

var (
	unicode = glyphs{"▁", "▔", "╱", "╲", "│", "░", "┄", "↑", "┊", "…"}
	ascii   = glyphs{"_", "-", "/", "\\", "|", "x", "z", "^", ":", "~"}
)

// Drawing puts samples into panels.
type Drawing struct {
	out    *strings.Builder
	head   *read.Header
	vars   []*read.Var
	clock  *read.Clock
	names  []string
	left   int // width of names
	style  Style
	g      glyphs
	shown  []string // the values before the panel
	panel  []*Sample
	panels int
}

// NewDrawing draws signals of a file.
func NewDrawing(f *read.File, w Window, style Style) *Drawing {
	d := &Drawing{out: &strings.Builder{}, head: &f.Header, clock: w.Clock, style: style, g: unicode}
	if style.ASCII {
		d.g = ascii
	}
	for _, i := range w.Signals {
		v := &f.Vars[i]
		d.vars = append(d.vars, v)
		d.names = append(d.names, f.Path(v))
	}
	if common := prefix(d.names); common != "" {
		d.out.WriteString(common + "\n")
		for i, n := range d.names {
			d.names[i] = n[len(common)+1:]
		}
	}
	d.left = len("cycle")
	for i, n := range d.names {
		if r := []rune(n); len(r) > maxNameShown {
			n = d.g.cut + string(r[len(r)-maxNameShown+1:])
		}
		d.names[i] = n
		d.left = max(d.left, utf8.RuneCountInString(n))
	}
	return d
}

// prefix is the scopes that all names begin with.
func prefix(names []string) string {
	if len(names) == 0 {
		return ""
	}
	p := names[0]
	for _, n := range names {
		for p != "" && !strings.HasPrefix(n, p+".") {
			p = p[:max(strings.LastIndexByte(p, '.'), 0)]
		}
	}
	return p
}

// Add adds a sample. When it does not fit, what was before is drawn.
func (d *Drawing) Add(s *Sample) {
	if len(d.panel) > 0 {
		d.panel = append(d.panel, s)
		if sum(d.layout()) <= d.style.Width-d.left-2 {
			return
		}
		d.panel = d.panel[:len(d.panel)-1]
		d.flush()
	}
	d.panel = append(d.panel, s)
}

// Text is what has been drawn since it was called last.
func (d *Drawing) Text() string {
	t := d.out.String()
	d.out.Reset()
	return t
}

// End draws what is left.
func (d *Drawing) End() string {
	if len(d.panel) > 0 {
		d.flush()
	}
	return d.Text()
}

func sum(widths []int) (n int) {
	for _, w := range widths {
		n += w
	}
	return n
}

// level tells whether a signal is drawn as a line: one bit, without names.
func level(v *read.Var) bool { return v.Kind == read.Bits && v.Width == 1 && v.Enum == nil }

// layout is the width of each column: as much as what begins there needs, unless it has
// room over several.
func (d *Drawing) layout() []int {
	w := make([]int, len(d.panel))
	for i := range w {
		w[i] = minCell
		if d.panel[i].Gap {
			w[i]++
		}
	}
	for i, v := range d.vars {
		if level(v) || v.Kind == read.Event {
			continue
		}
		for from := 0; from < len(w); {
			to := from + 1
			for to < len(w) && !d.panel[to].Changed[i] {
				to++
			}
			need := 1 + min(utf8.RuneCountInString(d.panel[from].Values[i]), maxCell)
			if have := sum(w[from:to]); have < need+1 {
				w[from] += need + 1 - have
			}
			from = to
		}
	}
	return w
}

// flush draws the panel.
func (d *Drawing) flush() {
	if d.panels++; d.panels > 1 {
		d.out.WriteByte('\n')
	}
	w := d.layout()
	d.header("time", w, func(s *Sample) string { return read.FormatTime(s.Time, d.head.Exponent) })
	if d.clock != nil {
		d.header("cycle", w, func(s *Sample) string {
			n, ok := d.clock.Cycle(s.Time)
			if !ok {
				return ""
			}
			return decimal(n)
		})
	}
	for i, v := range d.vars {
		var line strings.Builder
		for c := range d.panel {
			s := d.panel[c]
			n := w[c]
			drawn := level(v) || v.Kind == read.Event
			if s.Gap && (drawn || c == 0 || s.Changed[i]) {
				line.WriteString(d.g.gap)
				n--
			}
			switch {
			case v.Kind == read.Event:
				if s.Values[i] == "1" {
					line.WriteString(d.g.happens)
					n--
				}
				line.WriteString(strings.Repeat(" ", n))
			case level(v):
				line.WriteString(d.line(d.before(c, i), s.Values[i], n))
			default:
				d.box(&line, w, c, i)
			}
		}
		d.row(d.names[i], line.String())
	}
	d.shown = d.panel[len(d.panel)-1].Values
	d.panel = d.panel[:0]
}

// before is the value before a column.
func (d *Drawing) before(c, i int) string {
	if c > 0 {
		return d.panel[c-1].Values[i]
	}
	if d.shown != nil {
		return d.shown[i]
	}
	return d.panel[0].Values[i]
}

// line is a level of n signs, that begins with an edge if it is another than before.
func (d *Drawing) line(before, now string, n int) string {
	sign := map[string]string{"0": d.g.low, "1": d.g.high, "x": d.g.x, "z": d.g.z}[now]
	if sign == "" {
		sign = now // of std_logic
	}
	edge := sign
	switch {
	case before == now:
	case before == "0" && now == "1":
		edge = d.g.rise
	case before == "1" && now == "0":
		edge = d.g.fall
	default:
		edge = d.g.edge
	}
	return edge + strings.Repeat(sign, n-1)
}

// box writes what of a value is in a column: all of it where it begins, and spaces.
func (d *Drawing) box(line *strings.Builder, w []int, c, i int) {
	s := d.panel[c]
	if c > 0 && !s.Changed[i] {
		return // written with the column where it began
	}
	room := w[c]
	if s.Gap {
		room--
	}
	gaps := []int{}
	to := c + 1
	for ; to < len(w) && !d.panel[to].Changed[i]; to++ {
		if d.panel[to].Gap {
			gaps = append(gaps, room)
		}
		room += w[to]
	}
	edge := " "
	if d.before(c, i) != s.Values[i] || c == 0 && d.shown == nil {
		edge = d.g.edge
	}
	text := []rune(edge + s.Values[i])
	if len(text) > room {
		text = append(text[:room-1], []rune(d.g.cut)...)
	}
	for len(text) < room {
		text = append(text, ' ')
	}
	for _, g := range gaps {
		if text[g] == ' ' {
			text[g] = []rune(d.g.gap)[0]
		}
	}
	line.WriteString(string(text))
}

// header writes labels of columns, as far as there is room for them.
func (d *Drawing) header(name string, w []int, label func(*Sample) string) {
	var line strings.Builder
	at, end := 0, 0 // of the column, of what is written
	before := ""
	for c, s := range d.panel {
		skip := 0
		if s.Gap {
			skip = 1
		}
		l := label(s)
		if l != before && l != "" && at+skip >= end && at+skip+1+len(l) <= d.style.Width-d.left-2 {
			line.WriteString(strings.Repeat(" ", at+skip-end) + d.g.edge + l)
			end = at + skip + 1 + len(l)
		}
		before = l
		at += w[c]
	}
	d.row(name, line.String())
}

func (d *Drawing) row(name, line string) {
	pad := strings.Repeat(" ", d.left-utf8.RuneCountInString(name))
	d.out.WriteString(strings.TrimRight(name+pad+"  "+line, " ") + "\n")
}
