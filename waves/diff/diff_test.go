package diff_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/waves/diff"
)

// head is a module with a clock, an enum and a struct; its clock rises at 0, 10, 20, ...
const head = `$timescale 1ns $end
$scope module top $end
$var wire 1 ! clk $end
$scope module u $end
$attrbegin misc 07 st 3 IDLE RUN STOP 00 01 10 1 $end
$attrbegin misc 07 "" 1 $end
$var reg 2 " state [1:0] $end
$scope struct hdr $end
$var reg 8 # len [7:0] $end
$upscope $end
$var string 1 $ note $end
$var event 1 % ev $end
$var real 64 & r $end
$upscope $end
$var wire 1 ' other $end
$upscope $end
$enddefinitions $end
`

const body = `#0
$dumpvars
1! b0 " b0 # s $ r0 & 0'
$end
#5
0!
#10
1! b1 " b11 #
#12
1%
#15
0!
#20
1! b10 " sabc $ r0.5 &
#25
0!
#30
1! 1'
#35
0!
`

func save(t testing.TB, name, text string) string {
	p := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(p, []byte(text), 0o666))
	return p
}

// compare compares two texts, with names of files without folders.
func compare(t testing.TB, a, b string, o diff.Options) (*diff.Result, error) {
	t.Helper()
	if o.History == 0 {
		o.History = 5
	}
	pa, pb := save(t, "a.vcd", a), save(t, "b.vcd", b)
	r, err := diff.Files(pa, pb, o)
	if err != nil {
		return nil, fmt.Errorf("%s", strings.NewReplacer(pa, "a.vcd", pb, "b.vcd").Replace(err.Error()))
	}
	j, err := json.Marshal(r)
	require.NoError(t, err)
	text := strings.NewReplacer(pa, "a.vcd", pb, "b.vcd").Replace(string(j))
	r = &diff.Result{}
	require.NoError(t, json.Unmarshal([]byte(text), r))
	return r, nil
}

func edited(t testing.TB, text string, edits ...string) string {
	for i := 0; i < len(edits); i += 2 {
		require.Contains(t, text, edits[i])
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	return text
}

func TestEqual(t *testing.T) {
	for name, b := range map[string]string{
		"the same":                   head + body,
		"other codes":                strings.NewReplacer(" # ", " len ", " #\n", " len\n").Replace(head + body),
		"another order":              edited(t, head+body, "1! b1 \" b11 #", "b11 # b1 \" 1!"),
		"values again and glitches":  edited(t, head+body, "#10\n1!", "#7\n0! b0 #\n#10\n1! 0! 1!"),
		"time stamps without values": edited(t, head+body, "#12", "#11\n#12"),
		"a finer timescale": strings.NewReplacer("1ns", "100ps", "#0", "#0", "#5", "#50", "#10", "#100", "#12", "#120", "#15", "#150", "#20", "#200",
			"#25", "#250", "#30", "#300", "#35", "#350").Replace(head + body),
		"a time stamp at the end": head + body + "#99\n",
		"leading zeros":           edited(t, head+body, "b11 #", "b0000011 #"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, pair := range [][2]string{{head + body, b}, {b, head + body}} {
				r, err := compare(t, pair[0], pair[1], diff.Options{})
				require.NoError(t, err)
				require.True(t, r.Equal(), "%s", r)
				require.Equal(t, 7, r.Compared)
				require.Contains(t, r.String(), "7 signals are equal from 0 to ")
			}
		})
	}
}

