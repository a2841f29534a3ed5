package hdl_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
)

// recorder writes down what an observer is told, by signal path.
type recorder struct {
	k       *hdl.Kernel
	signals []hdl.Signal
	log     []string
}

func (r *recorder) value(s hdl.Signal) string {
	p := r.k.Base(s.Owner)
	if p == nil {
		return "x"
	}
	b := unsafe.Slice((*byte)(unsafe.Add(p, s.Offset)), s.Size)
	if s.Kind == hdl.Bytes {
		return fmt.Sprintf("%x", b)
	}
	v := uint64(0)
	for i := range b {
		v |= uint64(b[i]) << (8 * i)
	}
	if s.Names != nil {
		return s.Names(v)
	}
	return fmt.Sprint(v)
}

func (r *recorder) note(head string, owners []int32) {
	line := []string{head}
	for _, o := range owners {
		for _, s := range r.signals {
			if s.Owner == int(o) {
				line = append(line, strings.TrimPrefix(s.Path, "t.")+"="+r.value(s))
			}
		}
	}
	r.log = append(r.log, strings.Join(line, " "))
}

func (r *recorder) Edge(cycle uint64, ch *hdl.Changes) {
	r.note(fmt.Sprintf("%d:", cycle-1), ch.Past)
	r.note(fmt.Sprintf("%d:", cycle), ch.State)
}

func (r *recorder) Jump(from, to uint64, ch *hdl.Changes) {
	r.note(fmt.Sprintf("%d..%d:", from, to), ch.Past)
}

type mode uint8

func (mode) Width() int       { return 2 }
func (m mode) String() string { return [...]string{"IDLE", "BUSY"}[m] }

type traced struct {
	In  hdl.In[[2]byte]
	Out hdl.Out[[2]byte]
	Lev hdl.Sig[bool]
	Mem hdl.RAM[psn]
	hdl.Regs[struct{ Mode mode }]
}

func (m *traced) Eval() {
	switch m.Now() {
	case 1:
		m.D.Mode = 1
		m.Out.Put([2]byte{0xab, 0xcd})
		m.Mem.Read(0, 2)
	case 2:
		m.Lev.Set(true)
		m.Mem.Write(1, 3, new(psn))
		m.WakeAt(20)
	case 3:
		m.In.Take()
		m.D.Mode = 3
	}
	if m.Now() == 0 {
		m.WakeAt(1)
	}
}

func TestObserver(t *testing.T) {
	var logs []string
	for _, o := range []hdl.Options{{}, {Strict: true}, {Digest: true}} {
		top := &struct{ M traced }{}
		hdl.Connect(&top.M.Out, &top.M.In, 2)
		top.M.Mem.Init(5, hdl.NoChange)
		k, err := hdl.Elaborate("t", top, o)
		require.NoError(t, err)
		r := &recorder{k: k, signals: k.Signals()}
		k.Observe(r)
		require.NoError(t, k.Run(30))
		logs = append(logs, strings.Join(r.log, "\n"))
	}
	require.Equal(t, strings.Join([]string{
		"0:",
		"1:",
		"1: m.in.take=0 m.out.put=1 m.mem.port_0.addr=2 m.mem.port_0.read=1 m.mem.port_0.write=0 m.mem.port_1.addr=0 m.mem.port_1.read=0 m.mem.port_1.write=0",
		"2: m.mode=BUSY m.in.valid=1 m.in.count=1 m.out.ready=1 m.in.head=abcd",
		"2: m.in.take=0 m.out.put=0 m.mem.port_0.addr=2 m.mem.port_0.read=0 m.mem.port_0.write=0 m.mem.port_1.addr=3 m.mem.port_1.read=0 m.mem.port_1.write=1",
		"3: m.lev=1",
		"3: m.in.take=1 m.out.put=0 m.mem.port_0.addr=0 m.mem.port_0.read=0 m.mem.port_0.write=0 m.mem.port_1.addr=0 m.mem.port_1.read=0 m.mem.port_1.write=0",
		"4: m.mode=3 m.in.valid=0 m.in.count=0 m.out.ready=1 m.in.head=x",
		"4: m.in.take=0 m.out.put=0",
		"5:",
		"5..20:",
		"20:",
		"21:",
		"21..30:",
	}, "\n"), logs[0])
	require.Equal(t, logs[0], logs[1])
	require.Equal(t, logs[0], logs[2])
}

