package hdl_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/testdata/rtl/misplaced"
)

type pipe struct {
	In  hdl.In[token]
	Out hdl.Out[token]
	Mem hdl.RAM[uint8]
	Tap hdl.Tap[bool]
	hdl.Regs[struct{ N uint8 }]
}

func (*pipe) Eval() {}

type unflat struct {
	hdl.Regs[struct {
		N struct{ P *int }
	}]
}

func (*unflat) Eval() {}

type mute struct {
	hdl.Regs[struct{ N uint8 }]
}

type lazy struct{ hdl.Behave }

type wideRegs struct {
	hdl.Regs[struct{ W tooWide }]
}

func (*wideRegs) Eval() {}

type tooWide uint8

func (tooWide) Width() int { return 9 }

func TestElaborateListsAllErrors(t *testing.T) {
	other := &pipe{}
	top := &struct {
		A     pipe
		Sub   struct{ B, C pipe }
		Un    unflat
		Mute  mute
		Lazy  lazy
		Wide  wideRegs
		Stray hdl.In[token]
		Strs  hdl.Out[string]
	}{}
	hdl.Connect(&top.A.Out, &top.Sub.B.In, 1)
	hdl.Connect(&top.A.Out, &top.Sub.B.In, 2)
	hdl.Connect(&top.Sub.B.Out, &other.In, 2)
	hdl.Connect(&other.Out, &top.Sub.C.In, 2)
	top.A.Mem.Init(4, hdl.ReadFirst)
	moved := top.A
	top.Sub.C.Mem = moved.Mem
	_, err := hdl.Elaborate("t", top, hdl.Options{})
	require.Error(t, err)
	require.Equal(t, []string{
		"t.a.in: the port is not connected",
		"t.a.out: the port is connected twice",
		"t.a.tap: the tap is not wired",
		"t.sub.b.in: the port is connected twice",
		"t.sub.b.in: a stream of depth 1: at least 2",
		"t.sub.b.mem: the RAM has no size: Init before Elaborate",
		"t.sub.b.tap: the tap is not wired",
		"t.sub.c.out: the port is not connected",
		"t.sub.c.mem: the RAM was copied after Init",
		"t.sub.c.tap: the tap is not wired",
		"t.un: struct { N struct { P *int } }: field n.p has type *int, which is not flat",
		"t.mute: hdl_test.mute embeds hdl.Regs but its pointer lacks the method Eval()",
		"t.lazy: hdl_test.lazy embeds hdl.Behave but its pointer lacks the method Tick()",
		"t.wide: struct { W hdl_test.tooWide }: field w has type hdl_test.tooWide of width 9 in 1 bytes",
		"t.stray: a port, level or RAM belongs to a module or an agent",
		"t.strs: a port, level or RAM belongs to a module or an agent",
		"t.sub.c.in: the port's producer is not part of the design",
		"t.sub.b.out: the port's consumer is not part of the design",
	}, strings.Split(err.Error(), "\n"))
}

func TestElaborateRefusesAgentsBelowRTL(t *testing.T) {
	_, err := hdl.Elaborate("t", &struct{ A misplaced.Agent }{}, hdl.Options{})
	require.EqualError(t, err, "t.a: misplaced.Agent is an agent: behaviour has no place in rtl")
}

func TestElaborateRefusesNonsense(t *testing.T) {
	for _, top := range []any{nil, 3, struct{}{}, (*ring)(nil)} {
		_, err := hdl.Elaborate("t", top, hdl.Options{})
		require.ErrorContains(t, err, "pointer to a struct")
	}
	r := &ring{}
	for i := range r.S {
		hdl.Connect(&r.S[i].Out, &r.S[(i+1)%50].In, 2)
	}
	_, err := hdl.Elaborate("a", r, hdl.Options{})
	require.NoError(t, err)
	_, err = hdl.Elaborate("b", r, hdl.Options{})
	require.ErrorContains(t, err, "b.s_0: the module was elaborated before, as a.s_0")
}

type common struct {
	In  hdl.In[token]
	Out hdl.Out[token]
	hdl.Regs[struct{ LastPSN psn }]
}

type viaEmbedding struct{ common }

func (*viaEmbedding) Eval() {}

func TestHierarchyNames(t *testing.T) {
	top := &struct {
		RxBuf []*viaEmbedding
		Any   any
		Twice *viaEmbedding
		Mod   hdl.Module
	}{RxBuf: []*viaEmbedding{{}, {}}, Any: 3, Mod: &ticker{}}
	top.Twice = top.RxBuf[1] // reached before, under its first name
	hdl.Connect(&top.RxBuf[0].Out, &top.RxBuf[1].In, 2)
	hdl.TieOff(&top.RxBuf[0].In, &top.RxBuf[1].Out)
	k, err := hdl.Elaborate("nic", top, hdl.Options{})
	require.NoError(t, err)
	var paths []string
	for _, s := range k.Signals() {
		paths = append(paths, s.Path)
	}
	require.Equal(t, []string{
		"nic.rx_buf_0.last_psn",
		"nic.rx_buf_0.out.ready", "nic.rx_buf_0.out.put",
		"nic.rx_buf_1.last_psn",
		"nic.rx_buf_1.in.valid", "nic.rx_buf_1.in.take", "nic.rx_buf_1.in.count",
		"nic.rx_buf_1.in.head.qpn", "nic.rx_buf_1.in.head.psn", "nic.rx_buf_1.in.head.va", "nic.rx_buf_1.in.head.len", "nic.rx_buf_1.in.head.op",
		"nic.mod.n",
	}, paths)
	require.NoError(t, k.Run(10))
}
