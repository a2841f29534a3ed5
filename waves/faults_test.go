package waves_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
	"rnic/waves/wavetest"
)

// Faults that other writers of VCD had, by the project's catalogue of them.

// B251: initial values missing.
func TestB251EveryVariableIsDumped(t *testing.T) {
	for _, o := range []waves.Options{{}, {Profile: waves.Portable}, {From: 90_000}} {
		text := record(t, 50, o, hdl.Options{})
		head, body, ok := strings.Cut(text, "$enddefinitions $end\n")
		require.True(t, ok)
		dump, _, ok := strings.Cut(body, "\n$end\n")
		require.True(t, ok)
		require.True(t, strings.HasPrefix(dump, fmt.Sprintf("#%d\n$dumpvars\n", o.From)))
		for _, m := range regexp.MustCompile(`(?m)^\$var \w+ \d+ (\S+) `).FindAllStringSubmatch(head, -1) {
			require.Regexp(t, `(?m)^([01x]|[bs]\S* )`+regexp.QuoteMeta(m[1])+`$`, dump)
		}
	}
}

// B253: the timescale is integral, and times are exact after 10^9 cycles.
func TestB253ExactTimes(t *testing.T) {
	for _, period := range []int64{3200, 3103} {
		var b bytes.Buffer
		k := elaborate(t, "top", 1_000_000_000, hdl.Options{PeriodPs: period})
		v, err := waves.New(&b, waves.Options{}, k)
		require.NoError(t, err)
		require.NoError(t, k.Run(1_000_000_010))
		require.NoError(t, v.Close())
		f := check(t, b.String())
		require.Equal(t, "1ps", f.Timescale)
		at := 1_000_000_000 * period
		require.Equal(t, "IDLE", f.At("top.tx.state_name", at-1))
		require.Equal(t, "SEND", f.At("top.tx.state_name", at))
		require.Equal(t, "1", f.At("top.clk", at+period/2-1))
		require.Equal(t, "0", f.At("top.clk", at+period/2))
		require.Equal(t, "1", f.At("top.clk", at+period))
	}
}

// B255: names with dots, spaces, brackets, colons.
func TestB255Names(t *testing.T) {
	for _, name := range []string{"q[3].state", "a b", "x:1", "$end", "größe", ""} {
		var b bytes.Buffer
		k := elaborate(t, name, 20, hdl.Options{})
		twin := elaborate(t, name, 20, hdl.Options{})
		v, err := waves.New(&b, waves.Options{}, k, twin)
		require.NoError(t, err)
		require.NoError(t, hdl.NewWorld(10, k, twin).Run(func() bool { return k.Cycle() >= 50 }, 100))
		require.NoError(t, v.Close())
		f := check(t, b.String())
		require.Len(t, f.Vars, 52)
		wavetest.RoundTrip(t, save(t, "names.vcd", b.String()))
	}
}

// B260, B261, B263: header and trailer, integral times, separated tokens, scopes with
// a type, balanced.
func TestB260B261B263Form(t *testing.T) {
	for _, o := range []waves.Options{{}, {Profile: waves.Portable}} {
		text := record(t, 50, o, hdl.Options{})
		require.True(t, strings.HasSuffix(text, "\n"))
		check(t, text)
		_, undated, _ := strings.Cut(text, "\n")
		require.Equal(t, check(t, text), check(t, undated), "it needs its $date")
		depth := 0
		for l := range strings.Lines(text) {
			l = strings.TrimSuffix(l, "\n")
			switch {
			case strings.HasPrefix(l, "$scope"):
				require.Regexp(t, `^\$scope (module|struct) \w+ \$end$`, l)
				depth++
			case strings.HasPrefix(l, "$upscope"):
				require.Equal(t, "$upscope $end", l)
				depth--
			case strings.HasPrefix(l, "$var"):
				require.Regexp(t, `^\$var (wire|reg|string) \d+ [!-~]+ \w+( \[\d+:0\])? \$end$`, l)
			case l[0] == '#':
				require.Regexp(t, `^#\d+$`, l)
			}
		}
		require.Zero(t, depth)
	}
	require.NotRegexp(t, `string|struct|attr`, record(t, 50, waves.Options{Profile: waves.Portable}, hdl.Options{}))
}

// clk has an edge for every step of the kernel and none in between.
func TestClockRestsWhereTheKernelJumps(t *testing.T) {
	var b bytes.Buffer
	k := elaborate(t, "top", 50, hdl.Options{})
	v, err := waves.New(&b, waves.Options{}, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(4020))
	require.NoError(t, v.Close())
	f := check(t, b.String())
	falls, unknown := 0, 0
	for i, c := range f.Find("top.clk").Changes {
		switch c.Value {
		case "1":
			require.Zero(t, c.Time%4000)
		case "0":
			require.Equal(t, int64(2000), c.Time%4000)
			falls++
		case "x":
			require.Equal(t, int64(2000), c.Time%4000)
			unknown++
			if i+1 < len(f.Find("top.clk").Changes) {
				require.GreaterOrEqual(t, f.Find("top.clk").Changes[i+1].Time-c.Time, int64(4000))
			}
		}
	}
	require.Equal(t, int(k.Stats().Steps), falls)
	require.Equal(t, 81, unknown)
}