func TestObserveAWindow(t *testing.T) {
	top, k := feed(t, 1000, 0, 2)
	r := &recorder{k: k, signals: k.Signals()}
	k.Go("window", func(t *hdl.Thread) {
		t.Sleep(100)
		k.Observe(r)
		t.Sleep(2)
		k.Unobserve(r)
		k.Unobserve(r)
	})
	require.NoError(t, k.Run(500))
	require.Equal(t, []string{
		"100: f.out.put=1 e.in.take=1",
		"101: f.n=101 f.out.ready=1 e.in.valid=1 e.in.count=1 e.in.head=100",
		"101: f.out.put=1 e.in.take=1",
		"102: f.n=102 f.out.ready=1 e.in.valid=1 e.in.count=1 e.in.head=101",
	}, r.log)
	require.Len(t, top.E.Vals, 500)
}

// many has more registers than fit into a word of Moved.
type many struct {
	hdl.Regs[struct {
		Few  [3]uint8
		Many [130]uint64
		Last bool
	}]
}

func (m *many) Eval() {
	n := m.Now()
	m.D.Many[n*n%130] += n % 3
	m.D.Few[n%3] = uint8(n / 7)
	m.D.Last = n%5 == 0
	m.WakeAt(n + 1 + n%4)
}

// moved compares what the kernel says with memory as it was.
type moved struct {
	t     *testing.T
	k     *hdl.Kernel
	was   []uint64
	edges int
}

func (o *moved) words() []uint64 { return unsafe.Slice((*uint64)(o.k.Base(0)), 132) }

func (o *moved) Edge(cycle uint64, ch *hdl.Changes) {
	want := make([]uint64, 3)
	now := o.words()
	for i := range now {
		if now[i] != o.was[i] {
			want[i/64] |= 1 << (i % 64)
		}
	}
	changed := slices.ContainsFunc(want, func(w uint64) bool { return w != 0 })
	require.Equal(o.t, changed, slices.Contains(ch.State, 0))
	if changed {
		o.edges++
		require.Equal(o.t, want, o.k.Moved(0))
	}
	copy(o.was, now)
}

func (o *moved) Jump(from, to uint64, ch *hdl.Changes) { require.Empty(o.t, ch.State) }

func TestMoved(t *testing.T) {
	for _, opt := range []hdl.Options{{}, {Strict: true}, {Digest: true}} {
		top := &struct{ M many }{}
		k, err := hdl.Elaborate("t", top, opt)
		require.NoError(t, err)
		o := &moved{t: t, k: k}
		o.was = slices.Clone(o.words())
		k.Observe(o)
		require.NoError(t, k.Run(500))
		require.Greater(t, o.edges, 150)
		require.Nil(t, k.Moved(1))
	}
}

func TestSignals(t *testing.T) {
	top := &struct{ M traced }{}
	hdl.Connect(&top.M.Out, &top.M.In, 6)
	top.M.Mem.Init(5, hdl.NoChange)
	k, err := hdl.Elaborate("t", top, hdl.Options{})
	require.NoError(t, err)
	var got []string
	for _, s := range k.Signals() {
		require.Equal(t, s.Path, s.Scope+"."+s.Name)
		got = append(got, fmt.Sprint(s.Path, " ", s.Type, " ", s.Width, " ", s.Kind, " ", s.Role.Past()))
	}
	require.Equal(t, []string{
		"t.m.mode hdl_test.mode 2 enum false",
		"t.m.in.valid bool 1 bool false",
		"t.m.in.take bool 1 bool true",
		"t.m.in.count uint32 3 uint false",
		"t.m.in.head [2]uint8 16 bytes false",
		"t.m.out.ready bool 1 bool false",
		"t.m.out.put bool 1 bool true",
		"t.m.lev bool 1 bool false",
		"t.m.mem.port_0.addr int 3 uint true",
		"t.m.mem.port_0.read bool 1 bool true",
		"t.m.mem.port_0.write bool 1 bool true",
		"t.m.mem.port_1.addr int 3 uint true",
		"t.m.mem.port_1.read bool 1 bool true",
		"t.m.mem.port_1.write bool 1 bool true",
	}, got)
	require.Equal(t, []hdl.Usage{{Path: "t.m", FlipFlopBits: 2 + 1 + 6*16, RAMBits: 5 * 24}}, k.Area())
}

func TestRandStreamsAreIndependent(t *testing.T) {
	draw := func(seed uint64, path string) uint64 {
		k, err := hdl.Elaborate("t", &struct{}{}, hdl.Options{Seed: seed})
		require.NoError(t, err)
		return k.Rand(path).Uint64()
	}
	require.Equal(t, draw(1, "a.b"), draw(1, "a.b"))
	require.NotEqual(t, draw(1, "a.b"), draw(2, "a.b"))
	require.NotEqual(t, draw(1, "a.b"), draw(1, "a.c"))
}
