package nic

import (
	"math/bits"

	"rnic/hdl"
)

// Line is a context: 256 bits.
type Line struct {
	PSN, Bytes    uint32
	Hash, Sum, XY uint64
}

// Lines is the size of the context RAM.
const Lines = 1024

// Context updates the line of every beat: a cycle to read it, while the beat waits
// in Held, and one to write it. The RAM is write-first, so a line read while it is
// written needs no bypass.
type Context struct {
	In   hdl.In[Beat]
	Hold hdl.Out[Beat]
	Held hdl.In[Beat]
	Out  hdl.Out[Beat]
	RAM  hdl.RAM[Line] // port 0 reads, port 1 writes

	hdl.Regs[struct{}]
}

// Eval finishes the beat that is held if there is room, and then reads for the next.
func (m *Context) Eval() {
	if m.Held.Valid() {
		if !m.Out.Ready() {
			return
		}
		b := m.Out.Next()
		*b = *m.Held.Take()
		old, line := m.RAM.Data(0), m.RAM.WriteNext(1, int(b.Index))
		line.PSN = old.PSN + 1
		line.Bytes = old.Bytes + 64
		line.Hash = bits.RotateLeft64(old.Hash, 1) ^ word(&b.Data, 0)
		line.Sum = old.Sum + uint64(b.Seq)
		line.XY = old.Hash ^ word(&b.Data, 7)
		setWord(&b.Data, 7, word(&b.Data, 7)^line.Hash)
		b.Seq = line.PSN
	}
	if m.In.Valid() {
		b := m.In.Take()
		*m.Hold.Next() = *b
		m.RAM.Read(0, int(b.Index))
	}
}
