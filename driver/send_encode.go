package driver

import (
	"encoding/binary"

	"rnic/abi"
)

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
	switch w.Op {
	case abi.OpBindMW:
		c.Imm = uint32(w.Bind.RKey)
	case abi.OpFastReg:
		c.Imm = uint32(w.FastReg.key())
	}
	abi.WQEControlLayout.Encode(c, b)
	q.encodeRemote(w, b[abi.WQERemoteOffset:])
	for i := range w.SGEs {
		abi.SGELayout.Encode(&w.SGEs[i], b[abi.WQEDataOffset+i*abi.SGESize:])
	}
	switch w.Op {
	case abi.OpCompareSwap, abi.OpFetchAdd:
		a := abi.AtomicSegment{SwapAdd: w.SwapAdd, Compare: w.Compare}
		abi.AtomicSegmentLayout.Encode(&a, b[abi.WQEAtomicOffset:])
	case abi.OpBindMW:
		s := abi.BindSegment{Length: w.Bind.Length, Access: w.Bind.Access}
		abi.BindSegmentLayout.Encode(&s, b[abi.WQEDataOffset:])
	case abi.OpFastReg:
		w.FastReg.encode(b)
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
	switch w.Op {
	case abi.OpBindMW:
		r.Addr, r.RKey = w.Bind.Addr, 0
		if w.Bind.MR != nil {
			r.RKey = w.Bind.MR.LKey
		}
	case abi.OpFastReg:
		r.Addr = w.FastReg.Addr
	}
	abi.RemoteSegmentLayout.Encode(&r, b)
}

// encode fills in segment and pages.
func (f *FastReg) encode(b []byte) {
	s := abi.FastRegSegment{Length: f.Length, NumPages: uint16(len(f.Pages)), LogPageSize: f.logPage(), Access: f.Access}
	abi.FastRegSegmentLayout.Encode(&s, b[abi.WQEDataOffset:])
	for i, p := range f.Pages {
		binary.LittleEndian.PutUint64(b[abi.UnitSize+8*i:], p)
	}
}
