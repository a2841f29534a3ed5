package mpt_test

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// key is a key as a program sees it.
type key struct {
	abi.MRMailbox // as registered; of a region that FAST_REG filled, as filled
	valid         bool
	list          []uint64 // bus addresses of the pages
	room          uint32   // pages that FAST_REG may fill
	region        *key     // of a bound window
	qpn           port.QPN
}

func (k *key) window() bool { return k.Kind == abi.KeyWindow1 || k.Kind == abi.KeyWindow2 }

// table is the model of the key table: nothing is counted, all is looked for.
type table struct {
	depth, pages uint32
	keys         map[uint32]*key
}

func newTable() *table { return &table{depth: 16, pages: 64, keys: map[uint32]*key{}} }

// at is the key with that number if its low byte is right.
func (t *table) at(k port.Key) *key {
	if e := t.keys[uint32(k>>8)]; e != nil && e.valid && e.KeyLow == uint8(k) {
		return e
	}
	return nil
}

// windows is the number of windows bound to a region.
func (t *table) windows(k *key) (n uint32) {
	for _, w := range t.keys {
		if w.window() && w.valid && w.region == k {
			n++
		}
	}
	return n
}

// inside tells whether all bytes that a look-up names are the key's.
func (k *key) inside(r port.MptReq) bool {
	for i := range uint64(max(uint32(r.Len), r.Range)) {
		if at := uint64(r.VA) + i; at-k.Addr >= k.Length {
			return false
		}
	}
	return true
}

// look answers a look-up.
func (t *table) look(r port.MptReq) port.MptRes {
	k := t.at(r.Key)
	bad := func(s port.MptStatus) port.MptRes { return port.MptRes{Status: s} }
	switch {
	case k == nil:
		return bad(port.MptBadKey)
	case k.window() && !r.Invalidate && r.Access&0xe == 0:
		return bad(port.MptBadKey)
	case k.Kind == abi.KeyWindow2 && k.qpn != r.QPN:
		return bad(port.MptBadPD)
	case !k.window():
		if r.Invalidate && k.PD == uint32(r.PD) && t.windows(k) != 0 {
			return bad(port.MptBadAccess)
		}
		if r.Invalidate && k.PD == uint32(r.PD) {
			k.valid = false
			return port.MptRes{}
		}
		res := model(&k.MRMailbox, k.list, r)
		if res.Status == port.MptOK && !k.inside(r) {
			return bad(port.MptBadBounds)
		}
		return res
	case k.PD != uint32(r.PD):
		return bad(port.MptBadPD)
	case r.Invalidate && k.Kind == abi.KeyWindow1:
		return bad(port.MptBadAccess)
	case r.Invalidate:
		k.valid = false
		return port.MptRes{}
	case r.Access&^uint8(k.Access) != 0:
		return bad(port.MptBadAccess)
	case !k.inside(r):
		return bad(port.MptBadBounds)
	}
	r.Key, r.Access, r.Range = port.Key(k.region.KeyLow), 0, 0 // what it may do, it may do to its region
	return model(&k.region.MRMailbox, k.region.list, r)
}

// mem answers a memory operation.
func (t *table) mem(op port.MemOp, list []uint64) port.MemRes {
	ok, why := false, abi.VendorBind
	switch op.Op {
	case abi.OpBindMW:
		ok = t.bind(op)
	case abi.OpFastReg:
		ok = t.fastReg(op, list)
	case abi.OpLocalInv:
		why = abi.VendorInvalidate
		ok = t.look(port.MptReq{QPN: op.QPN, Key: op.Key, PD: op.PD, Invalidate: true}).Status == port.MptOK
	}
	if ok {
		return port.MemRes{}
	}
	return port.MemRes{Status: abi.StatusMWBind, Vendor: why}
}

func (t *table) bind(op port.MemOp) bool {
	w, r := t.keys[uint32(op.Key>>8)], t.at(op.Region)
	if w == nil || !w.window() || w.PD != uint32(op.PD) {
		return false
	}
	if w.Kind == abi.KeyWindow2 && (w.valid || op.Length == 0) {
		return false
	}
	if op.Length == 0 {
		w.valid = false
		return true
	}
	if r == nil || r.window() || r.PD != uint32(op.PD) || r.Access&abi.AccessMWBind == 0 {
		return false
	}
	if op.Access&(abi.AccessLocalWrite|abi.AccessMWBind) != 0 || op.Access > 31 {
		return false
	}
	if op.Access&(abi.AccessRemoteWrite|abi.AccessRemoteAtomic) != 0 && r.Access&abi.AccessLocalWrite == 0 {
		return false
	}
	first, last := uint64(op.VA), uint64(op.VA)+op.Length-1
	if last < first || first < r.Addr || last > r.Addr+(r.Length-1) {
		return false
	}
	w.valid, w.region, w.qpn = true, r, op.QPN
	w.KeyLow, w.Access, w.Addr, w.Length = uint8(op.Key), op.Access, first, op.Length
	return true
}

