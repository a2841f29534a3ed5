package hdl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
)

// held puts three beats into a stream that nobody reads.
type held struct {
	Out hdl.Out[uint8]
	In  hdl.In[uint8]
	hdl.Regs[struct{ N uint8 }]
}

func (h *held) Eval() {
	if h.Q.N < 3 && h.Out.Ready() {
		h.Out.Put(h.Q.N)
		h.D.N++
	}
}

func TestOccupied(t *testing.T) {
	h := &held{}
	hdl.Connect(&h.Out, &h.In, 4)
	k, err := hdl.Elaborate("k", h, hdl.Options{})
	require.NoError(t, err)
	require.Empty(t, k.Occupied())
	for range 5 {
		k.Step()
	}
	require.Equal(t, []hdl.Occupancy{{Port: "k.in", N: 3}}, k.Occupied())
}
