package read

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// Text is a value as people read it: the name of an enum, one digit for one bit, hex for
// more (binary where a digit of hex cannot say which bits are x), a number, or text.
func (v *Var) Text(raw []byte) string {
	switch v.Kind {
	case Real:
		return strconv.FormatFloat(math.Float64frombits(binary.BigEndian.Uint64(raw)), 'g', -1, 64)
	case String:
		q := strconv.Quote(string(raw))
		return q[1 : len(q)-1]
	}
	if name := v.Enum.Of(raw); name != "" {
		return name
	}
	return Digits(raw)
}

// Long is Text with the digits behind the name of an enum: "RTS (0x3)".
func (v *Var) Long(raw []byte) string {
	t := v.Text(raw)
	switch {
	case v.Kind == String:
		return `"` + t + `"`
	case v.Kind == Bits && v.Enum.Of(raw) != "":
		return t + " (" + Digits(raw) + ")"
	}
	return t
}

// Digits are bits as one digit, hex or binary.
func Digits(raw []byte) string {
	if len(raw) == 1 {
		return string(raw)
	}
	if c := raw[0]; c != '0' && c != '1' && strings.Count(string(raw), string(c)) == len(raw) {
		return string(c) // x, z or u all over
	}
	var b strings.Builder
	b.WriteString("0x")
	for i := 0; i < len(raw); {
		n := (len(raw)-i-1)%4 + 1
		d := raw[i : i+n]
		i += n
		switch strings.Trim(string(d), "01") {
		case "":
			x, _ := strconv.ParseUint(string(d), 2, 8)
			if x != 0 || b.Len() > 2 || i == len(raw) {
				b.WriteByte("0123456789abcdef"[x])
			}
		case string(d):
			if strings.Count(string(d), string(d[0])) == n {
				b.WriteByte(d[0])
				continue
			}
			fallthrough
		default:
			return "0b" + string(raw)
		}
	}
	return b.String()
}
