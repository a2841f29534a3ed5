package hdl_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
	"rnic/hdl/hdltest"
)

// station passes numbers on over a link, through a stream of its own kernel.
type station struct {
	hdl.Behave
	rx  *hdl.Link[uint64]
	tx  *hdl.Link[uint64]
	In  hdl.In[uint32]
	Out hdl.Out[uint32]
	Got []uint64 // arrival cycles
}

func (s *station) Tick() {
	if s.Out.Ready() {
		if v, ok := s.rx.Recv(); ok {
			s.Got = append(s.Got, s.Now())
			s.Out.Put(uint32(v))
		}
	}
	if s.In.Valid() && s.tx.Space() > 0 {
		s.tx.Send(uint64(*s.In.Take()))
	}
	if _, more := s.rx.Peek(); more {
		s.WakeAt(s.Now() + 1)
	}
}

type relay struct {
	In  hdl.In[uint32]
	Out hdl.Out[uint32]
	hdl.Regs[struct{ Sum uint32 }]
}

func (m *relay) Eval() {
	if m.In.Valid() && m.Out.Ready() {
		v := *m.In.Take()
		m.Out.Put(v + 1)
		m.D.Sum += v
	}
}

type host struct {
	S station
	R relay
}

// circle builds hosts that send numbers round, with the given link latencies.
func circle(t require.TestingT, o hdl.Options, lookahead uint64, latencies ...uint64) (*hdl.World, []*host, []*hdl.Kernel) {
	hosts := make([]*host, len(latencies))
	kernels := make([]*hdl.Kernel, len(hosts))
	for i := range hosts {
		h := &host{}
		hdl.Connect(&h.S.Out, &h.R.In, 2)
		hdl.Connect(&h.R.Out, &h.S.In, 2)
		k, err := hdl.Elaborate(string(rune('a'+i)), h, o)
		require.NoError(t, err)
		hosts[i], kernels[i] = h, k
	}
	w := hdl.NewWorld(lookahead, kernels...)
	for i, l := range latencies {
		next := (i + 1) % len(hosts)
		link := hdl.NewLink[uint64](w, kernels[i], kernels[next], l, 64)
		hosts[i].S.tx, hosts[next].S.rx = link, link
		link.Attach(&hosts[next].S.Behave)
	}
	return w, hosts, kernels
}

func TestLinkLatencyIsExact(t *testing.T) {
	for _, lookahead := range []uint64{1, 5, 30} {
		w, hosts, kernels := circle(t, hdl.Options{}, lookahead, 30, 47)
		kernels[0].Go("start", func(th *hdl.Thread) { hosts[0].S.tx.Send(1) })
		require.ErrorIs(t, w.Run(nil, 300), hdl.ErrLimit)
		require.Equal(t, uint64(300), w.Now())
		// Two cycles through the relay and back between arrival and departure.
		require.Equal(t, []uint64{30, 30 + 47 + 2 + 2 + 30, 192, 273}, hosts[1].S.Got)
		require.Equal(t, []uint64{30 + 2 + 47, 160, 241}, hosts[0].S.Got)
		require.Equal(t, uint32(2+4+6), hosts[0].R.Q.Sum)
		require.Less(t, kernels[0].Stats().Steps, uint64(40))
	}
}

func TestWorldIsTheSameHoweverItRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lookahead := rapid.Uint64Range(1, 40).Draw(t, "lookahead")
		latencies := rapid.SliceOfN(rapid.Uint64Range(lookahead, 60), 1, 4).Draw(t, "latencies")
		burst := rapid.IntRange(1, 40).Draw(t, "burst")
		procs := runtime.GOMAXPROCS(0)
		defer runtime.GOMAXPROCS(procs)
		hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, [][]uint64) {
			runtime.GOMAXPROCS(1 + int(o.Order)%2)
			w, hosts, kernels := circle(t, o, lookahead, latencies...)
			kernels[0].Go("start", func(th *hdl.Thread) {
				for i := range burst {
					hosts[0].S.tx.Send(uint64(i))
					th.Sleep(2)
				}
			})
			enough := func() bool { return len(hosts[0].S.Got) >= 100 }
			require.NoError(t, w.Run(enough, 100_000))
			var got [][]uint64
			for _, h := range hosts {
				got = append(got, h.S.Got)
			}
			return w, got
		})
	})
}

