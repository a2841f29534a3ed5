package read_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/waves/read"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"clk", "clk", true},
		{"clk", "a.b.clk", true},
		{"clk", "a.clk.b", true}, // below
		{"clk", "a.clk2", false},
		{"a.clk", "a.b.clk", false},
		{"a.*.clk", "a.b.clk", true},
		{"a.*.clk", "a.b.c.clk", false},
		{"a.**.clk", "a.b.c.clk", true},
		{"a.**.clk", "a.clk", true},
		{"a.**", "a.b", true},
		{"**", "x", true},
		{"*", "x.y", true},
		{"st*e", "u.state", true},
		{"st*e", "u.stat", false},
		{"*_*_*", "a_b", false},
		{"*_*_*", "a_b_c", true},
		{"u.?", "u.ab", false},
		{"??", "u.ab", true},
		{"q[3]", "u.q[3]", true},
		{"q[?]", "u.q[3]", true},
		{"", "a", false},
		{"a..b", "a.b", false},
	} {
		require.Equal(t, c.want, read.Match(c.pattern, c.path), "%s of %s", c.pattern, c.path)
	}
}

func TestGlob(t *testing.T) {
	f := open(t, "testdata", "icarus.vcd")
	var got []string
	list, err := f.Glob("u", "lane*.b", "clk")
	require.NoError(t, err)
	for _, i := range list {
		got = append(got, f.Path(&f.Vars[i]))
	}
	require.Equal(t, "t.u.clk t.u.q t.lane[0].b t.lane[1].b t.clk", strings.Join(got, " "))
	_, err = f.Glob("clk", "bogus.*")
	require.EqualError(t, err, `"bogus.*" selects none of 15 signals`)
}

func TestParseTime(t *testing.T) {
	c := &read.Clock{Offset: 2, Period: 40}
	for _, x := range []struct {
		text string
		want uint64
		err  string
	}{
		{"0", 0, ""}, {"123", 123, ""}, {"0.0ns", 0, ""}, {"123ns", 1230, ""}, {"1.5us", 15000, ""}, {".5ns", 5, ""}, {"2.50ns", 25, ""},
		{"1s", 10_000_000_000, ""}, {"c0", 2, ""}, {"c100", 4002, ""}, {"400ps", 4, ""},
		{"450ps", 0, "450ps: no whole number of ticks of 100ps"},
		{"1.23ns", 0, "1.23ns: no whole number of ticks of 100ps"},
		{"", 0, `"": must be as 123ns, 1.5us or c1234`},
		{"ns", 0, `"ns": must be as 123ns, 1.5us or c1234`},
		{"-1ns", 0, `"-1ns": must be as 123ns, 1.5us or c1234`},
		{"1..2ns", 0, `"1..2ns": must be as 123ns, 1.5us or c1234`},
		{"1e3ns", 0, `"1e3ns": must be as 123ns, 1.5us or c1234`},
		{"5nn", 0, `"5nn": must be as 123ns, 1.5us or c1234`},
		{"5 ns", 0, `"5 ns": must be as 123ns, 1.5us or c1234`},
		{"c", 0, `"c": must be as 123ns, 1.5us or c1234`},
		{"c-1", 0, `"c-1": must be as 123ns, 1.5us or c1234`},
		{"18446744073709551616", 0, "18446744073709551616: beyond 64 bits"},
		{"18446744073709551615s", 0, "a time of 18446744073709551615 times 10^10 is beyond 64 bits"},
		{"c18446744073709551615", 0, "c18446744073709551615: beyond 64 bits"},
	} {
		h := read.Header{Exponent: -10}
		got, err := h.ParseTime(x.text, c)
		if x.err != "" {
			require.EqualError(t, err, x.err, x.text)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, x.want, got, x.text)
	}
	h := read.Header{}
	_, err := h.ParseTime("c5", nil)
	require.EqualError(t, err, "c5: there is no clock to count by: name one")
}

