package waves_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
	"rnic/waves/wavetest"
)

func TestFSTOnAFullDisk(t *testing.T) {
	k := elaborate(t, "top", 20, hdl.Options{})
	f, err := waves.CreateFST(full(t), waves.Options{}, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(100))
	require.EqualError(t, f.Close(), "waves: write /dev/full: no space left on device")
	require.ErrorIs(t, f.Close(), syscall.ENOSPC)

	a, b := elaborate(t, "host_a", 2, hdl.Options{}), elaborate(t, "host_b", 3, hdl.Options{})
	f, err = waves.CreateFST(full(t), waves.Options{}, a, b)
	require.NoError(t, err)
	var fault *hdl.Fault
	require.ErrorAs(t, hdl.NewWorld(50, a, b).Run(nil, 10_000_000), &fault)
	require.Equal(t, "waves: write /dev/full: no space left on device", fault.Msg)
	require.Less(t, fault.Cycle, uint64(1_000_000), "the run went on for long")
	require.ErrorIs(t, f.Close(), syscall.ENOSPC)
}

// later is a disk that is full after some writes.
type later struct{ writes int }

func (w *later) WriteAt(b []byte, _ int64) (int, error) {
	if w.writes--; w.writes < 0 {
		return 0, syscall.ENOSPC
	}
	return len(b), nil
}

func TestFSTWhenTheDiskFillsUp(t *testing.T) {
	for writes := range 12 {
		k := elaborate(t, "top", 2, hdl.Options{})
		f, err := waves.NewFST(&later{writes}, waves.Options{}, k)
		require.NoError(t, err)
		require.ErrorContains(t, k.Run(10_000_000), "no space left")
		require.ErrorIs(t, f.Close(), syscall.ENOSPC)
	}
}

func TestFSTErrors(t *testing.T) {
	k := elaborate(t, "top", 20, hdl.Options{})
	dir := t.TempDir()
	_, err := waves.CreateFST(filepath.Join(dir, "none", "x.fst"), waves.Options{}, k)
	require.ErrorContains(t, err, "none/x.fst: no such file or directory")
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o666))
	_, err = waves.CreateFST(fifo, waves.Options{}, k)
	require.EqualError(t, err, "waves: "+fifo+": an FST cannot be written to a FIFO")
	old := save(t, "x.fst", "of an earlier run")
	_, err = waves.CreateFST(old, waves.Options{From: 2, To: 1}, k)
	require.EqualError(t, err, "waves: a window from 2 ps to 1 ps")
	require.Equal(t, "of an earlier run", string(bytesOf(t, old)))
	_, err = waves.NewFST(&tape{}, waves.Options{})
	require.EqualError(t, err, "waves: no kernel")

	f, err := waves.CreateFST(old, waves.Options{From: 1_000_000}, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(100))
	require.ErrorIs(t, f.Close(), waves.ErrWindow)
	require.Equal(t, int64(1_000_000), f.Start)
}

func TestFSTStepsAllocateNothing(t *testing.T) {
	k := elaborate(t, "top", 5, hdl.Options{})
	f, err := waves.NewFST(&later{1 << 30}, waves.Options{}, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(2_000_000))
	require.Zero(t, testing.AllocsPerRun(100_000, k.Step))
	require.NoError(t, f.Close())
}

// The save file names the FST, and shows enums by their names without other files: by
// the strings that are there, or by the tables.
func TestSaveFileOfAnFST(t *testing.T) {
	for _, p := range []waves.Profile{waves.Rich, waves.Portable} {
		a, b := elaborate(t, "host_a", 20, hdl.Options{}), elaborate(t, "host_b", 31, hdl.Options{})
		fst := filepath.Join(t.TempDir(), "demo.fst")
		v, err := waves.CreateFST(fst, waves.Options{Profile: p}, a, b)
		require.NoError(t, err)
		require.ErrorIs(t, hdl.NewWorld(75, a, b).Run(nil, 130), hdl.ErrLimit)
		require.NoError(t, v.Close())
		var g strings.Builder
		require.NoError(t, v.Save(&g, "demo", waves.View{Markers: markers, Overview: overview}))
		require.Contains(t, g.String(), "[dumpfile] \"demo.fst\"\n")
		gtkw := filepath.Join(filepath.Dir(fst), "demo.gtkw")
		write(t, gtkw, g.String())
		got := wavetest.GTKWave(t, `
say "first [lindex [gtkwave::getDisplayedSignals] 0]"
gtkwave::setMarker 84000
foreach s {host_a/tx/state host_a/rx/in/head/psn host_b/rx/delta clk} { say "$s [gtkwave::getTraceValueAtMarkerFromName $s]" }
foreach m {A D E} { say "$m [gtkwave::getNamedMarker $m]" }
foreach s {host_b.tx.state[1:0]} { gtkwave::addSignalsFromList [list $s]; say [gtkwave::getTraceValueAtMarkerFromName $s] }
`, fst, gtkw)
		require.Equal(t, "first host_a.rx.delta[7:0]\nhost_a/tx/state SEND\nhost_a/rx/in/head/psn 0\nhost_b/rx/delta 0\nclk 1\nA 80000\nD 250000\nE -1\nIDLE\n", got)
	}
}
