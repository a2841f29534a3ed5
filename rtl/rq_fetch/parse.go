package rqfetch

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// entry is as much of a receive WQE as the hardware takes: the control segment
// and four elements.
type entry [abi.RWQEDataOffset + port.MaxSGE*abi.SGESize]byte

// parse decodes a receive WQE of 2^logStride bytes. It refuses one that holds
// another index than the one asked for, and one with more elements than the
// hardware takes or the stride has room for.
func parse(e *entry, idx uint16, logStride uint8) port.RQWQE {
	var c abi.RWQEControl
	_ = abi.RWQEControlLayout.Decode(e[:], &c) // long enough by type
	switch {
	case c.Index != idx:
		return port.RQWQE{Err: true, Vendor: abi.VendorWQEStale}
	case c.NumSGE > port.MaxSGE || abi.RWQEDataOffset+abi.SGESize*int(c.NumSGE) > 1<<logStride:
		return port.RQWQE{Err: true, Vendor: abi.VendorWQEFormat}
	}
	w := port.RQWQE{Num: c.NumSGE}
	for i := range int(c.NumSGE) {
		var s abi.SGE
		_ = abi.SGELayout.Decode(e[abi.RWQEDataOffset+i*abi.SGESize:], &s)
		w.SGE[i] = port.SGE{VA: port.VA(s.Addr), Len: s.Length, Key: port.Key(s.LKey)}
	}
	return w
}