func (t *table) fastReg(op port.MemOp, list []uint64) bool {
	k := t.keys[uint32(op.Key>>8)]
	if k == nil || k.Kind != abi.KeyFastReg || k.valid || k.PD != uint32(op.PD) || uint32(op.NumPages) > k.room {
		return false
	}
	mr := abi.MRMailbox{Addr: uint64(op.VA), Length: op.Length, PD: k.PD, Access: op.Access, KeyLow: uint8(op.Key),
		LogPageSize: op.LogPage, NumPages: uint32(op.NumPages), FirstPage: k.FirstPage}
	if status, _ := t.judge(mr, list); status != abi.AdminOK {
		return false
	}
	mr.Kind = abi.KeyFastReg
	k.MRMailbox, k.list, k.valid = mr, list, true
	return true
}

// admin answers an operation of the driver.
func (t *table) admin(op port.MRAdmin, list []uint64) port.MRAdminRes {
	k := t.keys[op.Index]
	end := func(s abi.AdminStatus, syn abi.AdminSyndrome) port.MRAdminRes {
		return port.MRAdminRes{Status: s, Syndrome: uint8(syn)}
	}
	switch {
	case op.EndQP:
		for _, w := range t.keys {
			if w.Kind == abi.KeyWindow2 && w.qpn == op.QPN {
				w.valid = false
			}
		}
		return end(abi.AdminOK, abi.SynNone)
	case op.Dereg && k == nil:
		return end(abi.AdminBadObject, abi.SynObject)
	case op.Dereg && t.windows(k) != 0:
		return end(abi.AdminBusy, abi.SynNone)
	case op.Dereg:
		delete(t.keys, op.Index)
		return end(abi.AdminOK, abi.SynNone)
	case op.Index >= t.depth:
		return end(abi.AdminBadObject, abi.SynObject)
	case k != nil:
		return end(abi.AdminExists, abi.SynObject)
	}
	if s, syn := t.judge(op.MR, list); s != abi.AdminOK {
		return end(s, syn)
	}
	t.keys[op.Index] = &key{MRMailbox: op.MR, valid: op.MR.Kind == abi.KeyRegion, list: list, room: op.MR.NumPages}
	return end(abi.AdminOK, abi.SynNone)
}

// judge tells what is wrong with a registration, one thing at most.
func (t *table) judge(mr abi.MRMailbox, list []uint64) (abi.AdminStatus, abi.AdminSyndrome) {
	if mr.Kind == abi.KeyWindow1 || mr.Kind == abi.KeyWindow2 {
		return abi.AdminOK, abi.SynNone
	}
	if mr.Kind == abi.KeyRegion {
		size := uint64(1) << mr.LogPageSize
		switch {
		case mr.Access&0xa != 0 && mr.Access&1 == 0 || mr.Access >= 32:
			return abi.AdminBadParam, abi.SynAccessFlags
		case mr.LogPageSize < 12 || mr.LogPageSize > 30:
			return abi.AdminBadParam, abi.SynPageSize
		case mr.Length == 0:
			return abi.AdminBadParam, abi.SynLength
		case mr.Addr+mr.Length < mr.Addr && mr.Addr+mr.Length != 0:
			return abi.AdminBadParam, abi.SynAddr
		case (mr.Addr%size+mr.Length+size-1)/size != uint64(mr.NumPages):
			return abi.AdminBadParam, abi.SynNumPages
		}
	}
	switch {
	case mr.NumPages == 0:
		return abi.AdminBadParam, abi.SynNumPages
	case mr.FirstPage+mr.NumPages > t.pages:
		return abi.AdminNoResource, abi.SynNumPages
	}
	for _, p := range list {
		if p%(1<<mr.LogPageSize) != 0 {
			return abi.AdminBadParam, abi.SynPageList
		}
	}
	return abi.AdminOK, abi.SynNone
}
