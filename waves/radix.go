package waves

import (
	"fmt"
	"strings"

	"rnic/hdl"
)

// Flags of a trace in GTKWave.
const (
	showHex    = 0x22
	showDec    = 0x24
	showBin    = 0x28
	showSigned = 0x420
	showText   = 0x820
	showFile   = 0x2000      // names from a file
	showEnum   = 0x100000028 // names from the FST, which has them by binary digits
)

// Colours of traces in GTKWave.
const (
	red    = 1
	orange = 2
	yellow = 3
	violet = 7
)

// counts are the words of names, and the types, of what people count and tshark prints
// in decimal; everything else wider than a bit is in hexadecimal.
var counts = wordSet("count len length n num size bytes beats pieces left remaining total depth space level credits psn msn ssn cycles tick timer retry retries budget window wait ahead free used pos head tail")

// errs are the words of names that tell of something gone wrong.
var errs = wordSet("err error errors nak bad drop drops dropped fail failed fault overrun overflow underrun refused timeout malformed")

func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

func hasWord(name string, set map[string]bool) bool {
	for _, w := range strings.Split(name, "_") {
		if set[w] {
			return true
		}
	}
	return false
}

// radix is how a variable's value is written.
func radix(v *Var) int {
	s := &v.Signal
	typ := strings.ToLower(s.Type[strings.LastIndexByte(s.Type, '.')+1:])
	switch {
	case v.text():
		return showText
	case v.Width == 1:
		return showBin
	case s.Kind == hdl.Int:
		return showSigned
	case s.Kind == hdl.Uint && s.Role != hdl.RoleRAMAddr && v.Width <= 32 &&
		(s.Role == hdl.RoleCount || hasWord(v.Name, counts) || counts[typ]):
		return showDec
	}
	return showHex
}

// colour is 0 for GTKWave's own.
func colour(v *Var) int {
	switch s := &v.Signal; {
	case v.Clock():
		return 0
	case hasWord(v.Name, errs):
		return red
	case v.text() || s.Kind == hdl.Enum:
		return orange
	case s.Role == hdl.RoleTake || s.Role == hdl.RolePut:
		return yellow
	case s.Role == hdl.RolePayload:
		return violet
	}
	return 0
}

// translate writes the names of an enum's values to a file of their own, once each,
// and gives its number; 0 if there is none. Values are in hexadecimal as the trace is;
// those that tell of an error are red.
func (s *saver) translate(v *Var) int {
	if s.view.Translate == nil || s.err != nil {
		return 0
	}
	var b strings.Builder
	for x, name := range enumNames(&v.Signal) {
		if name == "" {
			continue
		}
		name = word(name)
		if hasWord(strings.ToLower(name), errs) {
			name = "?red?" + name
		}
		fmt.Fprintf(&b, "%0*X %s\n", (v.Width+3)/4, x, name)
	}
	if b.Len() == 0 {
		return 0
	}
	n := s.files[b.String()]
	if n == 0 {
		n = len(s.files) + 1
		s.files[b.String()] = n
		w, err := s.view.Translate(s.file(n))
		if err == nil {
			if _, err = w.Write([]byte(b.String())); err == nil {
				err = w.Close()
			} else {
				w.Close()
			}
		}
		s.err = err
	}
	return n
}

// file is the name of the n-th file of translations.
func (s *saver) file(n int) string { return fmt.Sprintf("%s.enum%d.txt", s.name, n) }
