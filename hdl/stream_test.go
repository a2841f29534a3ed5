package hdl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
)

// feeder puts its counter whenever there is room, while N is below Total.
type feeder struct {
	Total uint32
	Out   hdl.Out[uint32]
	hdl.Regs[struct{ N uint32 }]
}

func (m *feeder) Eval() {
	if m.Q.N < m.Total && m.Out.Ready() {
		m.Out.Put(m.Q.N)
		m.D.N++
	}
}

// eater notes the cycle of each arrival, from a cycle on.
type eater struct {
	hdl.Behave
	From   uint64
	In     hdl.In[uint32]
	Vals   []uint32
	Cycles []uint64
	Ticks  int
}

func (a *eater) Tick() {
	a.Ticks++
	if a.Now() < a.From {
		a.WakeAt(a.From)
		return
	}
	if a.In.Valid() {
		a.Vals = append(a.Vals, *a.In.Take())
		a.Cycles = append(a.Cycles, a.Now())
	}
}

type feedTop struct {
	F feeder
	E eater
}

func feed(t *testing.T, total uint32, from uint64, depth int) (*feedTop, *hdl.Kernel) {
	top := &feedTop{F: feeder{Total: total}, E: eater{From: from}}
	hdl.Connect(&top.F.Out, &top.E.In, depth)
	k, err := hdl.Elaborate("t", top, hdl.Options{})
	require.NoError(t, err)
	return top, k
}

func TestStreamOneCycleAHopAtFullRate(t *testing.T) {
	top, k := feed(t, 5, 0, 2)
	require.NoError(t, k.Run(100))
	require.Equal(t, []uint32{0, 1, 2, 3, 4}, top.E.Vals)
	require.Equal(t, []uint64{1, 2, 3, 4, 5}, top.E.Cycles)
	require.Equal(t, 7, top.E.Ticks, "cycle 0, five arrivals, and the commit of the last take")
	require.Equal(t, uint64(100), k.Cycle())
	require.Equal(t, uint64(100), k.Stats().Steps+k.Stats().Jumped)
	require.Less(t, k.Stats().Steps, uint64(9))
}

func TestStreamHoldsDepth(t *testing.T) {
	for depth := 2; depth < 7; depth++ {
		top, k := feed(t, 100, 50, depth)
		require.NoError(t, k.Run(50))
		require.Equal(t, depth, top.E.In.Len())
		require.Equal(t, 0, top.F.Out.Space())
		require.False(t, top.F.Out.Ready())
		require.Equal(t, uint32(depth), top.F.Q.N)
		require.NoError(t, k.Run(400))
		require.Len(t, top.E.Vals, 100)
		require.Equal(t, depth, top.F.Out.Space())
		for i, v := range top.E.Vals {
			require.Equal(t, uint32(i), v)
		}
	}
}

func TestRunEndsStuckOrAtRest(t *testing.T) {
	top, k := feed(t, 3, 1000, 2)
	require.NoError(t, k.Run(500), "the eater has a deadline")
	require.NoError(t, k.Run(2000), "at rest with nothing left over")
	require.Equal(t, uint64(2000), k.Cycle())
	require.Len(t, top.E.Vals, 3)
	var d *hdl.Deadlock
	require.ErrorAs(t, k.Run(^uint64(0)), &d, "without a limit, rest is the end")

	top, k = feed(t, 3, 0, 2)
	k.Go("waiter", func(t *hdl.Thread) { t.Wait(&hdl.Event{}, 0) })
	require.EqualError(t, k.Run(2000), "t: deadlock at cycle 5: everything sleeps and nothing is due\n"+
		"\tthread t.waiter waits for an event since cycle 0\n"+
		"\tt.e: t.e.in is empty since cycle 4, peer t.f")
	require.Len(t, top.E.Vals, 3)
}

// hoarder takes one beat and no more.
type hoarder struct {
	In hdl.In[uint32]
	hdl.Regs[struct{ Full bool }]
}

func (m *hoarder) Eval() {
	if !m.Q.Full && m.In.Valid() {
		m.In.Take()
		m.D.Full = true
	}
}

func TestDeadlockNamesWhoWaits(t *testing.T) {
	top := &struct {
		F feeder
		H hoarder
	}{F: feeder{Total: 9}}
	hdl.Connect(&top.F.Out, &top.H.In, 2)
	k, err := hdl.Elaborate("t", top, hdl.Options{})
	require.NoError(t, err)
	err = k.Run(1000)
	require.EqualError(t, err, "t: deadlock at cycle 4: everything sleeps and nothing is due\n"+
		"\tt.f: t.f.out is full since cycle 3, peer t.h\n"+
		"\tt.h: t.h.in is held since cycle 3, peer t.f")
}

// levels: a driver that raises its level in cycles 10 and 20, and two readers.
type driver struct {
	Level hdl.Sig[uint8]
	hdl.Regs[struct{ N uint8 }]
}

func (m *driver) Eval() {
	if m.Q.N < 2 && m.Now() == uint64(m.Q.N+1)*10 {
		m.Level.Set(m.Level.Get() + 3)
		m.D.N++
	} else {
		m.Level.Set(m.Level.Get()) // no change, no wake
	}
	if m.D.N < 2 {
		m.WakeAt(uint64(m.D.N+1) * 10)
	}
}

type reader struct {
	Tap hdl.Tap[uint8]
	hdl.Regs[struct {
		Seen uint8
		At   uint64
	}]
}

func (m *reader) Eval() {
	if v := m.Tap.Get(); v != m.Q.Seen {
		m.D.Seen, m.D.At = v, m.Now()
	}
}

func TestLevelIsSeenNextCycle(t *testing.T) {
	top := &struct {
		D driver
		R [2]reader
	}{}
	hdl.Wire(&top.D.Level, &top.R[0].Tap, &top.R[1].Tap)
	k, err := hdl.Elaborate("t", top, hdl.Options{})
	require.NoError(t, err)
	require.NoError(t, k.Run(15))
	require.Equal(t, uint64(11), top.R[0].Q.At)
	require.Equal(t, uint8(3), top.R[1].Q.Seen)
	require.NoError(t, k.Run(40))
	require.Equal(t, uint64(21), top.R[1].Q.At)
	require.Equal(t, uint8(6), top.R[0].Q.Seen)
	require.Less(t, k.Stats().Steps, uint64(12), "idle stretches are jumped")
}
