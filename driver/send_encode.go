package driver

import "rnic/abi"

// encode fills b, the units of a WQE.
func (q *QP) encode(w *SendWR, b []byte) {
	clear(b)
	c := &q.ctrl
	*c = abi.WQEControl{
		Op: w.Op, Flags: w.flags(q.sigAll), Units: uint8(len(b) / abi.UnitSize), NumSGE: uint8(len(w.SGEs)),
		Index: q.sq.pi, Imm: w.Imm, QPN: q.num,
	}
	if w.Inline != nil {
		c.InlineLen = uint16(len(w.Inline))
		copy(b[abi.WQEDataOffset:], w.Inline)
	}
	abi.WQEControlLayout.Encode(c, b)
	q.encodeRemote(w, b[abi.WQERemoteOffset:])
	for i := range w.SGEs {
		abi.SGELayout.Encode(&w.SGEs[i], b[abi.WQEDataOffset+i*abi.SGESize:])
	}
	if w.Op == abi.OpCompareSwap || w.Op == abi.OpFetchAdd {
		a := abi.AtomicSegment{SwapAdd: w.SwapAdd, Compare: w.Compare}
		abi.AtomicSegmentLayout.Encode(&a, b[abi.WQEAtomicOffset:])
	}
}

// encodeRemote fills in where a work request goes.
func (q *QP) encodeRemote(w *SendWR, b []byte) {
	if q.typ == abi.QPTypeUD {
		if w.AH != nil {
			a := abi.AHSegment{AHN: w.AH.num, DestQPN: w.RemoteQPN, QKey: w.RemoteQKey}
			abi.AHSegmentLayout.Encode(&a, b)
		}
		return
	}
	r := abi.RemoteSegment{Addr: w.RemoteAddr, RKey: w.RKey}
	abi.RemoteSegmentLayout.Encode(&r, b)
}
