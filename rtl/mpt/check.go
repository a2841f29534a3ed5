package mpt

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// check tells whether a use is allowed, in the order of IBTA 10.6.3: key,
// domain, permission, bounds.
func check(e *entry, r *port.MptReq) port.MptStatus {
	off := uint64(r.VA - e.Addr) // wraps to a large number below Addr
	switch {
	case !e.Valid || e.Low != uint8(r.Key):
		return port.MptBadKey
	case e.PD != r.PD:
		return port.MptBadPD
	case abi.AccessFlags(r.Access)&^e.Access != 0:
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

// Page sizes that regions may have, log2: 4 KiB to 1 GiB.
const (
	minLogPage = 12
	maxLogPage = 30
)

// validate judges a registration, but for its pages.
func validate(mr *abi.MRMailbox, pages int) (abi.AdminStatus, abi.AdminSyndrome) {
	known := abi.AccessLocalWrite | abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic | abi.AccessMWBind
	remote := abi.AccessRemoteWrite | abi.AccessRemoteAtomic
	switch {
	case mr.Access&^known != 0, mr.Access&remote != 0 && mr.Access&abi.AccessLocalWrite == 0:
		return abi.AdminBadParam, abi.SynAccessFlags
	case mr.LogPageSize < minLogPage || mr.LogPageSize > maxLogPage:
		return abi.AdminBadParam, abi.SynPageSize
	case mr.Length == 0:
		return abi.AdminBadParam, abi.SynLength
	case mr.Addr+(mr.Length-1) < mr.Addr:
		return abi.AdminBadParam, abi.SynAddr
	}
	mask := uint64(1)<<mr.LogPageSize - 1
	last := mr.Addr&mask + (mr.Length - 1)
	if last < mr.Length-1 || last>>mr.LogPageSize+1 != uint64(mr.NumPages) {
		return abi.AdminBadParam, abi.SynNumPages
	}
	if uint64(mr.FirstPage)+uint64(mr.NumPages) > uint64(pages) {
		return abi.AdminNoResource, abi.SynNumPages
	}
	return abi.AdminOK, abi.SynNone
}
