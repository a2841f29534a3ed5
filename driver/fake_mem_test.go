package driver_test

import (
	"encoding/binary"

	"rnic/abi"
)

// bytes are those that an SGE, or a remote key, names, by bus address; status tells
// what is wrong.
func (d *device) bytes(q *fakeQP, s abi.SGE, access abi.AccessFlags) (at []uint64, status abi.WCStatus) {
	return d.bytesOf(q.PD, q.num, s, access)
}

func (d *device) bytesOf(domain, qpn uint32, s abi.SGE, access abi.AccessFlags) (at []uint64, status abi.WCStatus) {
	if s.Length == 0 {
		return nil, abi.StatusSuccess
	}
	r := d.mrs[s.LKey.Index()]
	if r == nil || r.invalid || r.KeyLow != s.LKey.Low() || access&^r.Access != 0 ||
		s.Addr < r.Addr || s.Addr+uint64(s.Length) > r.Addr+r.Length {
		return nil, abi.StatusLocProt
	}
	local := access&^abi.AccessLocalWrite == 0
	switch r.Kind {
	case abi.KeyWindow1:
		if local || r.PD != domain {
			return nil, abi.StatusLocProt
		}
	case abi.KeyWindow2:
		if local || r.qpn != qpn {
			return nil, abi.StatusLocProt
		}
	default:
		if r.PD != domain {
			return nil, abi.StatusLocProt
		}
	}
	if r.of != nil {
		r = r.of
	}
	size := uint64(1) << r.LogPageSize
	for i := range uint64(s.Length) {
		off := r.Addr%size + s.Addr - r.Addr + i
		a := r.pages[off/size] + off%size
		if !d.m.pages[a&^4095] && !d.m.inDMA(a) {
			d.m.fault("access to %#x, which nobody has", a)
		}
		at = append(at, a)
	}
	return at, abi.StatusSuccess
}

// invalidate makes a key invalid for a QP that may do that.
func (d *device) invalidate(q *fakeQP, k abi.Key) bool {
	r := d.mrs[k.Index()]
	if r == nil || r.invalid || r.KeyLow != k.Low() || r.PD != q.PD || r.windows != 0 || r.Kind == abi.KeyWindow1 ||
		r.Kind == abi.KeyWindow2 && r.qpn != q.num {
		return false
	}
	d.unbind(r)
	r.invalid = true
	return true
}

// unbind ends the binding of a window, if r is one that is bound.
func (d *device) unbind(r *fakeMR) {
	if r.of != nil {
		r.of.windows--
		r.of, r.invalid = nil, true
	}
}

// endWindows ends the windows of type 2 that a QP has bound.
func (d *device) endWindows(q *fakeQP) {
	for _, r := range d.mrs {
		if r.Kind == abi.KeyWindow2 && r.qpn == q.num {
			d.unbind(r)
		}
	}
}

// memory executes a WQE that is about keys.
func (d *device) memory(q *fakeQP, c *abi.WQEControl, unit, raw []byte) bool {
	k := abi.Key(c.Imm)
	switch c.Op {
	case abi.OpLocalInv:
		return d.invalidate(q, k)
	case abi.OpBindMW:
		var w abi.WQEBind
		_ = abi.WQEBindLayout.Decode(unit, &w)
		return d.bind(q, k, &w)
	}
	var w abi.WQEFastReg
	_ = abi.WQEFastRegLayout.Decode(unit, &w)
	r, f := d.mrs[k.Index()], &w.FastReg
	if r == nil || r.Kind != abi.KeyFastReg || !r.invalid || r.PD != q.PD || uint32(f.NumPages) > r.NumPages ||
		(w.Remote.Addr%(1<<f.LogPageSize)+f.Length-1)>>f.LogPageSize+1 != uint64(f.NumPages) {
		return false
	}
	if int(c.Units) != 1+(int(f.NumPages)+7)/8 {
		d.m.fault("FAST_REG of %d pages in %d units", f.NumPages, c.Units)
	}
	r.pages = nil
	for i := range int(f.NumPages) {
		r.pages = append(r.pages, binary.LittleEndian.Uint64(raw[32+8*i:]))
	}
	r.KeyLow, r.Addr, r.Length, r.LogPageSize, r.Access, r.invalid = k.Low(), w.Remote.Addr, f.Length, f.LogPageSize, f.Access, false
	return true
}

func (d *device) bind(q *fakeQP, k abi.Key, w *abi.WQEBind) bool {
	r, of := d.mrs[k.Index()], d.mrs[w.Remote.RKey.Index()]
	if r == nil || r.PD != q.PD || r.Kind < abi.KeyWindow1 || r.Kind == abi.KeyWindow2 && (r.of != nil || w.Bind.Length == 0) {
		return false
	}
	if w.Bind.Length == 0 {
		d.unbind(r)
		return true
	}
	if of == nil || of.invalid || of.KeyLow != w.Remote.RKey.Low() || of.PD != q.PD || of.Kind > abi.KeyFastReg || of.Access&abi.AccessMWBind == 0 ||
		w.Remote.Addr < of.Addr || w.Remote.Addr+w.Bind.Length > of.Addr+of.Length ||
		w.Bind.Access&(abi.AccessRemoteWrite|abi.AccessRemoteAtomic) != 0 && of.Access&abi.AccessLocalWrite == 0 {
		return false
	}
	d.unbind(r)
	of.windows++
	r.of, r.qpn, r.invalid = of, q.num, false
	r.KeyLow, r.Addr, r.Length, r.Access = k.Low(), w.Remote.Addr, w.Bind.Length, w.Bind.Access
	return true
}
