package wqesched

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// Pages of a FAST_REG: so many to a unit, and to a beat.
const (
	unitPages   = 8
	minPageSize = 12 // log2 of bytes
	maxPageSize = 30
)

// memory reads a BIND_MW, LOCAL_INV or FAST_REG, and returns how many units its pages
// are in. What mpt alone can judge is not looked at.
func (w *wqe) memory(u *unit, c *abi.WQEControl) (rest uint8) {
	w.Kind = kindMemory
	m := &w.Mem
	*m = port.MemOp{Op: c.Op, Key: port.Key(c.Imm)}
	good := c.Flags&abi.WQEInlined == 0
	switch c.Op {
	case abi.OpBindMW:
		var x abi.WQEBind
		_ = abi.WQEBindLayout.Decode(u[:], &x)
		m.Region, m.VA, m.Length, m.Access = x.Remote.RKey, port.VA(x.Remote.Addr), x.Bind.Length, x.Bind.Access
	case abi.OpFastReg:
		var x abi.WQEFastReg
		_ = abi.WQEFastRegLayout.Decode(u[:], &x)
		r := &x.FastReg
		good = good && r.NumPages >= 1 && r.NumPages <= abi.MaxFastRegPages && r.LogPageSize >= minPageSize && r.LogPageSize <= maxPageSize
		m.VA, m.Length, m.Access = port.VA(x.Remote.Addr), r.Length, r.Access
		m.LogPage, m.NumPages = r.LogPageSize, uint8(r.NumPages)
	}
	if !good || c.Units != 1+w.beats() {
		w.fault(abi.StatusLocQPOp, abi.VendorWQEFormat)
		return 0
	}
	return c.Units - 1
}

// beats is the number of units, or beats, that the pages of a FAST_REG are in.
func (w *wqe) beats() uint8 { return (w.Mem.NumPages + unitPages - 1) / unitPages }

// pages keeps unit i of a FAST_REG, from 1 on, where other WQEs have four elements.
func (w *wqe) pages(u *unit, i uint8) {
	for j := range 4 {
		w.element(4*int(i-1)+j, u[abi.SGESize*j:])
	}
}

// pageBeat is that unit again, as mpt gets it: beat i, from 0 on.
func (w *wqe) pageBeat(i uint8) (b port.Beat) {
	for j := range 4 {
		e := &w.SGE[4*int(i)+j]
		abi.SGELayout.Encode(&abi.SGE{Addr: uint64(e.VA), Length: e.Len, LKey: e.Key}, b.Data[abi.SGESize*j:])
	}
	b.Last = i+1 == w.beats()
	b.Len = port.BeatBytes
	if n := w.Mem.NumPages % unitPages; b.Last && n != 0 {
		b.Len = 8 * n
	}
	return b
}

// memory has mpt execute a memory operation that is to be entered, and tells whether it
// has: the room for its entry is there before, and what mpt said is in at.Mem.
func (x *Exec) memory(s *service, w *wqe, at *progress) bool {
	switch {
	case !at.Asked:
		if x.mayEnter(s, w, at) && x.MemOp.Ready() {
			op := x.MemOp.Next()
			*op = w.Mem
			op.QPN, op.PD = s.Ctx.QPN, s.Ctx.PD
			at.Asked = true
		}
		return false
	case at.Beats < w.beats():
		if x.MemPages.Ready() {
			x.MemPages.Put(w.pageBeat(at.Beats))
			at.Beats++
		}
		return false
	case !x.MemRes.Valid():
		return false
	}
	at.Mem = *x.MemRes.Take()
	at.Asked, at.Beats = false, 0
	return true
}
