package hdl_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
)

// A ring of 50 modules with 100, 10 or 2 % of them busy: ns/op is a clock cycle.
func benchmarkRing(b *testing.B, tokens int, o hdl.Options, obs hdl.Observer) {
	r, k := newRing(b, tokens, o)
	if obs != nil {
		k.Observe(obs)
	}
	for range 1000 {
		k.Step()
	}
	before := r.S[0].Q.Sent
	b.ResetTimer()
	for range b.N {
		k.Step()
	}
	b.ReportMetric(float64(r.S[0].Q.Sent-before)/float64(b.N)*100, "%busy")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(r.S[0].Q.Sent-before)/50, "ns/busy-module")
}

func BenchmarkRing(b *testing.B) {
	for _, tokens := range []int{50, 5, 1} {
		b.Run(fmt.Sprint(tokens*2), func(b *testing.B) { benchmarkRing(b, tokens, hdl.Options{}, nil) })
	}
}

func BenchmarkRingStrict(b *testing.B) { benchmarkRing(b, 50, hdl.Options{Strict: true}, nil) }
func BenchmarkRingDigest(b *testing.B) { benchmarkRing(b, 50, hdl.Options{Digest: true}, nil) }

// counting is an observer that does next to nothing.
type counting struct{ n int }

func (c *counting) Edge(_ uint64, ch *hdl.Changes)    { c.n += len(ch.State) + len(ch.Past) }
func (c *counting) Jump(_, _ uint64, ch *hdl.Changes) {}

func BenchmarkRingObserved(b *testing.B) { benchmarkRing(b, 50, hdl.Options{}, &counting{}) }

func TestObservedStepAllocatesNothing(t *testing.T) {
	_, k := newRing(t, 7, hdl.Options{})
	c := &counting{}
	k.Observe(c)
	for range 100 {
		k.Step()
	}
	require.Zero(t, testing.AllocsPerRun(1000, k.Step))
	require.NotZero(t, c.n)
}

// beat is a datapath word.
type beat struct {
	Data  [64]byte
	Bytes uint8
	Last  bool
}

// mover passes beats on, by copy or filled in place.
type mover struct {
	InPlace bool
	In      hdl.In[beat]
	Out     hdl.Out[beat]
	hdl.Regs[struct{ Started bool }]
}

func (m *mover) Eval() {
	if !m.Q.Started && m.Out.Ready() {
		m.Out.Put(beat{Bytes: 64})
		m.D.Started = true
		return
	}
	if m.In.Valid() && m.Out.Ready() {
		w := m.In.Take()
		if !m.InPlace {
			m.Out.Put(beat{w.Data, w.Bytes, w.Last})
			return
		}
		o := m.Out.Next()
		*o = *w
	}
}

func BenchmarkBeats(b *testing.B) {
	for _, inPlace := range []bool{false, true} {
		b.Run(map[bool]string{false: "Put", true: "Next"}[inPlace], func(b *testing.B) {
			top := &struct{ M [50]mover }{}
			for i := range top.M {
				top.M[i].InPlace = inPlace
				hdl.Connect(&top.M[i].Out, &top.M[(i+1)%50].In, 2)
			}
			k, err := hdl.Elaborate("t", top, hdl.Options{})
			require.NoError(b, err)
			for range b.N {
				k.Step()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/50, "ns/busy-module")
		})
	}
}

// One of 1001 modules is busy.
func BenchmarkMostlyAsleep(b *testing.B) {
	top := &struct {
		T    ticker
		Idle [1000]sleeper
	}{}
	k, err := hdl.Elaborate("t", top, hdl.Options{})
	require.NoError(b, err)
	for range b.N {
		k.Step()
	}
}

func BenchmarkThreadSwitch(b *testing.B) {
	k, err := hdl.Elaborate("t", &struct{}{}, hdl.Options{})
	require.NoError(b, err)
	k.Go("t", func(t *hdl.Thread) {
		for {
			t.Sleep(10)
		}
	})
	require.NoError(b, k.Run(uint64(b.N)*10))
	k.Close()
}