func TestFormatTime(t *testing.T) {
	for _, c := range []struct {
		ticks uint64
		exp   int
		want  string
	}{
		{0, -12, "0"}, {1, -12, "1ps"}, {16120000, -12, "16.12us"}, {1000, -12, "1ns"}, {999, -12, "999ps"}, {1001, -12, "1.001ns"},
		{5, -10, "500ps"}, {50, -10, "5ns"}, {12, 0, "12s"}, {3, 2, "300s"}, {123456789, -9, "123.456789ms"}, {math.MaxUint64, -15, "18446.744073709551615s"},
		{10, -13, "1ps"}, {1, -16, "100as"},
	} {
		require.Equal(t, c.want, read.FormatTime(c.ticks, c.exp))
	}
}

// A time that is written is read as what it was.
func TestTimesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, exp := rapid.Uint64().Draw(t, "n"), rapid.IntRange(-18, 2).Draw(t, "exp")
		s := read.FormatTime(n, exp)
		h := read.Header{Exponent: exp}
		got, err := h.ParseTime(s, nil)
		if err != nil && len(s) > 20 { // more digits than 64 bits have
			return
		}
		require.NoError(t, err, s)
		require.Equal(t, n, got, s)
	})
}

func TestClock(t *testing.T) {
	c, err := read.FindClock("testdata/icarus.vcd", "", "t.u.q")
	require.NoError(t, err)
	require.Equal(t, &read.Clock{Path: "t.u.clk", Offset: 50, Period: 100}, c)
	for at, want := range map[uint64]uint64{50: 0, 149: 0, 150: 1, 449: 3, 450: 4} {
		n, ok := c.Cycle(at)
		require.True(t, ok)
		require.Equal(t, want, n, at)
	}
	_, ok := c.Cycle(49)
	require.False(t, ok)
	c, err = read.FindClock("testdata/icarus.vcd", "", "")
	require.NoError(t, err)
	require.Equal(t, "t.clk", c.Path)
	c, err = read.FindClock("testdata/icarus.vcd", "t.lane[0].b", "")
	require.NoError(t, err)
	require.Equal(t, uint64(200), c.Period, "only where it is not x between two edges")
	c, err = read.FindClock("testdata/icarus.vcd", "t.one", "")
	require.NoError(t, err)
	require.Nil(t, c, "it has no cycle")
	c, err = read.FindClock("testdata/ghdl-zlib.fst", "", "")
	require.NoError(t, err)
	require.Equal(t, &read.Clock{Path: "g.clk", Offset: 5000000, Period: 10000000}, c)
	_, err = read.FindClock("testdata/icarus.vcd", "t.q", "")
	require.EqualError(t, err, "t.q has 4 bits: a clock has one")
	_, err = read.FindClock("testdata/icarus.vcd", "t.none", "")
	require.EqualError(t, err, "there is no signal t.none to be the clock")
}

func TestText(t *testing.T) {
	bits := &read.Var{Kind: read.Bits}
	for digits, want := range map[string]string{
		"0": "0", "x": "x", "u": "u", "00": "0x0", "0000": "0x0", "11": "0x3", "10000": "0x10", "000001010": "0xa", "xxxx": "x", "xxxxx": "x", "zz": "z", "1xxxx": "0x1x",
		"0xxxx0001": "0xx1", "x1": "0bx1", "00x0": "0b00x0", "zzzz0000": "0xz0", "xxxx0000": "0xx0", "00000000xxxx": "0xx", "1111zzzz": "0xfz", "----": "-", "0000----": "0x-",
	} {
		require.Equal(t, want, bits.Text([]byte(digits)), digits)
	}
	text := &read.Var{Kind: read.String}
	require.Equal(t, `a b\n\"é`, text.Text([]byte("a b\n\"é")))
	require.Equal(t, `"a"`, text.Long([]byte("a")))
}
