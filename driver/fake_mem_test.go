package driver_test

import (
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