func TestWorldJumpsAndDeadlocks(t *testing.T) {
	w, hosts, kernels := circle(t, hdl.Options{}, 10, 10, 10)
	done := false
	kernels[1].Go("sleepy", func(th *hdl.Thread) {
		th.Sleep(10_000_000)
		hosts[1].S.tx.Send(7)
		done = true
	})
	require.NoError(t, w.Run(func() bool { return done }, 1<<60))
	require.Less(t, kernels[0].Stats().Steps, uint64(30))
	require.NoError(t, w.Run(func() bool { return len(hosts[0].S.Got) > 0 }, 1<<60))
	require.Equal(t, []uint64{10_000_010}, hosts[0].S.Got)

	w, _, _ = circle(t, hdl.Options{}, 10, 10, 10)
	err := w.Run(nil, 1<<60)
	var d *hdl.WorldDeadlock
	require.ErrorAs(t, err, &d)
	require.Len(t, d.Kernels, 2)
	require.ErrorContains(t, err, "a.s: a.s.in is empty")
	require.ErrorContains(t, err, "b: deadlock at cycle")
}

func TestWorldErrors(t *testing.T) {
	w, hosts, kernels := circle(t, hdl.Options{}, 10, 10, 10)
	kernels[1].Go("flood", func(th *hdl.Thread) {
		th.Sleep(15)
		for i := range 65 {
			hosts[1].S.tx.Send(uint64(i))
		}
	})
	require.EqualError(t, w.Run(nil, 1000), "b.flood: cycle 15: link to a is full with 64 messages")
	require.PanicsWithValue(t, "hdl: link latency 9 below the lookahead 10", func() {
		hdl.NewLink[int](w, kernels[0], kernels[1], 9, 1)
	})

	w, hosts, kernels = circle(t, hdl.Options{}, 10, 10, 10)
	for i, k := range kernels { // keep both busy, so that they run in parallel
		k.Go("busy", func(th *hdl.Thread) {
			for range 100 {
				th.Sleep(1)
			}
			if i == 1 {
				k.Stop()
			}
			th.Sleep(1000)
		})
	}
	require.NoError(t, w.Run(nil, 1000))
	require.Equal(t, uint64(100), w.Now(), "stopped at the next barrier")

	w, _, kernels = circle(t, hdl.Options{}, 10, 10, 10)
	for _, k := range kernels {
		k.Go("exits", func(th *hdl.Thread) {
			for range 100 {
				th.Sleep(1)
			}
			if k == kernels[1] {
				runtime.Goexit() // as FailNow of a test does
			}
		})
	}
	require.ErrorContains(t, w.Run(nil, 1000), "ended the goroutine")
}

func TestWorldAllocatesNothing(t *testing.T) {
	w, hosts, kernels := circle(t, hdl.Options{}, 20, 30, 30)
	kernels[0].Go("start", func(th *hdl.Thread) {
		for i := range 40 {
			hosts[0].S.tx.Send(uint64(i))
		}
	})
	for _, h := range hosts {
		h.S.Got = make([]uint64, 0, 1<<16)
	}
	limit := uint64(1000)
	require.ErrorIs(t, w.Run(nil, limit), hdl.ErrLimit)
	before := len(hosts[0].S.Got)
	// What a Run allocates must not grow with the cycles that it runs.
	per := func(cycles uint64) float64 {
		return testing.AllocsPerRun(10, func() {
			limit += cycles
			_ = w.Run(nil, limit)
		})
	}
	require.InDelta(t, per(100), per(10_000), 2)
	require.Greater(t, len(hosts[0].S.Got), before+1000)
}

func BenchmarkWorld(b *testing.B) {
	w, hosts, kernels := circle(b, hdl.Options{}, 75, 75, 75)
	kernels[0].Go("start", func(th *hdl.Thread) {
		for i := range 40 {
			hosts[0].S.tx.Send(uint64(i))
			th.Sleep(4)
		}
	})
	_ = w.Run(nil, uint64(b.N))
}