func TestFirst(t *testing.T) {
	for _, c := range []struct {
		name, a, b string // b: edits
		edits      []string
		when, path string
		va, vb     string
	}{
		{"an enum", "", "", []string{"b10 \"", "b11 \""}, "20ns, cycle 2", "top.u.state", "STOP (0x2)", "0x3"},
		{"a field", "", "", []string{"b11 #", "b101 #"}, "10ns, cycle 1", "top.u.hdr.len", "0x3", "0x5"},
		{"a string", "", "", []string{"sabc $", "sabd $"}, "20ns, cycle 2", "top.u.note", `"abc"`, `"abd"`},
		{"a real", "", "", []string{"r0.5", "r0.25"}, "20ns, cycle 2", "top.u.r", "0.5", "0.25"},
		{"an event that does not happen", "", "", []string{"1%\n", ""}, "12ns, cycle 1", "top.u.ev", "1", "0"},
		{"an event that happens later", "", "", []string{"#12\n1%\n", "#13\n1%\n"}, "12ns, cycle 1", "top.u.ev", "1", "0"},
		{"a change that comes later", "", "", []string{"#20\n1! b10 \"", "#20\n1!\n#21\nb10 \""}, "20ns, cycle 2", "top.u.state", "STOP (0x2)", "RUN (0x1)"},
		{"a change that comes earlier", "", "", []string{"#25\n0!", "#23\n1'\n#25\n0!"}, "23ns, cycle 2", "top.other", "0", "1"},
		{"x", "", "", []string{"b0 \" ", "bx0 \" "}, "0, cycle 0", "top.u.state", "IDLE (0x0)", "0bx0"},
		{"the clock", "", "", []string{"#25\n0!\n", "#25\n"}, "25ns, cycle 2", "top.clk", "0", "1"},
		{"the clock and more", "", "", []string{"#25\n0!\n", "#25\n1'\n"}, "25ns, cycle 2", "top.other", "0", "1"},
		{"an event that happens again", "", "", []string{"#12\n1%\n", "#12\n1%\n#13\n1%\n"}, "13ns, cycle 1", "top.u.ev", "0", "1"},
		{"the last", "", "", []string{"1! 1'", "1!"}, "30ns, cycle 3", "top.other", "1", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := compare(t, head+body, head+edited(t, body, c.edits...), diff.Options{})
			require.NoError(t, err)
			require.NotNil(t, r.First)
			f := r.First
			require.Equal(t, c.when, f.Stamp())
			require.Equal(t, diff.Signal{Path: c.path, A: c.va, B: c.vb}, f.Signals[0])
			back, err := compare(t, head+edited(t, body, c.edits...), head+body, diff.Options{})
			require.NoError(t, err)
			require.Equal(t, f.Time, back.First.Time)
			require.Equal(t, diff.Signal{Path: c.path, A: c.vb, B: c.va}, back.First.Signals[0])
		})
	}
}

// What is printed of a difference: its history, and what is around it.
func TestReport(t *testing.T) {
	r, err := compare(t, head+body, head+edited(t, body, "b10 \" sabc $ r0.5", "b1 \" sxyz $ r0.5"), diff.Options{})
	require.NoError(t, err)
	require.Equal(t, `a.vcd: VCD of 7 signals, 1ns
b.vcd: VCD of 7 signals, 1ns
7 signals are equal from 0 on, up to

20ns, cycle 2: top.u.state
  a.vcd  STOP (0x2)
  b.vcd  RUN (0x1)

its last changes
  time  a.vcd       b.vcd
  0     IDLE (0x0)  IDLE (0x0)
  10ns  RUN (0x1)   RUN (0x1)
  20ns  STOP (0x2)

what else differs then: 1 signal
              a.vcd  b.vcd
  top.u.note  "abc"  "xyz"

what else changes then in top.u: 2 signals
        a.vcd        b.vcd
  note  "" to "abc"  "" to "xyz"  differs
  r     0 to 0.5     0 to 0.5
`, r.String())
	r, err = compare(t, head+body, head+edited(t, body, "b10 \"", "b1 \""), diff.Options{History: 1})
	require.NoError(t, err)
	require.Equal(t, []diff.Moment{{Time: "10ns", A: "RUN (0x1)", B: "RUN (0x1)"}, {Time: "20ns", A: "STOP (0x2)"}}, r.First.History)
}

func TestWindow(t *testing.T) {
	b := head + edited(t, body, "b11 #", "b101 #", "b10 \"", "b11 \" b11 #")
	for _, c := range []struct {
		o    diff.Options
		want string
	}{
		{diff.Options{}, "10ns, cycle 1"},
		{diff.Options{From: "12ns"}, "12ns, cycle 1"}, // it still differs
		{diff.Options{From: "20ns"}, "20ns, cycle 2"},
		{diff.Options{From: "c2"}, "20ns, cycle 2"},
		{diff.Options{To: "9ns"}, ""},
		{diff.Options{To: "c1"}, "10ns, cycle 1"},
		{diff.Options{Ignore: []string{"hdr"}}, "20ns, cycle 2"},
		{diff.Options{Ignore: []string{"hdr.*", "state"}}, ""},
		{diff.Options{From: "12ns", To: "18ns", Ignore: []string{"len"}}, ""},
	} {
		r, err := compare(t, head+body, b, c.o)
		require.NoError(t, err)
		if c.want == "" {
			require.True(t, r.Equal(), "%+v: %s", c.o, r)
			continue
		}
		require.NotNil(t, r.First, "%+v", c.o)
		require.Equal(t, c.want, r.First.Stamp(), "%+v", c.o)
	}
}

