package wqesched

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// shape is what an operation asks of its WQE.
type shape uint8

const (
	shapeNone   shape = iota // not an operation that is done here
	shapeNop                 // nothing behind the control segment
	shapeSend                // a gather list or inline data, no remote address
	shapeWrite               // a gather list or inline data
	shapeRead                // a scatter list
	shapeAtomic              // one element, and the operands
	shapeMemory              // a segment of its own, and pages
)

func shapeOf(op abi.WQEOp) shape {
	switch op {
	case abi.OpNop:
		return shapeNop
	case abi.OpSend, abi.OpSendImm, abi.OpSendInv:
		return shapeSend
	case abi.OpWrite, abi.OpWriteImm:
		return shapeWrite
	case abi.OpRead:
		return shapeRead
	case abi.OpCompareSwap, abi.OpFetchAdd:
		return shapeAtomic
	case abi.OpBindMW, abi.OpLocalInv, abi.OpFastReg:
		return shapeMemory
	}
	return shapeNone
}

// parse reads the first unit of the WQE at idx, of which left units are posted, 1
// at least. It returns how many units the rest is in, 0 when w is complete. A WQE
// of which not even the length can be believed counts as one unit. t is the type of
// the QP.
func parse(u *unit, idx, left uint16, t abi.QPType, w *wqe) (rest uint8) {
	var c abi.WQEControl
	_ = abi.WQEControlLayout.Decode(u[:], &c)
	*w = wqe{Units: 1, Op: c.Op, Imm: c.Imm}
	w.Signaled, w.Fence = c.Flags&abi.WQESignalled != 0, c.Flags&abi.WQEFence != 0
	if c.Index != idx {
		w.fault(abi.StatusLocQPOp, abi.VendorWQEStale)
		return 0
	}
	if c.Units == 0 || c.Units > abi.MaxUnits || uint16(c.Units) > left {
		w.fault(abi.StatusLocQPOp, abi.VendorWQEFormat)
		return 0
	}
	w.Units = c.Units
	inlined := c.Flags&abi.WQEInlined != 0
	s := shapeOf(c.Op)
	switch {
	case s == shapeNone || !has(t, c.Op):
		w.fault(abi.StatusLocQPOp, abi.VendorWQEOp)
		return 0
	case s == shapeNop:
		w.Kind = kindLocal
		return 0
	case s == shapeMemory:
		return w.memory(u, &c)
	case inlined && (s == shapeRead || s == shapeAtomic || c.InlineLen > maxInline || int(c.Units) != abi.WQEUnits(0, int(c.InlineLen))),
		!inlined && (c.NumSGE > port.MaxSGE || int(c.Units) != abi.WQEUnits(int(c.NumSGE), 0)),
		s == shapeAtomic && c.NumSGE > 1:
		w.fault(abi.StatusLocQPOp, abi.VendorWQEFormat)
		return 0
	}
	switch {
	case t == abi.QPTypeUD:
		w.handle(u)
	case s != shapeSend:
		w.remote(u)
	}
	w.Takes = s == shapeSend || c.Op == abi.OpWriteImm
	w.Solicited = w.Takes && c.Flags&abi.WQESolicited != 0
	switch {
	case s == shapeAtomic:
		w.atomic(u, &c)
		return 0
	case s == shapeRead:
		w.Kind = kindRead
	}
	if inlined {
		w.Inline, w.Len, w.Remote.Len = true, uint32(c.InlineLen), uint32(c.InlineLen)
		copy(w.Data[:], u[abi.WQEDataOffset:])
		return c.Units - 1
	}
	for i := range c.NumSGE {
		w.SGE[i].Len = 1 // there is one, which is read with its unit
	}
	w.list(u[abi.WQEDataOffset:], 0)
	if c.Units == 1 {
		w.sum()
	}
	return c.Units - 1
}

// parseRest reads further unit i, from 1 on, of a WQE; last is that of its last.
func parseRest(u *unit, i, last uint8, w *wqe) {
	if w.Kind == kindMemory {
		w.pages(u, i)
		return
	}
	if w.Inline {
		copy(w.Data[abi.UnitSize-abi.WQEDataOffset:], u[:])
		return
	}
	w.list(u[:], 4*int(i)-2)
	if i == last {
		w.sum()
	}
}

// list reads the elements in b, of which the first is element from.
func (w *wqe) list(b []byte, from int) {
	for ; len(b) > 0 && from < port.MaxSGE; from++ {
		if w.SGE[from].Len != 0 {
			w.element(from, b)
		}
		b = b[abi.SGESize:]
	}
}

func (w *wqe) element(i int, b []byte) {
	var e abi.SGE
	_ = abi.SGELayout.Decode(b, &e)
	w.SGE[i] = port.SGE{VA: port.VA(e.Addr), Len: e.Length, Key: port.Key(e.LKey)}
}

func (w *wqe) remote(u *unit) {
	var r abi.RemoteSegment
	_ = abi.RemoteSegmentLayout.Decode(u[abi.WQERemoteOffset:], &r)
	w.Remote.VA, w.Remote.RKey = port.VA(r.Addr), port.Key(r.RKey)
}

// handle reads the segment that a UD QP has in place of the remote one.
func (w *wqe) handle(u *unit) {
	var a abi.AHSegment
	_ = abi.AHSegmentLayout.Decode(u[abi.WQERemoteOffset:], &a)
	w.AH, w.DestQPN, w.QKey = port.AHN(a.AHN), port.QPN(a.DestQPN), a.QKey
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
	w.Len, w.Remote.Len = uint32(n), uint32(n)
}

// atomicBytes is what an atomic operates on.
const atomicBytes = 8

// atomic reads the element and the operands of an atomic. FETCH_ADD has nothing
// to compare with.
func (w *wqe) atomic(u *unit, c *abi.WQEControl) {
	if c.NumSGE == 1 {
		w.element(0, u[abi.WQEDataOffset:])
	}
	if w.SGE[0].Len != atomicBytes {
		w.fault(abi.StatusLocLen, abi.VendorWQELength)
		return
	}
	var a abi.AtomicSegment
	_ = abi.AtomicSegmentLayout.Decode(u[abi.WQEAtomicOffset:], &a)
	w.Kind, w.Len = kindRead, atomicBytes
	w.Remote.Swap = a.SwapAdd
	if c.Op == abi.OpCompareSwap {
		w.Remote.Compare = a.Compare
	}
}

// unreadable is a WQE whose first unit DMA could not read.
func unreadable() wqe {
	w := wqe{Units: 1, Op: abi.OpNop}
	w.fault(abi.StatusLocQPOp, abi.VendorWQERead)
	return w
}
