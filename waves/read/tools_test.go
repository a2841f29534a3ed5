package read_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/waves"
	"rnic/waves/wavetest"
)

// Files of Icarus Verilog, Verilator and GHDL, and what vcd2fst made of them with each
// way of packing.
func TestOtherTools(t *testing.T) {
	for _, c := range []struct {
		vcd   string
		fst   []string
		types bool // are the same in both
	}{
		{"icarus.vcd", []string{"icarus-lz4.fst", "icarus-gzip.fst"}, true},
		{"ghdl.vcd", []string{"ghdl-zlib.fst"}, true},
		{"verilator.vcd", []string{"verilator.fst"}, false},
	} {
		want := canon(t, open(t, "testdata", c.vcd), c.types)
		golden := filepath.Join("testdata", c.vcd+".txt")
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(want), 0o666))
		}
		require.Equal(t, string(bytesOf(t, golden)), want)
		for _, f := range c.fst {
			require.Equal(t, want, canon(t, open(t, "testdata", f), c.types), f)
		}
	}
}

// What GTKWave's converters make of a file is what the file is.
func TestConverters(t *testing.T) {
	wavetest.Need(t, "vcd2fst", "fst2vcd")
	dir := t.TempDir()
	for _, name := range []string{"icarus.vcd", "ghdl.vcd", "verilator.vcd"} {
		want := canon(t, open(t, "testdata", name), true)
		for _, pack := range [][]string{{"-4"}, {"-Z"}, {"-4", "-c"}} {
			path := filepath.Join(dir, "a.fst")
			wavetest.Tool(t, "", nil, "vcd2fst", append(pack, "-v", filepath.Join("testdata", name), "-f", path)...)
			require.Equal(t, want, canon(t, open(t, path), true), "%s %v", name, pack)
			back := filepath.Join(dir, "back.vcd")
			wavetest.Tool(t, "", nil, "fst2vcd", "-f", path, "-o", back)
			require.Equal(t, want, canon(t, open(t, back), true), "%s %v", name, pack)
		}
	}
	// Ours, with its text and enums.
	v, f := both(t, 300, waves.Rich)
	ours := map[string][]byte{"ours.vcd": v, "ours.fst": f}
	for name, b := range ours {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o666))
	}
	want := canon(t, open(t, dir, "ours.vcd"), true)
	wavetest.Tool(t, dir, nil, "fst2vcd", "-f", "ours.fst", "-o", "back.vcd")
	require.Equal(t, want, canon(t, open(t, dir, "back.vcd"), true))
	wavetest.Tool(t, dir, nil, "vcd2fst", "-v", "ours.vcd", "-f", "there.fst")
	require.Equal(t, want, canon(t, open(t, dir, "there.fst"), true))

	path := filepath.Join(dir, "f.fst")
	wavetest.Tool(t, "", nil, "vcd2fst", "-F", "-v", filepath.Join("testdata", "verilator.vcd"), "-f", path)
	fast := open(t, path)
	for fast.Next() {
	}
	require.ErrorContains(t, fast.Err(), "packed by FastLZ")
}

// A chain that zlib makes no shorter is packed all the same by libfst.
func TestPackedChainAsLongAsUnpacked(t *testing.T) {
	wavetest.Need(t, "vcd2fst")
	const vars = 400
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("$timescale 1ps $end\n$scope module t $end\n")
	for i := range vars {
		fmt.Fprintf(&b, "$var wire 8 v%d v%d [7:0] $end\n", i, i)
	}
	b.WriteString("$upscope $end\n$enddefinitions $end\n")
	for at := range 40 {
		fmt.Fprintf(&b, "#%d\n", at)
		for i := range vars {
			if r.IntN(2) == 0 {
				fmt.Fprintf(&b, "b%b v%d\n", r.IntN(256)&r.IntN(256)&r.IntN(256), i)
			}
		}
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.vcd"), []byte(b.String()), 0o666))
	wavetest.Tool(t, dir, nil, "vcd2fst", "-Z", "-v", "a.vcd", "-f", "a.fst")
	require.Equal(t, canon(t, open(t, dir, "a.vcd"), true), canon(t, open(t, dir, "a.fst"), true))
}
