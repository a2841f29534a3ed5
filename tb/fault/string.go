package fault

import (
	"fmt"
	"strings"
)

// String is the spec in words; Parse makes the same Spec of it.
func (s Spec) String() string {
	var l []string
	add := func(yes bool, format string, args ...any) {
		if yes {
			l = append(l, fmt.Sprintf(format, args...))
		}
	}
	host := [...]string{"", "a", "b"}[s.Host]
	if s.PCIe {
		l = append(l, "pcie")
		add(host != "", "%s", host)
		add(s.Read, "read")
		add(s.Write, "write")
	}
	l = append(l, s.what())
	if !s.PCIe {
		add(host != "", "%s", host)
		l = append(l, s.Kinds.words()...)
		l = append(l, s.Places.words()...)
	}
	c := &s.Change
	add(c.ByteSet, "byte=%d", c.Byte)
	add(c.Field != "", "field=%s", c.Field)
	add(c.Set, "set=%#x", c.Value)
	add(!c.Set && c.Value != 0, "xor=%#x", c.Value)
	add(c.Repair, "repair")
	add(s.Rate != 0, "%s", rate(s.Rate))
	add(s.Except != 0, "not=%s", strings.Join(s.Except.words(), ","))
	add(s.QP.Set, "qp=%#x", uint32(s.QP.N))
	add(s.PSN.Set && s.PSN.Relative, "psn=+%d", uint32(s.PSN.N))
	add(s.PSN.Set && !s.PSN.Relative, "psn=%#x", uint32(s.PSN.N))
	add(s.Addr.Set && s.Addr.Lo == s.Addr.Hi, "addr=%#x", s.Addr.Lo)
	add(s.Addr.Set && s.Addr.Lo != s.Addr.Hi, "addr=%#x..%#x", s.Addr.Lo, s.Addr.Hi)
	add(s.Tag.Set, "tag=%d", s.Tag.N)
	add(s.Nth != 0, "nth=%d", s.Nth)
	add(s.Times == All, "times=all")
	add(s.Times != 0 && s.Times != All, "times=%d", s.Times)
	add(s.From != 0, "from=%s", short(s.From))
	add(s.To != 0, "to=%s", short(s.To))
	return strings.Join(l, " ")
}

// what is the word of the action.
func (s *Spec) what() string {
	w := s.Action.String()
	switch {
	case s.Wait != 0:
		w += "=" + short(s.Wait)
	case s.Action == Reorder && s.Frames != 1:
		w += fmt.Sprintf("=%d", s.Frames)
	case s.Action == Truncate:
		w += fmt.Sprintf("=%d", s.Bytes)
	}
	return w
}

// MarshalText and UnmarshalText let a Spec stand in files and flags as its words.
func (s Spec) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is Parse.
func (s *Spec) UnmarshalText(b []byte) (err error) {
	*s, err = Parse(string(b))
	return err
}
