package waves_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
	"rnic/waves/wavetest"
)

// full is the path of a device that is always full.
func full(t *testing.T) string {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	return "/dev/full"
}

func TestDiskFullAtClose(t *testing.T) {
	k := elaborate(t, "top", 20, hdl.Options{})
	v, err := waves.Create(full(t), waves.Options{}, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(100))
	err = v.Close()
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.EqualError(t, err, "waves: write /dev/full: no space left on device")
	require.Equal(t, err, v.Close())
}

func TestDiskFullEndsTheRun(t *testing.T) {
	a := elaborate(t, "host_a", 2, hdl.Options{})
	b := elaborate(t, "host_b", 3, hdl.Options{})
	v, err := waves.Create(full(t), waves.Options{}, a, b)
	require.NoError(t, err)
	err = hdl.NewWorld(50, a, b).Run(nil, 10_000_000)
	var f *hdl.Fault
	require.ErrorAs(t, err, &f)
	require.Equal(t, "waves", f.Path)
	require.Equal(t, "waves: write /dev/full: no space left on device", f.Msg)
	require.Less(t, f.Cycle, uint64(1_000_000), "the run went on for long")
	require.ErrorIs(t, v.Close(), syscall.ENOSPC)
}

func TestReaderOfAFIFOGoesAway(t *testing.T) {
	p := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(p, 0o666))
	go func() {
		r, err := os.Open(p)
		if err == nil {
			r.Read(make([]byte, 10))
			r.Close()
		}
	}()
	k := elaborate(t, "top", 2, hdl.Options{})
	v, err := waves.Create(p, waves.Options{}, k)
	require.NoError(t, err)
	require.ErrorContains(t, k.Run(10_000_000), "broken pipe")
	require.ErrorIs(t, v.Close(), syscall.EPIPE)
}

// After a Fault the file shows the cycle that broke the rule.
func TestFaultLeavesAWholeFile(t *testing.T) {
	d := newDesign(20, 2)
	k, err := hdl.Elaborate("top", d, hdl.Options{})
	require.NoError(t, err)
	var b bytes.Buffer
	v, err := waves.New(&b, waves.Options{}, k)
	require.NoError(t, err)
	k.Go("end", func(t *hdl.Thread) {
		t.Sleep(42)
		d.Rx.Fail("enough")
	})
	require.Error(t, k.Run(100))
	require.NoError(t, v.Close())
	f := check(t, b.String())
	require.Equal(t, int64(43*4000), f.End)
	require.Equal(t, "SEND", f.At("top.tx.state_name", 42*4000))
	require.Equal(t, "1", f.At("top.rx.in.valid", 42*4000))
	require.Equal(t, "1", f.At("top.rx.in.fire", 42*4000-1))
	require.Equal(t, "0", f.At("top.rx.in.fire", 42*4000), "no edge ended the cycle")
}

// The files of a run do not depend on where they are.
func TestNothingOfTheMachineInTheFile(t *testing.T) {
	dir := t.TempDir()
	k := elaborate(t, "top", 20, hdl.Options{})
	p := filepath.Join(dir, "x.vcd")
	v, err := waves.Create(p, waves.Options{}, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(50))
	require.NoError(t, v.Close())
	b, err := os.ReadFile(p)
	require.NoError(t, err)
	golden(t, "rich.vcd", string(b))
}

func TestStepsAllocateNothing(t *testing.T) {
	k := elaborate(t, "top", 5, hdl.Options{})
	v, err := waves.New(discard{}, waves.Options{}, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(200_000))
	n := testing.AllocsPerRun(100_000, k.Step)
	require.Zero(t, n)
	require.NoError(t, v.Close())
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// Two files of one run, of different windows, do not disturb each other.
func TestTwoFiles(t *testing.T) {
	k := elaborate(t, "top", 20, hdl.Options{})
	var a, b bytes.Buffer
	v, err := waves.New(&a, waves.Options{To: 100_000}, k)
	require.NoError(t, err)
	w, err := waves.New(&b, waves.Options{}, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(50))
	require.NoError(t, v.Close())
	require.NoError(t, w.Close())
	golden(t, "rich.vcd", b.String())
	require.Equal(t, record(t, 50, waves.Options{To: 100_000}, hdl.Options{}), a.String())
	wavetest.RoundTrip(t, save(t, "cut.vcd", a.String()))
}

// A wrong option leaves the file of an earlier run alone.
func TestWrongOptionKeepsTheOldFile(t *testing.T) {
	p := save(t, "x.vcd", "of an earlier run")
	k := elaborate(t, "top", 20, hdl.Options{})
	for _, o := range []waves.Options{{From: 2, To: 1}, {Scopes: []string{"nic"}}, {Scopes: []string{"["}}} {
		_, err := waves.Create(p, o, k)
		require.Error(t, err)
		b, err := os.ReadFile(p)
		require.NoError(t, err)
		require.Equal(t, "of an earlier run", string(b))
	}
}
