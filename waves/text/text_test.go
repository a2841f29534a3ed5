package text_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/waves/read"
	"rnic/waves/text"
)

const example = `$timescale 1ns $end
$scope module top $end
$var wire 1 ! clk $end
$attrbegin misc 07 st 3 IDLE RUN STOPPED 00 01 10 1 $end
$attrbegin misc 07 "" 1 $end
$var reg 2 " state [1:0] $end
$scope module u $end
$var reg 8 # len [7:0] $end
$var string 1 $ note $end
$var event 1 % ev $end
$var wire 1 ' x_z $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
1! b0 " b0 # s $ x'
#5
0! 1%
#10
1! b1 " b11111111 # z'
#15
0! sa\040long\040text\040that\040is\040cut\040here $
#20
1! b10 " 1%
#25
0! 0'
#30
1!
#35
0!
#40
1! b0 " 1'
#45
0!
#50
1!
`

// drawn is what is drawn of a file.
func drawn(t testing.TB, data string, style text.Style, cycles bool, from, to uint64, patterns ...string) string {
	t.Helper()
	f, err := read.NewVCD("a.vcd", strings.NewReader(data))
	require.NoError(t, err)
	list, err := f.Glob(patterns...)
	require.NoError(t, err)
	w := text.Window{From: from, To: to, Signals: list, Cycles: cycles, Clock: &read.Clock{Path: "top.clk", Period: 10}}
	s, err := text.NewSampler(f, w)
	require.NoError(t, err)
	d := text.NewDrawing(f, w, style)
	var b strings.Builder
	x, err := s.Begin()
	for ; x != nil && err == nil; x, err = s.Next() {
		d.Add(x)
		b.WriteString(d.Text())
	}
	require.NoError(t, err)
	b.WriteString(d.End())
	return "\n" + b.String()
}

func TestDrawing(t *testing.T) {
	require.Equal(t, `
top
time    │0  │5ns │15ns      │20ns│30ns │45ns
cycle   │0    │1            │2   │3  │4  │5
clk     ▔▔▔▔╲▁╱▔▔╲▁▁▁▁▁▁▁▁▁▁╱▔▔╲▁╱▔╲▁╱▔╲▁╱▔
state   │IDLE │RUN          │STOPPED │IDLE
u.len   │0x0  │0xff
u.note  │        │a long text that is cut …
u.ev        ↑               ↑
u.x_z   ░░░░░░│┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄│▁▁▁▁▁╱▔▔▔▔▔
`, drawn(t, example, text.Style{Width: 100}, false, 0, text.All, "top"))
	require.Equal(t, `
top
time    |0  |5ns |15ns      |20ns|30ns |45ns
cycle   |0    |1            |2   |3  |4  |5
clk     ----\_/--\__________/--\_/-\_/-\_/-
state   |IDLE |RUN          |STOPPED |IDLE
u.len   |0x0  |0xff
u.note  |        |a long text that is cut ~
u.ev        ^               ^
u.x_z   xxxxxx|zzzzzzzzzzzzzzzz|_____/-----
`, drawn(t, example, text.Style{Width: 100, ASCII: true}, false, 0, text.All, "top"))
}

// What begins in a panel and goes on in the next is named there again, without an edge.
func TestPanels(t *testing.T) {
	require.Equal(t, `
top
time   │5ns  │10ns│20ns│30ns
cycle  │0    │1   │2   │3
clk    ▁▁▁▁▁▁╱▔▔╲▁╱▔▔╲▁╱▔╲▁
state  │IDLE │RUN │STOPPED
u.len  │0x0  │0xff

time   │40ns
cycle  │4
clk    ╱▔▔▔▔▔
state  │IDLE
u.len   0xff
`, drawn(t, example, text.Style{Width: 28}, false, 5, 44, "top.clk", "state", "len"))
}

// A panel is as wide as it may be, and no wider; what is cut goes on in the next.
func TestWidth(t *testing.T) {
	for width := 40; width < 120; width += 7 {
		got := drawn(t, example, text.Style{Width: width}, false, 0, text.All, "top")
		for l := range strings.Lines(got) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(l, "\n")), width, "%d: %s", width, got)
		}
	}
}

// By cycle, what changes in between shows in the next, and quiet cycles are left out.
func TestCycles(t *testing.T) {
	require.Equal(t, `
top
time   │0    │10ns│20ns     │40ns
cycle  │0    │1   │2        │4
state  │IDLE │RUN │STOPPED ┊│IDLE
u.len  │0x0  │0xff         ┊
`, drawn(t, example, text.Style{Width: 100}, true, 0, text.All, "state", "len"))
}

// No column may differ from what the file says: the values of a drawing of a wide
// window are those at each time.
func TestSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString("$timescale 1ns $end\n$var wire 1 ! clk $end\n$var wire 4 \" v $end\n$enddefinitions $end\n")
		var at [40]int
		v := 0
		moves := map[int]int{}
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			moves[rapid.IntRange(1, 39).Draw(t, "at")] = rapid.IntRange(0, 3).Draw(t, "v")
		}
		for i := range at {
			if i%4 == 0 || i%4 == 2 {
				fmt.Fprintf(&b, "#%d\n%d!\n", i, 1-i%4/2)
			}
			if m, ok := moves[i]; ok || i == 0 {
				v = m
				fmt.Fprintf(&b, "#%d\nb%b \"\n", i, v)
			}
			at[i] = v
		}
		f, err := read.NewVCD("a.vcd", strings.NewReader(b.String()))
		require.NoError(t, err)
		from := rapid.IntRange(0, 30).Draw(t, "from")
		to := rapid.IntRange(from, 39).Draw(t, "to")
		cycles := rapid.Bool().Draw(t, "cycles")
		s, err := text.NewSampler(f, text.Window{From: uint64(from), To: uint64(to), Signals: []int{1}, Cycles: cycles, Clock: &read.Clock{Path: "clk", Period: 4}})
		require.NoError(t, err)
		x, err := s.Begin()
		shown := map[int]string{}
		for ; x != nil && err == nil; x, err = s.Next() {
			require.NotContains(t, shown, int(x.Time))
			shown[int(x.Time)] = x.Values[0]
		}
		require.NoError(t, err)
		last := ""
		for i := from; i <= to; i++ {
			if cycles && i%4 != 0 {
				require.NotContains(t, shown, i)
				continue
			}
			want := fmt.Sprintf("0x%x", at[i])
			if got, ok := shown[i]; ok {
				require.Equal(t, want, got, "at %d", i)
			} else if last != "" {
				require.Equal(t, last, want, "at %d: no sample", i)
			}
			last = want
		}
	})
}
