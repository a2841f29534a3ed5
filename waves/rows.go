package waves

import (
	"fmt"
	"strings"

	"rnic/hdl"
)

// RowLag is how many cycles after an instant a row may still be told what it shows
// from then on: so a packet's name, known from its headers, can stand at its first
// beat.
const RowLag = 4096

// Row is a string variable that is no signal of the hardware: what it shows is said by
// whoever watches, such as the name of the packet that is on a wire. It is empty until
// the first Set. In a file without strings, in none, or where Options.Scopes leaves it
// out, Set does nothing, so that whoever has a row need not ask. One row may be in
// several files at once.
type Row struct {
	Path string // scopes, that the design has or not, and a name, joined by dots: kernel first
	into []*track
}

// Set has the row show a text from a time in ps on, in the past of the row's kernel by
// at most RowLag cycles, at present or in the future; of texts of one instant the last
// counts. It is for observers, agents and threads of that kernel. A time before that
// of an earlier Set, or too far in the past, is a Fault of "waves". The text may have
// any bytes.
func (r *Row) Set(ps int64, text string) {
	for _, t := range r.into {
		t.set(ps, text)
	}
}

// addRows puts rows into the scopes of their kernels.
func (n *node) addRows(rows []*Row, kernels []*hdl.Kernel) error {
	for _, r := range rows {
		at := -1
		var names []string
		for i, k := range kernels {
			if rest, ok := strings.CutPrefix(r.Path, k.Name()+"."); ok && at < 0 {
				at, names = i, strings.Split(rest, ".")
			}
		}
		if at < 0 {
			return fmt.Errorf("waves: row %q is below none of the kernels", r.Path)
		}
		scope := n.kids[at]
		for i, name := range names {
			switch {
			case name == "":
				return fmt.Errorf("waves: row %q has a part without a name", r.Path)
			case i < len(names)-1:
				scope = scope.child(name, false)
			default:
				scope.add(name, &Var{Width: 1, Row: true, Kernel: at, row: r})
			}
		}
	}
	return nil
}

// track is a row in a file.
type track struct {
	v      *Var
	g      *rowing
	code   code
	shown  string // what the file says
	begins string // what it is to say at its beginning
	events []event
	last   int64 // time of the last Set
}

// event is a Set that is not in the file yet.
type event struct {
	ps    int64
	text  string
	track int
}

func (t *track) set(ps int64, text string) {
	g := t.g
	switch oldest := (int64(g.k.Cycle()) - RowLag) * g.k.PeriodPs(); {
	case ps < t.last:
		t.fault("is set at %d ps after %d ps", ps, t.last)
	case ps < oldest:
		t.fault("is set at %d ps, more than %d cycles late", ps, RowLag)
	}
	t.last = ps
	switch {
	case ps <= g.from && !g.begun:
		t.begins = text
	case ps > g.from && ps <= g.to:
		t.events = append(t.events, event{ps: ps, text: text})
	}
}

func (t *track) fault(format string, args ...any) {
	msg := fmt.Sprintf("row %s ", t.v.Path) + fmt.Sprintf(format, args...)
	panic(&hdl.Fault{Path: "waves", Cycle: t.g.k.Cycle(), Msg: msg})
}
