package read

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// ParseTime is a time in ticks: "123ns", "1.5us", "c1234" for the beginning of that
// cycle of a clock, or ticks without a unit. The clock may be nil.
func (h *Header) ParseTime(s string, c *Clock) (uint64, error) {
	if cycle, ok := strings.CutPrefix(s, "c"); ok {
		n, err := strconv.ParseUint(cycle, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q: must be as 123ns, 1.5us or c1234", s)
		}
		if c == nil {
			return 0, fmt.Errorf("%s: there is no clock to count by: name one", s)
		}
		hi, t := bits.Mul64(n, c.Period)
		if hi != 0 || t+c.Offset < t {
			return 0, fmt.Errorf("%s: beyond 64 bits", s)
		}
		return t + c.Offset, nil
	}
	number := strings.TrimRight(s, "munpfazs")
	exp, ok := units[s[len(number):]]
	if s[len(number):] == "" {
		exp, ok = h.Exponent, true
	}
	whole, part, _ := strings.Cut(number, ".")
	digits := whole + part
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, fmt.Errorf("%q: must be as 123ns, 1.5us or c1234", s)
	}
	exp -= len(part) + h.Exponent
	for exp < 0 && strings.HasSuffix(digits, "0") && len(digits) > 1 {
		digits, exp = digits[:len(digits)-1], exp+1
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: beyond 64 bits", s)
	}
	switch {
	case n == 0:
		return 0, nil
	case exp < 0:
		return 0, fmt.Errorf("%s: no whole number of ticks of %s", s, h.Timescale())
	}
	return Scale(n, exp)
}

// Scale is n times 10^exp.
func Scale(n uint64, exp int) (uint64, error) {
	for range exp {
		hi, m := bits.Mul64(n, 10)
		if hi != 0 {
			return 0, fmt.Errorf("a time of %d times 10^%d is beyond 64 bits", n, exp)
		}
		n = m
	}
	return n, nil
}

// FormatTime is a time of so many 10^exp seconds in the largest unit of which it has one,
// exactly.
func FormatTime(t uint64, exp int) string {
	if t == 0 {
		return "0"
	}
	for t%10 == 0 {
		t, exp = t/10, exp+1
	}
	digits := strconv.FormatUint(t, 10)
	top := exp + len(digits) - 1 // of the first digit
	unit := min(max(int(math.Floor(float64(top)/3))*3, -21), 0)
	name := map[int]string{0: "s", -3: "ms", -6: "us", -9: "ns", -12: "ps", -15: "fs", -18: "as", -21: "zs"}[unit]
	point := len(digits) + exp - unit // digits before it
	switch {
	case point >= len(digits):
		return digits + strings.Repeat("0", point-len(digits)) + name
	case point > 0:
		return digits[:point] + "." + digits[point:] + name
	}
	return "0." + strings.Repeat("0", -point) + digits + name
}

// Stamp is a time in words, with the cycle if there is a clock: "78.124us, cycle 19531".
func (h *Header) Stamp(t uint64, c *Clock) string {
	s := FormatTime(t, h.Exponent)
	if n, ok := c.Cycle(t); ok {
		s += fmt.Sprintf(", cycle %d", n)
	}
	return s
}
