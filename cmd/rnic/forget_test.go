package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rnic/waves/wavetest"
)

// files lists what is in a folder of a run, but the names of enums.
func files(t *testing.T, dir string) (l []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".surfer" {
			return filepath.SkipDir
		}
		if rel, _ := filepath.Rel(dir, p); err == nil && !d.IsDir() {
			l = append(l, rel)
		}
		return err
	}))
	return l
}

// What a run of before has left is gone, and what is no run's stays.
func TestOldFilesGo(t *testing.T) {
	dir := t.TempDir()
	rnic(t, dir, "run", "--qps", "1", "--fst", "--out", "fresh")
	rnic(t, dir, append(lossy, "--qps", "4", "--report", "--trace-events", "--pcap", "--fst", "--vcd", "--around", "nak")...)
	require.FileExists(t, filepath.Join(dir, "o", "views", "host_a.qp_5.gtkw"))
	require.FileExists(t, filepath.Join(dir, "o", "around.fst"))
	kept := []string{"mine.fst", "views/host_c.gtkw", "views/host_a.txt", "notes"}
	for _, f := range append(kept, "hang.fst", "hang.gtkw.part", "report.html.part", "views/host_b.gone.sucl", "views/host_a.nic.dma.gtkw.part") {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "o", f), nil, 0o666))
	}
	rnic(t, dir, "run", "--qps", "1", "--fst", "--out", "o")
	require.ElementsMatch(t, append(kept, files(t, filepath.Join(dir, "fresh"))...), files(t, filepath.Join(dir, "o")))
	_, stderr, err := call(t, dir, "explain", "o")
	require.Error(t, err)
	require.Contains(t, stderr, "no story.json in it")

	// --around alone adds to what there is, and replaces its own.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "o", "hang.fst"), nil, 0o666))
	rnic(t, dir, append(lossy, "--around", "nak")...)
	require.FileExists(t, filepath.Join(dir, "o", "rnic.fst"))
	require.NoFileExists(t, filepath.Join(dir, "o", "hang.fst"))
}

// What is to be sent is not removed.
func TestSentFileStays(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "rnic.fst")
	require.NoError(t, os.WriteFile(file, make([]byte, 5000), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "story.json"), nil, 0o666))
	for _, flag := range []string{"--vcd", "--around=nak"} {
		_, stderr, err := call(t, dir, "run", "rnic.fst", flag, "--out", ".")
		if flag == "--vcd" {
			require.Error(t, err)
			require.Contains(t, stderr, "rnic.fst is to be sent, and files of that name in --out are removed")
			require.FileExists(t, filepath.Join(dir, "story.json"))
		}
		require.FileExists(t, file)
	}
}

// A run that is killed leaves views of its waves.
func TestKilledRunHasViews(t *testing.T) {
	wavetest.Need(t, "gtkwave")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "big"), make([]byte, 16<<20), 0o666))
	c := exec.Command(program, "run", "big", "--fst", "--out", "o")
	c.Dir = dir
	require.NoError(t, c.Start())
	views := []string{"rnic.gtkw", "views/host_a.nic.pkt_tx.gtkw", "views/host_a.qp_2.gtkw"}
	for _, v := range views {
		appear(t, filepath.Join(dir, "o", v))
	}
	fst := filepath.Join(dir, "o", "rnic.fst")
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if st, err := os.Stat(fst); err == nil && st.Size() > 1<<20 {
			break
		}
		require.Less(t, time.Since(begun), time.Minute)
	}
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
	for _, v := range views {
		got := wavetest.GTKWave(t, `
say "traces [expr [llength [gtkwave::getDisplayedSignals]] > 12] [lindex [gtkwave::getDisplayedSignals] 0]"
say "from [gtkwave::getWindowStartTime] shown [expr [gtkwave::getWindowEndTime] > 100000000]"`, filepath.Join(dir, "o", v))
		require.Equal(t, "traces 1 host_a.wire.tx\nfrom 0 shown 1\n", got, v)
	}
	require.FileExists(t, filepath.Join(dir, "o", "rnic.sucl"))
}

// The overview has GTKWave load little of the waves.
func TestOverviewIsSmall(t *testing.T) {
	wavetest.Need(t, "gtkwave")
	dir := t.TempDir()
	rnic(t, dir, "run", "--fst", "--qps", "16", "--out", "o")
	got := wavetest.GTKWave(t, `say "[expr [llength [gtkwave::getDisplayedSignals]] < 150]"`, filepath.Join(dir, "o", "rnic.gtkw"))
	require.Equal(t, "1\n", got)
}
