package nic

import (
	"math/bits"

	"rnic/hdl"
)

// Window is the period of the source's activity in cycles.
const Window = 1024

// Source sends beats of pseudo-random content in the first Active cycles of each
// Window, in seven cycles of eight on average.
type Source struct {
	Active uint64 // cycles, 0..Window

	Out hdl.Out[Beat]

	hdl.Regs[sourceRegs]
}

type sourceRegs struct {
	LFSR uint64
	Seq  uint32
}

// Eval sends a beat if there is room, unless the LFSR or the time says no.
func (s *Source) Eval() {
	q, d := &s.Q, &s.D
	if phase := s.Now() % Window; phase >= s.Active {
		s.WakeAt(s.Now() - phase + Window)
		return
	}
	if !s.Out.Ready() {
		return
	}
	x := xorshift64(q.LFSR)
	d.LFSR = x
	if x&7 == 0 {
		return
	}
	o := s.Out.Next()
	for i := range 8 {
		setWord(&o.Data, i, bits.RotateLeft64(x, 8*i))
	}
	o.Seq = q.Seq
	o.Index = CtxIndex(x >> 36 & 1023)
	o.Queue = QueueID(x >> 32 & 15)
	o.Last = x>>48&7 == 0
	d.Seq = q.Seq + 1
}

func xorshift64(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	return x ^ x<<17
}
