package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// What wave shows is what is in the VCD, by the reader that shares nothing with it.
func TestWave(t *testing.T) {
	dir := t.TempDir()
	rnic(t, dir, "run", "--vcd", "--fst", "--out", ".")
	f := parse(t, dir, "rnic.vcd")
	const fire = "host_a.nic.mac.transmit.tx.fire"
	first := beats(t, f, "host_a.nic.mac.transmit.tx")[0]
	from, to := first-3, first+40
	window := []string{"--from", fmt.Sprintf("c%d", from), "--to", fmt.Sprintf("c%d", to)}
	for _, file := range []string{"rnic.vcd", "rnic.fst"} {
		// Each sample has the values of its time, and each change is in one.
		var w struct {
			Clock   string
			Signals []struct{ Path, Type, Enum string }
			Samples []struct {
				Time   string
				Ticks  int64
				Cycle  int64
				Values map[string]string
			}
		}
		out := rnic(t, dir, append([]string{"wave", file, "-s", fire + ",host_a.nic.pkt_tx.send.payload.head.pkt.opcode", "--json"}, window...)...)
		require.NoError(t, json.Unmarshal([]byte(out), &w))
		require.Equal(t, "host_a.clk", w.Clock)
		require.Len(t, w.Signals, 2)
		require.NotEmpty(t, w.Signals[1].Enum)
		require.Equal(t, from*period, w.Samples[0].Ticks)
		shown := map[int64]string{}
		for _, s := range w.Samples {
			require.Equal(t, s.Ticks/period, s.Cycle)
			if v, ok := s.Values[fire]; ok {
				require.Equal(t, f.At(fire, s.Ticks), v)
				shown[s.Ticks] = v
			}
			if v, ok := s.Values["host_a.nic.pkt_tx.send.payload.head.pkt.opcode"]; ok && v != "x" {
				require.Equal(t, f.At("host_a.nic.pkt_tx.send.payload.head.pkt.opcode_name", s.Ticks), v)
			}
		}
		n := 0
		for _, c := range f.Find(fire).Changes {
			if c.Time > from*period && c.Time <= to*period {
				require.Equal(t, c.Value, shown[c.Time])
				n++
			}
		}
		require.Greater(t, n, 1)

		drawn := rnic(t, dir, append([]string{"wave", file, "-s", fire + ",head.pkt.opcode"}, window...)...)
		require.Contains(t, drawn, "╱▔")
		require.Contains(t, drawn, "│RC_SEND")
		require.NotContains(t, drawn, "\x1b")
		for l := range strings.Lines(drawn) {
			require.LessOrEqual(t, utf8.RuneCountInString(l), 101)
		}
		at := rnic(t, dir, "wave", file, "-s", fire, "--at", fmt.Sprintf("c%d", first))
		require.Equal(t, fmt.Sprintf("%gus, cycle %d\n%s  1\n", float64(first*period)/1e6, first, fire), at)
	}
	require.Equal(t, rnic(t, dir, "wave", "rnic.vcd", "--list"), rnic(t, dir, "wave", "rnic.fst", "--list"))
	require.Equal(t, len(f.Vars), strings.Count(rnic(t, dir, "wave", "rnic.fst", "--list"), "\n"))
	require.Equal(t, fire+"  wire\n", rnic(t, dir, "wave", "rnic.fst", "--list", "-s", fire))
	var l struct{ Signals []struct{ Path string } }
	require.NoError(t, json.Unmarshal([]byte(rnic(t, dir, "wave", "rnic.fst", "--list", "--json")), &l))
	require.Len(t, l.Signals, len(f.Vars))
}

func TestWaveLimits(t *testing.T) {
	dir := t.TempDir()
	rnic(t, dir, "run", "--fst", "--from", "c1000", "--scope", "nic.mac", "--out", ".")
	require.NoError(t, os.Rename(filepath.Join(dir, "rnic.fst"), filepath.Join(dir, "late.fst")))
	rnic(t, dir, "run", "--fst", "--out", ".")
	out := rnic(t, dir, "wave", "rnic.fst", "-s", "host_a.clk", "--limit", "10", "--ascii", "--width", "60")
	require.Regexp(t, `(?s)\nclk +-[\\/_|x-]+\n.*after 10 columns: --from [\d.]+[nu]s goes on, --limit shows more\n$`, out)
	for _, c := range out {
		require.Less(t, c, rune(0x80))
	}
	for _, c := range []struct{ args, want string }{
		{"rnic.fst", "wave: which signals? --signals GLOB shows them, --list lists all"},
		{"rnic.fst -s nothing", `--signals "nothing" selects none of `},
		{"rnic.fst -s [", `--signals "[" is a bad pattern: wildcards are *, ? and **, and it selects none of `},
		{"late.fst -s clk --at 0ns", "--at 0ns: the file begins at 4us"},
		{"late.fst -s clk --at c999 --json", "--at c999: the file begins at 4us"},
		{"late.fst -s clk --at 1s", "the file ends at 1"},
		{"rnic.fst -s host_a", "--signals selects "},
		{"rnic.fst -s clk --from 5us --to 4us", "--to 4us: before --from 5us"},
		{"rnic.fst -s clk --from 1s", "the file ends at 1"},
		{"rnic.fst -s clk --from 1.0005ns", "--from 1.0005ns: no whole number of ticks of 1ps"},
		{"rnic.fst -s clk --at soon", `--at "soon": must be as 123ns, 1.5us or c1234`},
		{"rnic.fst -s clk --clk host_a.nic", "--clk: there is no signal host_a.nic to be the clock"},
		{"rnic.fst -s clk --at 5ns --to 7ns", "--at goes without --from, --to and --cycles"},
		{"rnic.fst --list --at 5ns", "--list goes without --at, --from, --to and --cycles"},
		{"rnic.fst -s clk --width 39", "--width 39: must be 40 at least"},
		{"rnic.fst -s clk --limit=-1", "--limit -1: must not be below 0"},
		{"no.fst -s clk", "open no.fst: no such file or directory"},
	} {
		got := refused(t, dir, append([]string{"wave"}, strings.Fields(c.args)...)...)
		require.True(t, strings.HasPrefix(got, c.want), "%s: %s", c.args, got)
	}
}

// A VCD of another tool, through a pipe.
func TestWaveOfAPipe(t *testing.T) {
	c := exec.Command(program, "wave", "-", "-s", "u.q", "--to", "20ns")
	f, err := os.Open("../../waves/read/testdata/icarus.vcd")
	require.NoError(t, err)
	defer f.Close()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	go func() {
		_, _ = io.Copy(w, f)
		w.Close()
	}()
	c.Stdin = r
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "t.u\ntime   │0   │5ns │15ns\nq      │0x0 │0x1 │0x2\n", string(out))
}
