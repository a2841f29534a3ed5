package waves_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
)

// long is a beat with a lane of data, and an array that is none.
type long struct {
	Addr [40]byte
	Data [41]byte
	Len  uint8
}

type source struct {
	Out hdl.Out[long]
	hdl.Regs[struct {
		N    uint8
		GRH  [40]byte
		Held [64]byte
	}]
}

func (m *source) Eval() {
	if m.Out.Ready() {
		m.D.N++
		m.D.Held[1], m.D.GRH[1] = m.Q.N, m.Q.N
		m.Out.Put(long{Addr: [40]byte{m.Q.N}, Data: [41]byte{1, m.Q.N}, Len: m.Q.N})
	}
}

type drain struct {
	In hdl.In[long]
	hdl.Regs[struct{ N uint8 }]
}

func (m *drain) Eval() {
	m.D.N++
	if m.In.Valid() && m.Q.N%3 == 0 {
		m.In.Take()
	}
}

// Without payload, the waves are those with it but for what streams carry and for arrays
// of data.
func TestControl(t *testing.T) {
	record := func(o waves.Options) string {
		top := &struct {
			Src source
			Dst drain
		}{}
		hdl.Connect(&top.Src.Out, &top.Dst.In, 2)
		k, err := hdl.Elaborate("top", top, hdl.Options{})
		require.NoError(t, err)
		var b bytes.Buffer
		v, err := waves.New(&b, o, k)
		require.NoError(t, err)
		require.NoError(t, k.Run(300))
		require.NoError(t, v.Close())
		return b.String()
	}
	all, control := check(t, record(waves.Options{})), check(t, record(waves.Options{Control: true}))
	kept := all.Vars[:0]
	for _, v := range all.Vars {
		if v.Path != "top.src.held" && !strings.HasPrefix(v.Path, "top.dst.in.head.") {
			kept = append(kept, v)
		}
	}
	require.Len(t, control.Vars, len(kept))
	for i, v := range kept {
		require.Equal(t, v.Path, control.Vars[i].Path)
		require.Equal(t, v.Changes, control.Vars[i].Changes, v.Path)
	}
	require.Contains(t, paths(control), "top.src.grh")
	require.Contains(t, paths(control), "top.dst.in.count")
}
