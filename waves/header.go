package waves

import (
	"fmt"
	"strconv"
	"strings"

	"rnic/hdl"
)

// header renders all that comes before the first time stamp, a directive a line.
func header(root *node, p Profile) []byte {
	h := &heading{profile: p, tables: map[string]int{}}
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
	tables  map[string]int // enum tables by content, numbered from 1
}

func (h *heading) line(s string) { h.b = append(append(h.b, s...), '\n') }

func (h *heading) scope(n *node) {
	kind := "module"
	if n.flat && h.profile == Rich {
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
	kind, bits := "wire", ""
	switch {
	case v.Text:
		kind = "string"
	case v.Signal.Kind == hdl.Enum && h.profile == Rich:
		h.table(v)
	}
	if !v.Text && !v.Clock() && (v.Signal.Role == hdl.RoleReg || v.Signal.Role == hdl.RoleLevel) {
		kind = "reg"
	}
	if v.Width > 1 {
		bits = fmt.Sprintf(" [%d:0]", v.Width-1)
	}
	h.line("$var " + kind + " " + strconv.Itoa(v.Width) + " " + string(v.id) + " " + v.Name + bits + " $end")
}

// table refers to the names of an enum's values by the attribute of GTKWave and wellen,
// and states them where they are first needed.
func (h *heading) table(v *Var) {
	var names, values []string
	for i, name := range enumNames(&v.Signal) {
		if name != "" {
			names = append(names, word(name))
			values = append(values, fmt.Sprintf("%0*b", v.Width, i))
		}
	}
	if len(names) == 0 {
		return
	}
	text := fmt.Sprintf("%d %s %s", len(names), strings.Join(names, " "), strings.Join(values, " "))
	n := h.tables[text]
	if n == 0 {
		n = len(h.tables) + 1
		h.tables[text] = n
		h.line(fmt.Sprintf("$attrbegin misc 07 %s %s %d $end", ident(v.Signal.Type), text, n))
	}
	h.line(fmt.Sprintf(`$attrbegin misc 07 "" %d $end`, n))
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
