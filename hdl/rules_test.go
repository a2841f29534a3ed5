package hdl_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
)

// rogue does once, in cycle 3, what its function says.
type rogue struct {
	Do  func(*rogue)
	In  hdl.In[token]
	Out hdl.Out[token]
	Mem hdl.RAM[token]
	Lev hdl.Sig[psn]
	Tap hdl.Tap[psn]
	hdl.Regs[struct {
		N uint8
		P psn
		I [2]bool
	}]
}

func (m *rogue) Eval() {
	if m.Q.N < 9 {
		m.D.N++
	}
	if m.Q.N == 3 {
		m.Do(m)
	} else if m.In.Valid() {
		m.In.Take()
	}
}

func runRogue(t *testing.T, o hdl.Options, do func(*rogue)) error {
	top := &struct{ M rogue }{rogue{Do: do}}
	hdl.Connect(&top.M.Out, &top.M.In, 2)
	hdl.Wire(&top.M.Lev, &top.M.Tap)
	top.M.Mem.Init(2, hdl.ReadFirst)
	k, err := hdl.Elaborate("t", top, o)
	require.NoError(t, err)
	err = k.Run(20)
	require.Equal(t, err, k.Run(30), "a fault is final")
	return err
}

func TestFaults(t *testing.T) {
	for msg, do := range map[string]func(*rogue){
		"t.m: cycle 3: t.m.in: Take or Head without Valid": func(m *rogue) { m.In.Take() },
		"t.m: cycle 3: t.m.out: second Put in one cycle":   func(m *rogue) { m.Out.Put(token{}); m.Out.Next() },
		"t.m: cycle 3: credit 7 lost":                      func(m *rogue) { m.Fail("credit %d lost", 7) },
		"t.m: cycle 3: t.m.mem: second access of port 0 in one cycle": func(m *rogue) {
			m.Mem.Read(0, 1)
			m.Mem.Write(0, 1, &token{})
		},
	} {
		for _, strict := range []bool{false, true} {
			require.EqualError(t, runRogue(t, hdl.Options{Strict: strict}, do), msg)
		}
	}
	err := runRogue(t, hdl.Options{}, func(m *rogue) { m.In.Head().Len = 1 })
	require.EqualError(t, err, "t.m: cycle 3: t.m.in: Take or Head without Valid")
	err = runRogue(t, hdl.Options{}, func(m *rogue) { var a []int; a[m.Q.N]++ })
	require.Regexp(t, `^t\.m: cycle 3: runtime error: index out of range \[3\] with length 0 at hdl/rules_test\.go:\d+$`, err)
}

func TestStrictWidths(t *testing.T) {
	for msg, do := range map[string]func(*rogue){
		"t.m: cycle 3: field p = 0x1000000 exceeds 24 bits":             func(m *rogue) { m.D.P = 1 << 24 },
		"t.m: cycle 3: t.m.out: field psn = 0xffffffff exceeds 24 bits": func(m *rogue) { m.Out.Next().PSN = 0xffffffff },
		"t.m: cycle 3: t.m.lev: the value = 0x1000001 exceeds 24 bits":  func(m *rogue) { m.Lev.Set(1<<24 + 1) },
		"t.m: cycle 3: t.m.mem: field psn = 0x2000000 exceeds 24 bits":  func(m *rogue) { m.Mem.WriteNext(1, 0).PSN = 1 << 25 },
		"t.m: cycle 3: t.m.mem: field psn = 0xa5a5a5a5 exceeds 24 bits": func(m *rogue) { m.Mem.WriteNext(1, 0).QPN = 1 },
	} {
		require.NoError(t, runRogue(t, hdl.Options{}, do))
		require.EqualError(t, runRogue(t, hdl.Options{Strict: true}, do), msg)
	}
}

// big has many registers, with padding, and counts in the last now and then.
type big struct {
	hdl.Regs[struct {
		A [20]struct {
			X uint8
			Y uint32
		}
		Last uint8
	}]
}

func (m *big) Eval() {
	if m.Q.Last < 200 {
		m.D.Last++
	}
}

func TestWideState(t *testing.T) {
	top := &struct{ B big }{}
	k, err := hdl.Elaborate("t", top, hdl.Options{})
	require.NoError(t, err)
	require.NoError(t, k.Run(1000))
	require.Equal(t, uint8(200), top.B.Q.Last)
	require.Equal(t, uint64(201), k.Stats().Steps)
	require.Equal(t, []hdl.Usage{{Path: "t.b", FlipFlopBits: 20*40 + 8}}, k.Area())
}

// scribbler changes nothing but the padding of its registers, every cycle.
type scribbler struct {
	hdl.Regs[struct {
		A uint8
		B uint32
	}]
}

func (m *scribbler) Eval() {
	*(*uint8)(unsafe.Add(unsafe.Pointer(&m.D), 1)) = uint8(m.Now() + 1)
}

