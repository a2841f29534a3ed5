package wqesched

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// wqeKind says what Exec does with a WQE.
type wqeKind uint8

const (
	kindSend  wqeKind = iota // packets
	kindLocal                // an entry with Status: NOP, flushed
	kindFault                // an entry with Status, and the service ends with Fault
	kindEnd                  // no WQE: the second unit of the next is not there yet
)

// Width is 2 bits.
func (wqeKind) Width() int { return 2 }

func (k wqeKind) String() string { return [...]string{"SEND", "LOCAL", "FAULT", "END"}[k&3] }

// maxInline is the inline data that the hardware takes: one beat.
const maxInline = port.BeatBytes

// unit is one unit of a send queue.
type unit [abi.UnitSize]byte

// wqe is a WQE as Fetch hands it to Exec.
type wqe struct {
	Kind      wqeKind
	Units     uint8 // that ExecIdx moves by
	Op        abi.WQEOp
	Signaled  bool
	Solicited bool
	Imm       uint32
	Len       uint32 // of the message, bytes
	Inline    bool
	SGE       [port.MaxSGE]port.SGE
	Data      [maxInline]byte
	Status    abi.WCStatus
	Vendor    abi.VendorErr
	Last      bool    // of the service
	Outcome   outcome // Last
}

// fault makes a WQE one that can't be executed.
func (w *wqe) fault(s abi.WCStatus, v abi.VendorErr) {
	w.Kind, w.Status, w.Vendor = kindFault, s, v
}

// parseFirst reads the first unit of the WQE at idx, of which left units are
// posted, 1 at least. It tells whether the second unit is needed too. A WQE of
// which not even the length can be believed counts as one unit.
func parseFirst(u *unit, idx, left uint16, w *wqe) (second bool) {
	var c abi.WQEControl
	_ = abi.WQEControlLayout.Decode(u[:], &c)
	*w = wqe{Units: 1, Op: c.Op, Imm: c.Imm}
	w.Signaled, w.Solicited = c.Flags&abi.WQESignalled != 0, c.Flags&abi.WQESolicited != 0
	if c.Index != idx {
		w.fault(abi.StatusLocQPOp, abi.VendorWQEStale)
		return false
	}
	if c.Units == 0 || c.Units > abi.MaxUnits || uint16(c.Units) > left {
		w.fault(abi.StatusLocQPOp, abi.VendorWQEFormat)
		return false
	}
	w.Units = c.Units
	switch c.Op {
	case abi.OpNop:
		w.Kind = kindLocal
		return false
	case abi.OpSend, abi.OpSendImm:
	default:
		w.fault(abi.StatusLocQPOp, abi.VendorWQEOp)
		return false
	}
	w.Inline = c.Flags&abi.WQEInlined != 0
	if w.Inline {
		return w.inline(u, &c)
	}
	return w.gatherList(u, &c)
}

func (w *wqe) inline(u *unit, c *abi.WQEControl) (second bool) {
	if c.InlineLen > maxInline || int(c.Units) != abi.WQEUnits(0, int(c.InlineLen)) {
		w.fault(abi.StatusLocQPOp, abi.VendorWQEFormat)
		return false
	}
	w.Len = uint32(c.InlineLen)
	copy(w.Data[:], u[abi.WQEDataOffset:])
	return c.Units > 1
}

func (w *wqe) gatherList(u *unit, c *abi.WQEControl) (second bool) {
	if c.NumSGE > port.MaxSGE || int(c.Units) != abi.WQEUnits(int(c.NumSGE), 0) {
		w.fault(abi.StatusLocQPOp, abi.VendorWQEFormat)
		return false
	}
	for i := range min(c.NumSGE, 2) {
		w.element(int(i), u[abi.WQEDataOffset+int(i)*abi.SGESize:])
	}
	if c.Units == 1 {
		w.sum()
		return false
	}
	for i := 2; i < int(c.NumSGE); i++ {
		w.SGE[i].Len = 1 // there is one; parseSecond reads it
	}
	return true
}

// parseSecond completes a WQE of two units with its second.
func parseSecond(u *unit, w *wqe) {
	if w.Inline {
		copy(w.Data[abi.UnitSize-abi.WQEDataOffset:], u[:])
		return
	}
	for i := 2; i < port.MaxSGE; i++ {
		if w.SGE[i].Len != 0 {
			w.element(i, u[(i-2)*abi.SGESize:])
		}
	}
	w.sum()
}

func (w *wqe) element(i int, b []byte) {
	var e abi.SGE
	_ = abi.SGELayout.Decode(b, &e)
	w.SGE[i] = port.SGE{VA: port.VA(e.Addr), Len: e.Length, Key: port.Key(e.LKey)}
}

// sum adds the elements up to the length of the message.
func (w *wqe) sum() {
	n := uint64(0)
	for i := range w.SGE {
		n += uint64(w.SGE[i].Len)
	}
	if n > abi.MaxMessage {
		w.fault(abi.StatusLocLen, abi.VendorWQELength)
		return
	}
	w.Len = uint32(n)
}

// unreadable is a unit that DMA could not read.
func unreadable() wqe {
	w := wqe{Units: 1, Op: abi.OpNop}
	w.fault(abi.StatusLocQPOp, abi.VendorWQERead)
	return w
}

// flush makes any WQE one that ends flushed.
func (w *wqe) flush() {
	w.Kind, w.Status, w.Vendor = kindLocal, abi.StatusWRFlush, abi.VendorFlush
}