// Files of other lengths: from where both are, to where one still changes.
func TestBeginAndEnd(t *testing.T) {
	late := head + "#20\n$dumpvars\n1! b10 \" b11 # sabc $ r0.5 & 0'\n$end\n" + body[strings.Index(body, "#25"):]
	r, err := compare(t, head+body, late, diff.Options{})
	require.NoError(t, err)
	require.True(t, r.Equal(), "%s", r)
	require.Equal(t, []string{"b.vcd begins at 20ns: compared from there"}, r.Notes)
	require.Equal(t, "20ns", r.From)

	short := head + body[:strings.Index(body, "#25")]
	r, err = compare(t, head+body, short, diff.Options{})
	require.NoError(t, err)
	require.Equal(t, "25ns, cycle 2", r.First.Stamp())
	require.Equal(t, "b.vcd", r.First.Ended)
	require.Contains(t, r.String(), "b.vcd had ended before")
	r, err = compare(t, head+body, short, diff.Options{Ignore: []string{"clk"}})
	require.NoError(t, err)
	require.Equal(t, "30ns, cycle 3", r.First.Stamp())
	r, err = compare(t, head+body, short, diff.Options{To: "24ns"})
	require.NoError(t, err)
	require.True(t, r.Equal())
	_, err = compare(t, head+body, short, diff.Options{From: "24ns"})
	require.EqualError(t, err, "b.vcd: ends at 20ns: there is nothing to compare from 24ns on")
}

// Signals of one file are told, those of another width differ.
func TestShapes(t *testing.T) {
	b := edited(t, head+body, "8 # len [7:0]", "9 # len [8:0]", " other $end", " another $end")
	r, err := compare(t, head+body, b, diff.Options{})
	require.NoError(t, err)
	require.False(t, r.Equal())
	require.Nil(t, r.First)
	require.Equal(t, []diff.Shape{{Path: "top.u.hdr.len", A: "reg of 8 bits", B: "reg of 9 bits"}}, r.Shapes)
	require.Equal(t, []string{"top.other"}, r.OnlyA)
	require.Equal(t, []string{"top.another"}, r.OnlyB)
	require.Equal(t, 5, r.Compared)
	require.Contains(t, r.String(), "1 only here: top.other")
	r, err = compare(t, head+body, edited(t, head+body, " other $end", " another $end"), diff.Options{})
	require.NoError(t, err)
	require.True(t, r.Equal())
}

// Of signals of the same path the first is the first of the other file.
func TestSamePathTwice(t *testing.T) {
	const twice = "$timescale 1ns $end\n$var wire 1 ! a $end\n$var wire 1 \" a $end\n$enddefinitions $end\n#0\n0!\n1\"\n"
	r, err := compare(t, twice, twice, diff.Options{})
	require.NoError(t, err)
	require.True(t, r.Equal(), "%s", r)
	require.Equal(t, 2, r.Compared)
}

