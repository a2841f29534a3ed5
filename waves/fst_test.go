package waves_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
	"rnic/waves/wavetest"
)

// both writes a run of kernels as a VCD and as an FST.
func both(t testing.TB, o waves.Options, run func(), kernels ...*hdl.Kernel) (vcd, fst string) {
	dir := t.TempDir()
	vcd, fst = filepath.Join(dir, "x.vcd"), filepath.Join(dir, "x.fst")
	v, err := waves.Create(vcd, o, kernels...)
	require.NoError(t, err)
	f, err := waves.CreateFST(fst, o, kernels...)
	require.NoError(t, err)
	run()
	require.NoError(t, v.Close())
	require.NoError(t, f.Close())
	require.Equal(t, v.Start, f.Start)
	require.Equal(t, v.End, f.End)
	return vcd, fst
}

func write(t testing.TB, path, text string) {
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
}

func bytesOf(t testing.TB, path string) []byte {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

// An FST shows what the VCD of the same run shows, in one section or in many.
func TestFSTIsTheVCD(t *testing.T) {
	for name, o := range map[string]waves.Options{
		"rich": {}, "portable": {Profile: waves.Portable}, "window": {From: 90_000, To: 31_234_567},
		"scopes": {Scopes: []string{"rx.seen", "tx.state"}}, "at the end": {From: 79_999_999},
	} {
		t.Run(name, func(t *testing.T) {
			k := elaborate(t, "top", 20, hdl.Options{})
			vcd, fst := both(t, o, func() { require.NoError(t, k.Run(20_000)) }, k)
			wavetest.Same(t, vcd, fst)
		})
	}
	for _, cycles := range []uint64{1, 2} { // of a single instant fst2vcd makes half a VCD
		k := elaborate(t, "top", 20, hdl.Options{})
		vcd, fst := both(t, waves.Options{}, func() { require.NoError(t, k.Run(cycles)) }, k)
		wavetest.Same(t, vcd, fst)
	}
}

// A section may be of hardly a byte.
func TestFSTOfAFewVariables(t *testing.T) {
	for _, to := range []int64{1, 2000, 4000, 80_000} {
		k := elaborate(t, "top", 20, hdl.Options{})
		vcd, fst := both(t, waves.Options{Scopes: []string{"tx.state"}, Profile: waves.Portable, To: to}, func() { require.NoError(t, k.Run(100)) }, k)
		wavetest.Same(t, vcd, fst)
	}
}

// Two kernels of different clocks, jumps in both, and many sections.
func TestFSTOfAWorld(t *testing.T) {
	a := elaborate(t, "host_a", 2000, hdl.Options{})
	b := elaborate(t, "host_b", 3, hdl.Options{PeriodPs: 3103})
	run := func() { require.ErrorIs(t, hdl.NewWorld(75, a, b).Run(nil, 120_000), hdl.ErrLimit) }
	vcd, fst := both(t, waves.Options{}, run, a, b)
	require.Greater(t, sections(t, fst), 3)
	wavetest.Same(t, vcd, fst)
}

// sections is how many sections the file says that it has.
func sections(t testing.TB, fst string) int {
	b := bytesOf(t, fst)
	require.Greater(t, len(b), 330)
	require.Equal(t, make([]byte, 7), b[65:72])
	return int(b[72])
}

func TestFSTOfEveryKindOfValue(t *testing.T) {
	top := &struct{ M oddities }{}
	top.M.Mem.Init(2, hdl.ReadFirst)
	k, err := hdl.Elaborate("top", top, hdl.Options{})
	require.NoError(t, err)
	vcd, fst := both(t, waves.Options{}, func() { require.NoError(t, k.Run(2000)) }, k)
	require.Greater(t, sections(t, fst), 1)
	wavetest.Same(t, vcd, fst)
	require.Equal(t, "a b\n$end\nback\\slash\n", wavetest.GTKWave(t, `
foreach s {odd_name code_name} { gtkwave::addSignalsFromList [list top.m.$s] }
foreach c {2 5 6} { gtkwave::setMarker [expr $c * 4000]; say [gtkwave::getTraceValueAtMarkerFromName top.m.odd_name] }
`, fst))
}

// Names of kernels that need care.
func TestFSTNames(t *testing.T) {
	for _, name := range []string{"q[3].state", "a b", "x:1", "$end", "größe", ""} {
		k, twin := elaborate(t, name, 20, hdl.Options{}), elaborate(t, name, 20, hdl.Options{})
		run := func() { require.ErrorIs(t, hdl.NewWorld(10, k, twin).Run(nil, 100), hdl.ErrLimit) }
		vcd, fst := both(t, waves.Options{}, run, k, twin)
		wavetest.Same(t, vcd, fst)
	}
}

// The bytes depend on the run alone.
func TestFSTIsDeterministic(t *testing.T) {
	record := func(o hdl.Options, window uint64) []byte {
		a := elaborate(t, "host_a", 20, o)
		b := elaborate(t, "host_b", 7, hdl.Options{PeriodPs: 3103})
		p := filepath.Join(t.TempDir(), "x.fst")
		f, err := waves.CreateFST(p, waves.Options{}, a, b)
		require.NoError(t, err)
		require.ErrorIs(t, hdl.NewWorld(window, a, b).Run(nil, 30_000), hdl.ErrLimit)
		require.NoError(t, f.Close())
		return bytesOf(t, p)
	}
	want := record(hdl.Options{}, 75)
	require.Equal(t, want, record(hdl.Options{}, 13))
	require.Equal(t, want, record(hdl.Options{Strict: true, Order: 7}, 75))
	require.NotRegexp(t, `(?i)linux|amd64|/tmp`, string(want[:330]))
}
