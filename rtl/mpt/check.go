package mpt

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// remote are the permissions that a window may give.
const remote = abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic

// check tells whether a use is allowed, in the order of IBTA 10.6.3: key,
// domain, permission, bounds. A window has no L_Key, and one of type 2 has the QP for a
// domain besides.
func check(e *entry, r *port.MptReq) port.MptStatus {
	off := uint64(r.VA - e.Addr) // wraps to a large number below Addr
	switch {
	case !e.Valid || e.Low != uint8(r.Key):
		return port.MptBadKey
	case e.window() && !r.Invalidate && abi.AccessFlags(r.Access)&remote == 0:
		return port.MptBadKey
	case e.Kind == abi.KeyWindow2 && e.QPN != r.QPN:
		return port.MptBadPD
	case e.PD != r.PD:
		return port.MptBadPD
	case abi.AccessFlags(r.Access)&^e.Access != 0:
		return port.MptBadAccess
	case r.Invalidate && (e.Kind == abi.KeyWindow1 || e.Bound != 0):
		return port.MptBadAccess
	case r.Invalidate:
		return port.MptOK
	case off > e.Length || uint64(max(uint32(r.Len), r.Range)) > e.Length-off:
		return port.MptBadBounds
	}
	return port.MptOK
}

// locate splits a legal range at the page boundary: the number of its first page
// within the region, and the result with the offset in that page as Addr0.
func locate(e *entry, r *port.MptReq) (page int, res port.MptRes) {
	mask := uint64(1)<<e.LogPage - 1
	off := uint64(e.Addr)&mask + uint64(r.VA-e.Addr)
	in := off & mask
	res.Addr0 = port.BusAddr(in)
	res.Len0 = r.Len
	if room := mask + 1 - in; uint64(r.Len) > room {
		res.Len0 = uint16(room)
		res.Len1 = r.Len - res.Len0
	}
	return int(off >> e.LogPage), res
}
