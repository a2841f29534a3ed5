package rqfetch

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// pair is two words of an entry, one behind the other.
type pair [2 * port.BeatBytes]byte

const sgesPerPair = len(pair{}) / abi.SGESize

// sgeBytes is where the elements of an entry begin.
func sgeBytes(w *want) int {
	if w.SQ {
		return abi.WQEDataOffset
	}
	return abi.RWQEDataOffset
}

// control decodes the control segment of an entry. It refuses one that holds another
// index than the one asked for, and one with more elements than the hardware takes
// or there is room for.
func control(p *pair, w *want) port.RQWQE {
	index, num, room := uint16(0), uint8(0), 1<<w.LogStride
	if w.SQ {
		var c abi.WQEControl
		_ = abi.WQEControlLayout.Decode(p[:], &c) // long enough by type
		index, num, room = c.Index, c.NumSGE, int(w.Need)*abi.UnitSize
		if c.Op == abi.OpCompareSwap || c.Op == abi.OpFetchAdd {
			room = abi.WQEAtomicOffset
		}
	} else {
		var c abi.RWQEControl
		_ = abi.RWQEControlLayout.Decode(p[:], &c)
		index, num = c.Index, c.NumSGE
	}
	switch {
	case index != w.Idx:
		return port.RQWQE{Slot: w.Slot, Err: true, Vendor: abi.VendorWQEStale}
	case num > port.MaxSGE || sgeBytes(w)+abi.SGESize*int(num) > room:
		return port.RQWQE{Slot: w.Slot, Err: true, Vendor: abi.VendorWQEFormat}
	}
	return port.RQWQE{Slot: w.Slot, Num: num}
}

// elements decodes those that lie in the n-th pair of an entry, and tells whether
// there are more behind it.
func elements(p *pair, w *want, n uint8, out *port.RQWQE) (more bool) {
	before := int(n)*sgesPerPair - sgeBytes(w)/abi.SGESize
	for i := max(before, 0); i < min(before+sgesPerPair, int(out.Num)); i++ {
		var s abi.SGE
		_ = abi.SGELayout.Decode(p[(i-before)*abi.SGESize:], &s)
		out.SGE[i] = port.SGE{VA: port.VA(s.Addr), Len: s.Length, Key: port.Key(s.LKey)}
	}
	return int(out.Num) > before+sgesPerPair
}
