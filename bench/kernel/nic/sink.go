package nic

import (
	"math/bits"

	"rnic/hdl"
	"rnic/roce"
)

// CRC runs CRC-32 over the beats up to each Last: 512 bits a cycle.
type CRC struct {
	Off bool // cheap stand-in for the CRC, to measure the rest

	In  hdl.In[Beat]
	Out hdl.Out[Checked]

	hdl.Regs[struct{ Register roce.CRC }]
}

// Eval passes a beat on with the register behind it.
func (m *CRC) Eval() {
	if !m.In.Valid() || !m.Out.Ready() {
		return
	}
	in, out := m.In.Take(), m.Out.Next()
	crc := m.Q.Register ^ roce.CRC(word(&in.Data, 0))
	if !m.Off {
		crc = m.Q.Register.Beat(&in.Data, 64)
	}
	out.Data, out.Seq, out.CRC = in.Data, in.Seq, crc
	if m.D.Register = crc; in.Last {
		m.D.Register = roce.FCSStart
	}
}

// Sink takes beats in three cycles of four on average.
type Sink struct {
	In hdl.In[Checked]

	hdl.Regs[sinkRegs]
}

type sinkRegs struct {
	LFSR  uint32
	Count uint32 // beats taken
	Check uint64 // checksum of all of them, in order
}

// Eval takes a beat unless the LFSR says no.
func (m *Sink) Eval() {
	q, d := &m.Q, &m.D
	if !m.In.Valid() {
		return
	}
	d.LFSR = xorshift32(q.LFSR)
	if q.LFSR&3 == 0 {
		return
	}
	in := m.In.Take()
	check := bits.RotateLeft64(q.Check, 1) ^ (uint64(in.CRC)<<32 | uint64(in.Seq))
	for i := range 8 {
		check ^= word(&in.Data, i)
	}
	d.Check, d.Count = check, q.Count+1
}

func xorshift32(y uint32) uint32 {
	y ^= y << 13
	y ^= y >> 17
	return y ^ y<<5
}
