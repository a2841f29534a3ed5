package hdltest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
)

// fake notes whether a test failed.
type fake struct {
	failed bool
	said   string
}

func (f *fake) Helper()                   {}
func (f *fake) Logf(string, ...any)       {}
func (f *fake) Errorf(s string, a ...any) { f.said = fmt.Sprintf(s, a...) }
func (f *fake) FailNow()                  { f.failed = true; panic(f) }

// pair of modules with a variable between them that is no register.
type leaky struct {
	Shared *uint32
	Set    bool
	hdl.Regs[struct{ N, Sum uint32 }]
}

func (m *leaky) Eval() {
	if m.Q.N == 50 {
		return
	}
	m.D.N++
	if m.Set {
		*m.Shared = m.Q.N
	} else {
		m.D.Sum += *m.Shared
	}
}

// careless leaves a field of the slot that it fills as it was.
type careless struct {
	In  hdl.In[[2]uint32]
	Out hdl.Out[[2]uint32]
	hdl.Regs[struct{ N, Sum uint32 }]
}

func (m *careless) Eval() {
	if m.Q.N < 9 && m.Out.Ready() {
		m.Out.Next()[0] = m.Q.N
		m.D.N++
	}
	if m.In.Valid() {
		m.D.Sum += m.In.Take()[1]
	}
}

func identical(build func() any) (f *fake) {
	f = &fake{}
	defer func() { _ = recover() }()
	hdltest.Identical(f, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, error) {
		k, err := hdl.Elaborate("t", build(), o)
		if err != nil {
			panic(err)
		}
		return k, k.Run(1000)
	})
	return f
}

func TestIdenticalSeesOrder(t *testing.T) {
	f := identical(func() any {
		x := new(uint32)
		return &struct{ A, B leaky }{leaky{Shared: x, Set: true}, leaky{Shared: x}}
	})
	require.True(t, f.failed)
	require.Contains(t, f.said, "state or transfers of the strict run differ")
}

func TestIdenticalSeesStaleSlots(t *testing.T) {
	f := identical(func() any {
		top := &struct{ C careless }{}
		hdl.Connect(&top.C.Out, &top.C.In, 2)
		return top
	})
	require.True(t, f.failed)
}

func TestIdenticalPasses(t *testing.T) {
	f := identical(func() any {
		return &struct{ A leaky }{leaky{Shared: new(uint32)}}
	})
	require.False(t, f.failed)
}
