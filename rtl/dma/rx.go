package dma

import (
	"rnic/hdl"
	"rnic/pcie"
	"rnic/rtl/port"
)

// cplLine is one line of a completion, its bytes where they lie in host memory.
// All but Short, Last and Data are those of the completion.
type cplLine struct {
	First, Last bool
	Fail        bool // error status: no data
	Poison      bool
	Short       bool // on the last line: there was less payload than the header said
	Tag         pcie.Tag
	Count       pcie.ByteCount // bytes left before this completion
	Bytes       pcie.ByteCount // bytes in it
	Lower       pcie.LowerAddr
	Data        line
}

type rxState uint8

const (
	rxIdle  rxState = iota // a TLP starts
	rxMmio                 // further beats of a request of the host
	rxCpl                  // further beats of a completion
	rxFlush                // its last line is in Carry
	rxDrop                 // beats that nobody wants
)

// Width is 3 bits.
func (rxState) Width() int { return 3 }

func (s rxState) String() string {
	return [...]string{"IDLE", "MMIO", "CPL", "FLUSH", "DROP", "RESERVED", "RESERVED", "RESERVED"}[s&7]
}

type rxRegs struct {
	State rxState
	Left  uint8          // lines of the completion still to send, up to 65
	Want  pcie.ByteCount // bytes of it still to come
	Hdr   cplHdr
}

// cplHdr is what the lines of a completion have in common.
type cplHdr struct {
	Fail, Poison bool
	Tag          pcie.Tag
	Count, Bytes pcie.ByteCount
	Lower        pcie.LowerAddr
}

// Rx takes what the link delivers: requests of the host go to csr, completions
// become lines.
type Rx struct {
	Pcie hdl.In[pcie.Beat]
	Mmio hdl.Out[pcie.Beat] // MRd and MWr of the host
	Line hdl.Out[cplLine]

	Carry hdl.RAM[line] // the beat before

	hdl.Regs[rxRegs]
}

// Eval moves one beat.
func (r *Rx) Eval() {
	q, d := &r.Q, &r.D
	if q.State == rxFlush {
		r.flush()
		return
	}
	if !r.Pcie.Valid() {
		return
	}
	b := r.Pcie.Head()
	switch {
	case q.State == rxIdle && b.First && b.Hdr.Kind.IsRequest(), q.State == rxMmio:
		if !r.Mmio.Ready() {
			return
		}
		r.Mmio.Put(*b)
		d.State = rxMmio
	case q.State == rxIdle && b.First:
		if !r.Line.Ready() {
			return
		}
		d.Hdr, d.Left = completion(&b.Hdr)
		r.line(b, true, d.Left, d.Hdr.Bytes)
	case q.State == rxCpl:
		if !r.Line.Ready() {
			return
		}
		r.line(b, false, q.Left, q.Want)
	}
	if b.Last && d.State != rxFlush {
		d.State = rxIdle
	}
	r.Pcie.Take()
}

// completion takes a header apart and counts the lines that its data touches,
// one if there is none.
func completion(t *pcie.TLP) (h cplHdr, lines uint8) {
	h = cplHdr{
		Fail: t.Status != pcie.Success || t.Kind != pcie.CplD, Poison: t.Poison,
		Tag: t.Tag, Count: t.Count, Bytes: pcie.ByteCount(t.Bytes()), Lower: t.Lower,
	}
	if h.Fail || h.Bytes == 0 {
		h.Bytes = 0
		return h, 1
	}
	return h, uint8((int(h.Lower%64) + int(h.Bytes) + 63) / 64)
}

// line sends the line that beat b completes. left counts it, and want the bytes
// of the beat.
func (r *Rx) line(b *pcie.Beat, first bool, left uint8, want pcie.ByteCount) {
	d := &r.D
	d.Left = left - 1
	d.Want = want - min(want, pcie.ByteCount(b.Len))
	l := r.next(&d.Hdr, first, left == 1, d.Want)
	rot := int(d.Hdr.Lower % 64)
	copy(l.Data[rot:], b.Data[:])
	copy(l.Data[:rot], r.Carry.Data(0)[64-rot:])
	r.Carry.Write(0, 0, (*line)(&b.Data))
	switch {
	case left == 1:
		d.State = rxDrop // Eval: idle if this was the last beat
	case b.Last:
		d.State = rxFlush
	default:
		d.State = rxCpl
	}
}

// flush sends the bytes that Carry still holds. That is one line; more say that
// the payload ended early.
func (r *Rx) flush() {
	q, d := &r.Q, &r.D
	if !r.Line.Ready() {
		return
	}
	l := r.next(&q.Hdr, false, q.Left == 1, q.Want)
	rot := int(q.Hdr.Lower % 64)
	clear(l.Data[rot:])
	copy(l.Data[:rot], r.Carry.Data(0)[64-rot:])
	d.Left = q.Left - 1
	if q.Left == 1 {
		d.State = rxIdle
	}
}

// next is the slot of the next line, without its data.
func (r *Rx) next(h *cplHdr, first, last bool, want pcie.ByteCount) *cplLine {
	l := r.Line.Next()
	l.First, l.Last, l.Fail, l.Poison = first, last, h.Fail, h.Poison
	l.Short = last && want > 0
	l.Tag, l.Count, l.Bytes, l.Lower = h.Tag, h.Count, h.Bytes, h.Lower
	return l
}

var _ [port.BeatBytes - pcie.BeatBytes]struct{} // the two widths are one
