package waves_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
)

// station is a module that is always busy: it takes a beat, changes some registers and
// passes the beat on. Each draws numbers of its own.
type station struct {
	Salt uint32
	In   hdl.In[beat]
	Out  hdl.Out[beat]
	hdl.Regs[struct {
		Seed  uint32
		State state
		PSN   psn
		Count uint16
		Busy  bool
	}]
}

func (m *station) Eval() {
	if m.In.Valid() && m.Out.Ready() {
		b := *m.In.Take()
		b.PSN = (b.PSN + 1) & 0xffffff
		m.D.PSN = b.PSN
		m.D.Seed = m.Q.Seed*1664525 + 1013904223 + m.Salt
		m.D.State = state(m.Q.Seed >> 30 % 3)
		m.D.Busy = !m.Q.Busy
		b.Data = [4]byte{byte(m.Q.Seed), byte(m.Q.Seed >> 8), byte(m.Q.Seed >> 16), 0}
		m.Out.Put(b)
	} else if !m.In.Valid() && m.Now() == 0 {
		m.Out.Put(beat{})
	}
	m.D.Count++
}

func ring(b *testing.B) *hdl.Kernel {
	top := &struct{ S [32]station }{}
	for i := range top.S {
		top.S[i].Salt = uint32(i * i * 0x9e3779b9)
		hdl.Connect(&top.S[i].Out, &top.S[(i+1)%32].In, 2)
	}
	k, err := hdl.Elaborate("ring", top, hdl.Options{})
	require.NoError(b, err)
	return k
}

// count is a writer that counts the lines of the body: changes and time stamps.
type count struct {
	w     *os.File
	lines int
	bytes int
}

func (c *count) Write(b []byte) (int, error) {
	c.lines += bytes.Count(b, []byte("\n"))
	c.bytes += len(b)
	if c.w != nil {
		return c.w.Write(b)
	}
	return len(b), nil
}

// BenchmarkNone is the kernel alone, to take off the others.
func BenchmarkNone(b *testing.B) {
	k := ring(b)
	for b.Loop() {
		k.Step()
	}
}

func benchmark(b *testing.B, o waves.Options, w *count) {
	k := ring(b)
	v, err := waves.New(w, o, k)
	require.NoError(b, err)
	for b.Loop() {
		k.Step()
	}
	require.NoError(b, v.Close())
	b.ReportMetric(float64(w.lines)/1e6/b.Elapsed().Seconds(), "Mchanges/s")
	b.ReportMetric(float64(w.bytes)/1e6/b.Elapsed().Seconds(), "MB/s")
	b.ReportMetric(float64(w.lines)/float64(b.N), "changes/op")
}

func BenchmarkRich(b *testing.B)     { benchmark(b, waves.Options{}, &count{}) }
func BenchmarkPortable(b *testing.B) { benchmark(b, waves.Options{Profile: waves.Portable}, &count{}) }

func BenchmarkDisk(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "ring.vcd"))
	require.NoError(b, err)
	benchmark(b, waves.Options{}, &count{w: f})
}

// changes is how many a cycle of the ring has, time stamps included.
func changes(b *testing.B, o waves.Options) float64 {
	k, w := ring(b), &count{}
	v, err := waves.New(w, o, k)
	require.NoError(b, err)
	require.NoError(b, k.Run(1000))
	require.NoError(b, v.Close())
	return float64(w.lines) / 1000
}

// BenchmarkFST is the run of BenchmarkDisk.
func BenchmarkFST(b *testing.B)         { benchmarkFST(b, waves.Options{}) }
func BenchmarkFSTPortable(b *testing.B) { benchmarkFST(b, waves.Options{Profile: waves.Portable}) }

func benchmarkFST(b *testing.B, o waves.Options) {
	k, n := ring(b), changes(b, o)
	p := filepath.Join(b.TempDir(), "ring.fst")
	v, err := waves.CreateFST(p, o, k)
	require.NoError(b, err)
	for b.Loop() {
		k.Step()
	}
	require.NoError(b, v.Close())
	st, err := os.Stat(p)
	require.NoError(b, err)
	b.ReportMetric(n*float64(b.N)/1e6/b.Elapsed().Seconds(), "Mchanges/s")
	b.ReportMetric(float64(st.Size())/1e6/b.Elapsed().Seconds(), "MB/s")
	b.ReportMetric(n, "changes/op")
}

// BenchmarkOutside is a kernel whose window has passed.
func BenchmarkOutside(b *testing.B) {
	k := ring(b)
	v, err := waves.New(&count{}, waves.Options{To: 4000}, k)
	require.NoError(b, err)
	for b.Loop() {
		k.Step()
	}
	require.NoError(b, v.Close())
}
