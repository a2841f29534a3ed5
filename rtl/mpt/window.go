package mpt

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// mayBind judges the window of a BIND_MW (IBTA 10.6.7.2.1): one of type 2 must not be
// bound yet, and can't be bound to nothing.
func mayBind(w *entry, op *port.MemOp) bool {
	switch {
	case !w.window() || w.PD != op.PD:
		return false
	case w.Kind == abi.KeyWindow2:
		return !w.Valid && op.Length != 0
	}
	return true
}

// maySee judges the region of a BIND_MW. A window is none: it never has MW_BIND.
func maySee(r *entry, op *port.MemOp) bool {
	off := uint64(op.VA - r.Addr) // wraps to a large number below Addr
	switch {
	case !r.Valid || r.Low != uint8(op.Region) || r.PD != op.PD:
		return false
	case r.Access&abi.AccessMWBind == 0, op.Access&^remote != 0, !writable(r.Access, op.Access):
		return false
	case off > r.Length || op.Length > r.Length-off:
		return false
	}
	return true
}

// view is the window as BIND_MW makes it: it begins in the page of the region that its
// first byte is in, so that a look-up needs no more than of a region.
func view(w, r *entry, op *port.MemOp) entry {
	at := port.MptReq{VA: op.VA}
	page, _ := locate(r, &at)
	v := *w
	v.Valid, v.Low, v.Access, v.QPN = true, uint8(op.Key), op.Access, op.QPN
	v.LogPage, v.First, v.Addr, v.Length = r.LogPage, r.First+uint32(page), op.VA, op.Length
	return v
}
