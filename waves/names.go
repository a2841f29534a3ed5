package waves

import (
	"strconv"
	"strings"
)

// ident makes a name of letters, digits and underscores that begins with no digit:
// the only names that no reader of VCD takes for a range, a path or a command.
func ident(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			if b.Len() == 0 {
				b.WriteByte('_')
			}
			b.WriteRune(r)
		case r == '_', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

// unique gives out each name once, later claims with a number behind.
type unique map[string]bool

func (u unique) name(s string) string {
	s = ident(s)
	n := s
	for i := 2; u[n]; i++ {
		n = s + "_" + strconv.Itoa(i)
	}
	u[n] = true
	return n
}

// appendID renders the identifier code of the n-th variable: bijective base 94, least
// significant character first. Readers have a fast path for codes that are dense and
// in order of declaration.
func appendID(b []byte, n int) []byte {
	for n++; n > 0; n /= 94 {
		n--
		b = append(b, byte('!'+n%94))
	}
	return b
}

// appendText renders a string value: white space, what is not ASCII, backslash and $
// as octal escapes, which GTKWave and wellen undo.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '\\' || c == '$' {
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		} else {
			b = append(b, c)
		}
	}
	return b
}