func TestMap(t *testing.T) {
	b := edited(t, head+body, "module top", "module tb", "module u", "module dut", "b10 \"", "b11 \"")
	_, err := compare(t, head+body, b, diff.Options{})
	require.EqualError(t, err, "no signal is in both: a.vcd has top.clk, b.vcd has tb.clk; --map a.b=c.d says what is what")
	r, err := compare(t, head+body, b, diff.Options{Map: []string{"top.u=tb.dut", "top=tb"}})
	require.NoError(t, err)
	require.Equal(t, diff.Signal{Path: "top.u.state", PathB: "tb.dut.state", A: "STOP (0x2)", B: "0x3"}, r.First.Signals[0])
	require.Contains(t, r.String(), "in b.vcd it is tb.dut.state")
	require.Empty(t, r.OnlyA)
	for _, c := range []struct{ rule, want string }{
		{"top", "--map top: must be as a.b=c.d"},
		{"to=tb", "--map to=tb: a.vcd has nothing below to"},
		{"top=elsewhere", "no signal is in both: a.vcd has top.clk, b.vcd has tb.clk; --map a.b=c.d says what is what"},
	} {
		_, err = compare(t, head+body, b, diff.Options{Map: []string{c.rule}})
		require.EqualError(t, err, c.want)
	}
	// A level more, and one less.
	inner := strings.Replace(edited(t, head+body, "$scope module top", "$scope module tb $end\n$scope module top"), "$enddefinitions", "$upscope $end\n$enddefinitions", 1)
	r, err = compare(t, head+body, inner, diff.Options{Map: []string{"=tb"}})
	require.NoError(t, err)
	require.True(t, r.Equal())
	require.Equal(t, 7, r.Compared)
	r, err = compare(t, inner, head+body, diff.Options{Map: []string{"tb="}})
	require.NoError(t, err)
	require.True(t, r.Equal())
	require.Equal(t, 7, r.Compared)
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		a    string
		o    diff.Options
		want string
	}{
		{head, diff.Options{}, "a.vcd: has no time stamp"},
		{head + body + "#3\n", diff.Options{}, "a.vcd: line 38: time 3 after 35"},
		{head + body, diff.Options{From: "soon"}, `--from "soon": must be as 123ns, 1.5us or c1234`},
		{head + body, diff.Options{From: "5ns", To: "4ns"}, "--to 4ns: before --from 5ns"},
		{head + body, diff.Options{From: "c1", Clock: "top.clock"}, "there is no signal top.clock to be the clock"},
		{head + body, diff.Options{From: "99ns"}, "a.vcd: ends at 35ns: there is nothing to compare from 99ns on"},
		{head + body, diff.Options{Ignore: []string{"**"}}, "nothing is left to compare: all that is in both is ignored"},
	} {
		_, err := compare(t, c.a, head+body, c.o)
		require.EqualError(t, err, c.want)
	}
}

// The first difference is where two lists of changes say it is.
func TestAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type moves = map[int]map[int]int // by time, signal: value
		gen := func(label string) moves {
			m := moves{}
			for range rapid.IntRange(0, 6).Draw(rt, label) {
				at := rapid.IntRange(1, 8).Draw(rt, "time")
				if m[at] == nil {
					m[at] = map[int]int{}
				}
				m[at][rapid.IntRange(0, 2).Draw(rt, "signal")] = rapid.IntRange(0, 1).Draw(rt, "value")
			}
			return m
		}
		write := func(m moves) string {
			var b strings.Builder
			b.WriteString("$timescale 1ns $end\n$var wire 1 ! a $end\n$var wire 1 \" b $end\n$var wire 1 # c $end\n$enddefinitions $end\n#0\n0! 0\" 0#\n")
			for at := 1; at <= 9; at++ {
				if m[at] != nil || at == 9 {
					fmt.Fprintf(&b, "#%d\n", at)
				}
				for s := range 3 {
					if v, ok := m[at][s]; ok {
						fmt.Fprintf(&b, "%d%c\n", v, "!\"#"[s])
					}
				}
			}
			return b.String()
		}
		a, b := gen("a"), gen("b")
		want := ""
		var va, vb [3]int
		for at := 1; at <= 9 && want == ""; at++ {
			for s := range 3 {
				if v, ok := a[at][s]; ok {
					va[s] = v
				}
				if v, ok := b[at][s]; ok {
					vb[s] = v
				}
				if va[s] != vb[s] {
					want += string(rune('a' + s))
				}
			}
			if want != "" {
				want = fmt.Sprintf("%dns %s", at, want)
			}
		}
		r, err := compare(t, write(a), write(b), diff.Options{})
		require.NoError(rt, err)
		got := ""
		if r.First != nil {
			got = r.First.Time + " "
			for _, s := range r.First.Signals {
				got += s.Path
			}
		}
		require.Equal(rt, want, got)
	})
}

func TestOneSignal(t *testing.T) {
	one := "$timescale 1ps $end\n$scope module t $end\n$var wire 1 ! a $end\n$upscope $end\n$enddefinitions $end\n#0\n1!\n#5\n"
	r, err := compare(t, one, one, diff.Options{})
	require.NoError(t, err)
	require.Equal(t, "a.vcd: VCD of 1 signal, 1ps\nb.vcd: VCD of 1 signal, 1ps\n1 signal is equal from 0 to 5ps\n", r.String())
}
