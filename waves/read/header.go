package read

import (
	"fmt"
	"strings"
)

// Kind is what values of a variable are.
type Kind uint8

const (
	Bits   Kind = iota // digits
	Real               // a float64
	String             // text
	Event              // moments
)

func (k Kind) String() string { return [...]string{"bits", "real", "string", "event"}[k] }

// Header is what a file declares.
type Header struct {
	Format   string // "VCD" or "FST"
	Date     string
	Version  string
	Exponent int // a tick is 10^Exponent seconds
	Scopes   []Scope
	Vars     []Var // in the order of declaration
	IDs      int   // values there are: those of variables are below
}

// Scope is a level of the hierarchy.
type Scope struct {
	Name   string
	Type   string // module, struct, ...
	Parent int32  // in Scopes, -1 at the top
	depth  int16
}

// Var is a variable.
type Var struct {
	Name  string // without a range that says no more than the width
	Type  string // wire, reg, ... as the file has it
	Range string // "[7:0]", or empty
	Enum  *Enum  // or nil
	ID    int32
	Scope int32 // in Scopes, -1 at the top
	Width int32 // bits; 0 unless of Bits or Event
	Kind  Kind
}

// Path is the names of scopes and variable, joined by dots.
func (h *Header) Path(v *Var) string {
	if v.Scope < 0 {
		return v.Name
	}
	return h.ScopePath(v.Scope) + "." + v.Name
}

// ScopePath is the names down to a scope; empty for -1.
func (h *Header) ScopePath(scope int32) string {
	var names []string
	for ; scope >= 0; scope = h.Scopes[scope].Parent {
		names = append(names, h.Scopes[scope].Name)
	}
	var b strings.Builder
	for i := len(names) - 1; i >= 0; i-- {
		b.WriteString(names[i])
		if i > 0 {
			b.WriteByte('.')
		}
	}
	return b.String()
}

// Timescale is that of the file as VCD has it: "1ps".
func (h *Header) Timescale() string {
	e := h.Exponent
	n := ((e % 3) + 3) % 3
	unit := map[int]string{0: "s", -3: "ms", -6: "us", -9: "ns", -12: "ps", -15: "fs", -18: "as", -21: "zs"}[e-n]
	if unit == "" {
		return fmt.Sprintf("1e%ds", e)
	}
	return []string{"1", "10", "100"}[n] + unit
}

// Enum is the names of values.
type Enum struct {
	Name  string
	names map[string]string // by digits without leading zeros
}

func newEnum(name string, literals, values []string) *Enum {
	e := &Enum{Name: name, names: make(map[string]string, len(values))}
	for i, v := range values {
		k := strings.TrimLeft(strings.ToLower(v), "0")
		if _, ok := e.names[k]; !ok {
			e.names[k] = literals[i]
		}
	}
	return e
}

// Of is the name of a value given by its digits, or empty. There is none if e is nil.
func (e *Enum) Of(digits []byte) string {
	if e == nil {
		return ""
	}
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
	}
	return e.names[string(digits)]
}

// table reads "NAME N literals values", the form of enums in both formats.
func table(words []string) (*Enum, error) {
	if len(words) < 2 {
		return nil, fmt.Errorf("a table of an enum of %d words", len(words))
	}
	n := (len(words) - 2) / 2
	if words[1] != fmt.Sprint(n) || len(words) != 2+2*n {
		return nil, fmt.Errorf("a table of an enum says %s values and has %d words for them", quote([]byte(words[1])), len(words)-2)
	}
	list := make([]string, 2*n)
	for i, w := range words[2:] {
		list[i] = string(unescape(nil, []byte(w)))
	}
	return newEnum(words[0], list[:n], list[n:]), nil
}

// parts takes the range off a name and the backslash of an escaped one. A range that
// does not say the width is an index, and stays.
func parts(name string, width int) (short, span string) {
	if rest, escaped := strings.CutPrefix(name, `\`); escaped {
		name = rest
	}
	open := strings.LastIndexByte(name, '[')
	if open <= 0 || name[len(name)-1] != ']' {
		return name, ""
	}
	span = name[open:]
	short = strings.TrimRight(name[:open], " ")
	var msb, lsb int
	if n, err := fmt.Sscanf(span, "[%d:%d]", &msb, &lsb); n != 2 || err != nil || max(msb-lsb, lsb-msb)+1 != width {
		return short + span, ""
	}
	return short, span
}