// scribblerWide is one with more registers.
type scribblerWide struct {
	hdl.Regs[struct {
		A uint8
		B [40]uint32
	}]
}

func (m *scribblerWide) Eval() {
	*(*uint8)(unsafe.Add(unsafe.Pointer(&m.D), 1)) = uint8(m.Now() + 1)
}

func TestPaddingIsNoState(t *testing.T) {
	for _, o := range []hdl.Options{{}, {Strict: true}} {
		top := &struct {
			A scribbler
			B scribblerWide
		}{}
		k, err := hdl.Elaborate("t", top, o)
		require.NoError(t, err)
		require.NoError(t, k.Run(10))
		require.Equal(t, uint64(1), k.Stats().Steps)
	}
}

// metronome asks at each Eval to be woken ten cycles on.
type metronome struct {
	hdl.Regs[struct{ N uint8 }]
}

func (m *metronome) Eval() {
	if m.Q.N == 0 {
		m.D.N = 1
	}
	m.WakeAt(m.Now() + 10)
}

func TestStrictJumpsAsFast(t *testing.T) {
	for _, o := range []hdl.Options{{}, {Strict: true}} {
		k, err := hdl.Elaborate("t", &struct {
			M metronome
			B big
		}{}, o)
		require.NoError(t, err)
		require.NoError(t, k.Run(400))
		require.Equal(t, uint64(201+1+2*19), k.Stats().Steps, "big until 200, then two of every ten")
	}
}

// keeper holds on to what it took.
type keeper struct {
	hdl.Behave
	In   hdl.In[uint32]
	Kept []*uint32
}

func (a *keeper) Tick() {
	if a.In.Valid() {
		a.Kept = append(a.Kept, a.In.Take())
	}
}

func TestStrictPoisonsWhatWasTaken(t *testing.T) {
	top := &struct {
		F feeder
		K keeper
	}{F: feeder{Total: 6}}
	hdl.Connect(&top.F.Out, &top.K.In, 3)
	k, err := hdl.Elaborate("t", top, hdl.Options{Strict: true})
	require.NoError(t, err)
	require.NoError(t, k.Run(50))
	require.Len(t, top.K.Kept, 6)
	for _, p := range top.K.Kept {
		require.Equal(t, uint32(0xa5a5a5a5), *p)
	}
}

func TestDigestCoversWhenThingsHappened(t *testing.T) {
	run := func(from uint64, o hdl.Options) uint64 {
		top := &feedTop{F: feeder{Total: 2}, E: eater{From: from}}
		hdl.Connect(&top.F.Out, &top.E.In, 2)
		k, err := hdl.Elaborate("t", top, o)
		require.NoError(t, err)
		require.NoError(t, k.Run(100))
		return k.Digest()
	}
	require.Equal(t, run(50, hdl.Options{}), run(60, hdl.Options{}), "present state is the same")
	require.NotEqual(t, run(50, hdl.Options{Digest: true}), run(60, hdl.Options{Digest: true}))
	require.Equal(t, run(50, hdl.Options{Digest: true}), run(50, hdl.Options{Digest: true}))
}

// forgetful leaves a field of the slot that it fills as it was.
type forgetful struct {
	In  hdl.In[token]
	Out hdl.Out[token]
	hdl.Regs[struct{ N uint8 }]
}

func (m *forgetful) Eval() {
	if m.Q.N < 6 && m.Out.Ready() {
		o := m.Out.Next()
		o.QPN, o.VA, o.Len, o.Op = 1, 2, 3, 4
		m.D.N++
	}
	if m.In.Valid() {
		m.In.Take()
	}
}

func TestStrictFindsUnsetField(t *testing.T) {
	top := &struct{ M forgetful }{}
	hdl.Connect(&top.M.Out, &top.M.In, 2)
	k, err := hdl.Elaborate("t", top, hdl.Options{Strict: true})
	require.NoError(t, err)
	require.EqualError(t, k.Run(20), "t.m: cycle 0: t.m.out: field psn = 0xa5a5a5a5 exceeds 24 bits")
}

// sleeper acts at a cycle that it did not ask to be woken at.
type sleeper struct {
	hdl.Regs[struct{ N uint8 }]
}

func (m *sleeper) Eval() {
	if m.Now() == 5 {
		m.D.N++
	}
}

type ticker struct {
	hdl.Regs[struct{ N uint8 }]
}

func (m *ticker) Eval() { m.D.N = m.Q.N + 1 }

func TestStrictFindsMissingWakeAt(t *testing.T) {
	top := &struct {
		S sleeper
		T ticker
	}{}
	k, err := hdl.Elaborate("t", top, hdl.Options{Strict: true})
	require.NoError(t, err)
	err = k.Run(20)
	require.ErrorContains(t, err, "t.s: cycle 5: moved while it slept")
	var f *hdl.Fault
	require.ErrorAs(t, err, &f)
	require.Equal(t, uint64(5), f.Cycle)
}
