package nic

import (
	"math/bits"

	"rnic/hdl"
)

// Stage is a step of the data path: it mixes the sideband into one word.
type Stage struct {
	N int // its number

	In  hdl.In[Beat]
	Out hdl.Out[Beat]

	hdl.Regs[struct{}]
}

// Eval passes a beat on.
func (m *Stage) Eval() {
	if !m.In.Valid() || !m.Out.Ready() {
		return
	}
	b := m.Out.Next()
	*b = *m.In.Take()
	w := m.N & 7
	side := uint64(b.Seq)<<32 | uint64(b.Index)<<4 | uint64(b.Queue)
	setWord(&b.Data, w, bits.RotateLeft64(word(&b.Data, w)^side, m.N+1)+golden*uint64(m.N+1))
}
