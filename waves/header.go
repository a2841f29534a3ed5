package waves

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"rnic/hdl"
)

// header renders all that comes before the first time stamp, a directive a line.
func header(root *node, p Profile) []byte {
	h := &heading{profile: p, tables: newTables()}
	h.line("$date simulated time $end")
	h.line("$version rnic $end")
	h.line("$timescale 1ps $end")
	for _, k := range root.kids {
		h.scope(k)
	}
	h.line("$enddefinitions $end")
	return h.b
}

type heading struct {
	b       []byte
	profile Profile
	tables  tables
}

func (h *heading) line(s string) { h.b = append(append(h.b, s...), '\n') }

func (h *heading) scope(n *node) {
	kind := "module"
	if n.structure(h.profile) {
		kind = "struct"
	}
	h.line("$scope " + kind + " " + n.ident + " $end")
	for _, v := range n.vars {
		h.variable(v)
	}
	for _, k := range n.kids {
		h.scope(k)
	}
	h.line("$upscope $end")
}

func (h *heading) variable(v *Var) {
	kind := "wire"
	switch {
	case v.text():
		kind = "string"
	case v.held():
		kind = "reg"
	}
	if h.profile == Rich {
		h.table(v)
	}
	h.line("$var " + kind + " " + strconv.Itoa(v.Width) + " " + string(appendID(nil, v.n)) + " " + v.declared() + " $end")
}

// structure tells whether the scope shows as a struct.
func (n *node) structure(p Profile) bool { return n.flat && p == Rich }

// held tells whether the variable keeps its value by itself.
func (v *Var) held() bool {
	return v.register() || v.Signal.Role == hdl.RoleLevel
}

// declared is the variable's name with its range.
func (v *Var) declared() string {
	if v.Width > 1 {
		return fmt.Sprintf("%s [%d:0]", v.Name, v.Width-1)
	}
	return v.Name
}

// table refers to the names of an enum's values by the attribute of GTKWave and wellen,
// and states them where they are first needed.
func (h *heading) table(v *Var) {
	text, n, first := h.tables.of(v)
	if first {
		h.line(fmt.Sprintf("$attrbegin misc 07 %s %d $end", text, n))
	}
	if n > 0 {
		h.line(fmt.Sprintf(`$attrbegin misc 07 "" %d $end`, n))
	}
}

// tables is the tables of enums of a file by content, numbered from 1.
type tables struct {
	numbers map[string]int
	known   map[reflect.Type]table // for an enum has many variables
}

// table is what of gives.
type table struct {
	text string
	n    int
}

func newTables() tables { return tables{map[string]int{}, map[reflect.Type]table{}} }

// of is the table of a variable, its number, and whether the file has it not yet; the
// number is 0 if the variable has none. A table is the enum's name, how many values
// have names, the names, the values.
func (l tables) of(v *Var) (text string, n int, first bool) {
	if v.text() || v.Signal.Kind != hdl.Enum {
		return "", 0, false
	}
	enum := v.Signal.Enum
	if t, ok := l.known[enum]; ok && enum != nil {
		return t.text, t.n, false
	}
	defer func() { l.known[enum] = table{text, n} }()
	var names, values []string
	for i, name := range enumNames(&v.Signal) {
		if name != "" {
			names = append(names, word(name))
			values = append(values, fmt.Sprintf("%0*b", v.Width, i))
		}
	}
	if len(names) == 0 {
		return "", 0, false
	}
	list := fmt.Sprintf("%d %s %s", len(names), strings.Join(names, " "), strings.Join(values, " "))
	if n = l.numbers[list]; n == 0 {
		n, first = len(l.numbers)+1, true
		l.numbers[list] = n
	}
	return ident(v.Signal.Type) + " " + list, n, first
}

// word makes a name one token of the header.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f || r == '$' || r == '\\' || r == '"' {
			return '_'
		}
		return r
	}, s)
}

// enumTable is the widest enum, in bits, whose names are listed in tables.
const enumTable = 8

// enumNames lists the names of an enum by value, empty where a value has none; nil for
// enums too wide to list.
func enumNames(s *hdl.Signal) []string {
	if s.Names == nil || s.Width > enumTable {
		return nil
	}
	l := make([]string, 1<<s.Width)
	for v := range l {
		if name := s.Names(uint64(v)); name != strconv.Itoa(v) {
			l[v] = name
		}
	}
	return l
}
