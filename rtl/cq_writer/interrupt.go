package cqwriter

import (
	"encoding/binary"

	"rnic/hdl"
	"rnic/rtl/port"
)

// msixSize is the bytes of the write that is an interrupt.
const msixSize = 4

// maxAsked is how many answers of csr there is room for.
const maxAsked = 2

// interrupt asks csr for the messages of raised vectors, and makes the write when
// it has one. It tells whether it did.
func (w *Writer) interrupt() (wrote bool) {
	q, d := &w.Q, &w.D
	if q.Raise != 0 && q.Asked < maxAsked && w.Msix.Ready() {
		i := hdl.RoundRobin(uint64(q.Raise), int(q.Vector))
		w.Msix.Put(port.MsixReq{Vector: uint8(i)})
		d.Vector = uint8(i)
		d.Raise &^= 1 << i
		d.Asked++
	}
	if w.MsixFire.Valid() {
		d.Raise |= vectorBit(uint32(w.MsixFire.Take().Vector))
	}
	if !w.MsixRes.Valid() || !w.Write.Ready() || !w.WriteData.Ready() {
		return false
	}
	r := w.MsixRes.Take()
	d.Asked--
	if !r.Send {
		return false
	}
	b := w.post(r.Addr, msixSize)
	binary.LittleEndian.PutUint32(b.Data[:], r.Data)
	d.Counted.Msix++
	return true
}
