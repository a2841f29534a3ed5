package mpt

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// Page sizes that regions may have, log2: 4 KiB to 1 GiB.
const (
	minLogPage = 12
	maxLogPage = 30
)

// validate judges a registration, but for its pages, of which the page table has so many.
func validate(mr *abi.MRMailbox, pages int) (abi.AdminStatus, abi.AdminSyndrome) {
	switch mr.Kind {
	case abi.KeyWindow1, abi.KeyWindow2:
		return abi.AdminOK, abi.SynNone
	case abi.KeyFastReg:
		if mr.NumPages == 0 {
			return abi.AdminBadParam, abi.SynNumPages
		}
	case abi.KeyRegion:
		if s, syn := bounds(mr); s != abi.AdminOK {
			return s, syn
		}
	}
	if uint64(mr.FirstPage)+uint64(mr.NumPages) > uint64(pages) {
		return abi.AdminNoResource, abi.SynNumPages
	}
	return abi.AdminOK, abi.SynNone
}

// bounds judges access, page size and range of a region.
func bounds(mr *abi.MRMailbox) (abi.AdminStatus, abi.AdminSyndrome) {
	switch {
	case mr.Access&^(abi.AccessLocalWrite|remote|abi.AccessMWBind) != 0, !writable(mr.Access, mr.Access):
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
	return abi.AdminOK, abi.SynNone
}

// writable: remote write and atomics only where local write is allowed (IBTA 10.6.3.1).
func writable(region, want abi.AccessFlags) bool {
	return want&(abi.AccessRemoteWrite|abi.AccessRemoteAtomic) == 0 || region&abi.AccessLocalWrite != 0
}

// registered is the key of a registration: a region is valid at once.
func registered(mr *abi.MRMailbox) entry {
	e := entry{Used: true, Kind: mr.Kind, Low: mr.KeyLow, PD: port.PD(mr.PD)}
	switch mr.Kind {
	case abi.KeyRegion:
		e.Valid, e.Access, e.LogPage, e.First = true, mr.Access, mr.LogPageSize, mr.FirstPage
		e.Addr, e.Length = port.VA(mr.Addr), mr.Length
	case abi.KeyFastReg:
		e.First, e.Pages = mr.FirstPage, mr.NumPages
	}
	return e
}

// asMailbox is a FAST_REG as a registration of a region.
func asMailbox(op *port.MemOp) abi.MRMailbox {
	return abi.MRMailbox{Addr: uint64(op.VA), Length: op.Length, Access: op.Access, LogPageSize: op.LogPage, NumPages: uint32(op.NumPages)}
}

// mayFill judges a FAST_REG, but for its pages: of room of the QP's domain that is not in
// use now and large enough.
func mayFill(e *entry, op *port.MemOp) bool {
	if e.Kind != abi.KeyFastReg || e.Valid || e.PD != op.PD || uint32(op.NumPages) > e.Pages {
		return false
	}
	mr := asMailbox(op)
	s, _ := bounds(&mr)
	return s == abi.AdminOK
}

// filled is the room as a region.
func filled(e *entry, op *port.MemOp) entry {
	r := *e
	r.Valid, r.Low, r.Access, r.LogPage, r.Addr, r.Length = true, uint8(op.Key), op.Access, op.LogPage, op.VA, op.Length
	return r
}
