package waves_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
	"rnic/waves/vcdnorm"
	"rnic/waves/wavetest"
)

// killedFile names the file of the process that is killed.
const killedFile = "RNIC_TEST_KILLED_FILE"

// TestEndless is that process: it never ends.
func TestEndless(t *testing.T) {
	p := os.Getenv(killedFile)
	if p == "" {
		t.Skip("run by TestKilled")
	}
	k := elaborate(t, "top", 3, hdl.Options{})
	_, err := waves.CreateFST(p, waves.Options{}, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(1<<62))
}

// A process that is killed leaves a file with all up to the last section.
func TestKilled(t *testing.T) {
	wavetest.Need(t, "fst2vcd")
	p := filepath.Join(t.TempDir(), "x.fst")
	c := exec.Command(os.Args[0], "-test.run=^TestEndless$")
	c.Env = append(os.Environ(), killedFile+"="+p)
	require.NoError(t, c.Start())
	begun := time.Now()
	for {
		if b, err := os.ReadFile(p); err == nil && len(b) > 330 && b[72] >= 3 {
			break
		}
		require.Less(t, time.Since(begun), time.Minute)
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
	f := wavetest.FST(t, p)
	require.Greater(t, f.End, int64(100*4000))
	begins(t, f, 3)
	require.Equal(t, fmt.Sprintln(f.End), wavetest.GTKWave(t, "say [gtkwave::getMaxTime]", p))
}

// begins demands that a file shows the beginning of an endless run of the design.
func begins(t *testing.T, f *vcdnorm.File, every uint64) {
	k := elaborate(t, "top", every, hdl.Options{})
	var b bytes.Buffer
	v, err := waves.New(&b, waves.Options{}, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(uint64(f.End/4000+10)))
	require.NoError(t, v.Close())
	whole := check(t, b.String())
	require.Equal(t, paths(whole), paths(f))
	for i, v := range whole.Vars {
		n := 0
		for n < len(v.Changes) && v.Changes[n].Time <= f.End {
			n++
		}
		require.True(t, slices.Equal(v.Changes[:n], f.Vars[i].Changes), v.Path)
	}
}

// tape is a file that remembers what was written in which order.
type tape struct {
	offs []int64
	data [][]byte
}

func (w *tape) WriteAt(b []byte, off int64) (int, error) {
	w.offs = append(w.offs, off)
	w.data = append(w.data, bytes.Clone(b))
	return len(b), nil
}

// file is what is there after n writes and part of the next.
func (w *tape) file(n, part int) (b []byte) {
	for i, off := range w.offs {
		d := w.data[i]
		switch {
		case i == n:
			d = d[:min(part, len(d))]
		case i > n:
			return b
		}
		if need := int(off) + len(d) - len(b); need > 0 {
			b = append(b, make([]byte, need)...)
		}
		copy(b[off:], d)
	}
	return b
}

// Wherever the writing stops, within a write too, the file can be read.
func TestStoppedAnywhere(t *testing.T) {
	k := elaborate(t, "top", 20, hdl.Options{})
	w := &tape{}
	v, err := waves.NewFST(w, waves.Options{}, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(60_000))
	require.NoError(t, v.Close())
	require.GreaterOrEqual(t, len(w.data), 1+4*3, "a start, and three writes a section")
	last := int64(0)
	for n := 7; n < len(w.data); n++ { // before, of a single instant, fst2vcd makes half a VCD
		for _, part := range []int{0, 1, 9, 40, 329, 1000} {
			p := save(t, "x.fst", string(w.file(n, part)))
			f := wavetest.FST(t, p)
			require.GreaterOrEqual(t, f.End, last, "write %d, %d bytes", n, part)
			last = f.End
			if part == 1 && f.End < 60_000*4000 { // the end of the run is the end of its waves
				begins(t, f, 20)
			}
		}
	}
	require.Greater(t, last, int64(20_000*4000))
}

// A file can be opened from its beginning on, before anything has run: in it all is x.
func TestStoppedAtOnce(t *testing.T) {
	wavetest.Need(t, "fst2vcd", "gtkwave")
	for _, from := range []int64{0, 2001, 50_000_000} {
		k := elaborate(t, "top", 20, hdl.Options{})
		w := &tape{}
		v, err := waves.NewFST(w, waves.Options{From: from}, k)
		require.NoError(t, err)
		require.NoError(t, k.Run(20_000))
		require.NoError(t, v.Close())
		p := save(t, "x.fst", string(w.file(4, 0))) // a start, and three writes of a section
		require.Equal(t, fmt.Sprintf("26 %d %d 0bxx\n", from, from), wavetest.GTKWave(t, `
say "[gtkwave::getNumFacs] [gtkwave::getMinTime] [gtkwave::getMaxTime] [lindex [gtkwave::signalChangeList {top.tx.state[1:0]} -start_time [gtkwave::getMinTime] -max 1] end]"`, p))
		require.Contains(t, wavetest.Tool(t, t.TempDir(), nil, "fst2vcd", "-f", p), "$dumpvars")
	}
}
