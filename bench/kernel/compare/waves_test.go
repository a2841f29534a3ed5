package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWavesTable(t *testing.T) {
	all := [][]*recording{{
		{simulator: "hdl", shows: "-", spent: []float64{3000, 2000}, lasted: []float64{2100, 2900}},
		{simulator: "hdl", shows: "all", suffix: "vcd", spent: []float64{4000, 5000}, lasted: []float64{3500, 3200}, changes: 40, size: 1000, packed: 200},
		{simulator: "hdl", shows: "all", suffix: "fst", spent: []float64{3000, 3000}, lasted: []float64{2500, 2600}, size: 100},
	}}
	var b strings.Builder
	wavesTable(&b, all, plan{2, 10, ""})
	require.Regexp(t, `(?m)^ +full +hdl +- +- +200 +1\.0 +210 +$`, b.String())
	require.Regexp(t, `(?m)^ +full +hdl +all +vcd +400 +2\.0 +320 +4 +50\.0 +20\.0 +100 +1\.0 +0\.20 *$`, b.String())
	require.Regexp(t, `(?m)^ +full +hdl +all +fst +300 +1\.5 +250 +4 +25\.0 +40\.0 +10 +10\.0 +2\.00 *$`, b.String())
}

func TestCountChanges(t *testing.T) {
	p := filepath.Join(t.TempDir(), "x.vcd")
	require.NoError(t, os.WriteFile(p, []byte("$scope module a $end\n1! in the header\n$enddefinitions $end\n#0\n$dumpvars\n1!\nb10 \"\nsx #\n$end\n#5\n0!\n\n"), 0o666))
	n, err := countChanges(p)
	require.NoError(t, err)
	require.Equal(t, 4, n)
	_, err = countChanges(p + ".none")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// The runs of this side, at the size of a test: files are there, measured, and gone.
func TestRecordings(t *testing.T) {
	dir := t.TempDir()
	for _, r := range recordings() {
		if r.simulator != "hdl" {
			continue
		}
		for range 2 {
			require.NoError(t, r.turn(dir, loads[0], 500))
		}
		require.Len(t, r.spent, 2)
		if r.suffix != "" {
			require.Positive(t, r.size)
		}
		if r.suffix == "vcd" {
			require.Greater(t, r.changes, 500)
		}
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)
}

func TestWavesWithoutVerilator(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	require.ErrorContains(t, compareWaves(io.Discard, plan{rounds: 1, cycles: 10}), "verilator is not installed")
	require.EqualError(t, compareWaves(io.Discard, plan{rounds: 1, cycles: 0}), "1 rounds of 0 cycles: at least 1 of 1")
}
