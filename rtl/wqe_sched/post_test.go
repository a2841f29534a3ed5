package wqesched_test

import (
	"encoding/binary"

	"rnic/abi"
	"rnic/rtl/port"
)

// work is a WQE as posted, and where.
type work struct {
	Idx   uint16
	Units uint16
	Ctrl  abi.WQEControl
	SGE   []abi.SGE
	Data  []byte // inline
	Far   abi.RemoteSegment
	Value abi.AtomicSegment
	AH    abi.AHSegment // of a UD QP
	Bind  abi.BindSegment
	Reg   abi.FastRegSegment
	Pages []uint64
}

// room is the number of free units of a ring.
func (q *queuePair) room() int { return 1<<q.Log - int(q.PI-q.Taken) }

// write puts a WQE into the ring, as the driver does, and returns it as posted.
func (q *queuePair) write(qpn int, w work) work {
	w.Idx = q.PI
	w.Ctrl.Index, w.Ctrl.QPN = w.Idx, uint32(qpn)
	if w.Ctrl.Units == 0 {
		w.Ctrl.Units = uint8(w.Units)
	}
	raw := make([]byte, int(w.Units)*64)
	abi.WQEControlLayout.Encode(&w.Ctrl, raw)
	if q.Type == abi.QPTypeUD {
		abi.AHSegmentLayout.Encode(&w.AH, raw[abi.WQERemoteOffset:])
	} else {
		abi.RemoteSegmentLayout.Encode(&w.Far, raw[abi.WQERemoteOffset:])
	}
	if atomic(w.Ctrl.Op) {
		abi.AtomicSegmentLayout.Encode(&w.Value, raw[abi.WQEAtomicOffset:])
	}
	switch w.Ctrl.Op {
	case abi.OpBindMW:
		abi.BindSegmentLayout.Encode(&w.Bind, raw[abi.WQEDataOffset:])
	case abi.OpFastReg:
		abi.FastRegSegmentLayout.Encode(&w.Reg, raw[abi.WQEDataOffset:])
		for i, p := range w.Pages {
			binary.LittleEndian.PutUint64(raw[abi.UnitSize+8*i:], p)
		}
	}
	for i := range w.SGE {
		abi.SGELayout.Encode(&w.SGE[i], raw[abi.WQEDataOffset+16*i:])
	}
	if w.Data != nil {
		copy(raw[abi.WQEDataOffset:], w.Data)
	}
	for i := range int(w.Units) {
		copy(q.Ring[abi.RingSlot(w.Idx+uint16(i), q.Log)][:], raw[64*i:])
	}
	q.Posted = append(q.Posted, w)
	return w
}

// post posts a WQE and rings the doorbell; push sends its first unit along.
func (b *bench) post(qpn int, w work, push bool) {
	q := b.qps[qpn]
	w = q.write(qpn, w)
	q.PI += w.Units
	if push {
		unit := q.Ring[abi.RingSlot(w.Idx, q.Log)]
		b.Push.Push(port.PushedWQE{QPN: port.QPN(qpn), Idx: w.Idx, Data: unit})
		b.Activate.Push(port.Activate{QPN: port.QPN(qpn), Push: true, Refuse: w.Units != 1})
		if w.Units == 1 {
			return
		}
	}
	b.Activate.Push(port.Activate{QPN: port.QPN(qpn)})
}

// atomic tells an operation whose answer is a value.
func atomic(op abi.WQEOp) bool { return op == abi.OpCompareSwap || op == abi.OpFetchAdd }

// reads tells an operation whose answer is data.
func reads(op abi.WQEOp) bool { return op == abi.OpRead || atomic(op) }

// takes tells an operation that takes a receive WQE of the peer.
func takes(op abi.WQEOp) bool {
	return op == abi.OpSend || op == abi.OpSendImm || op == abi.OpSendInv || op == abi.OpWriteImm
}

// remote has a WQE name memory of the peer.
func (w work) remote(va uint64, key abi.Key) work {
	w.Far = abi.RemoteSegment{Addr: va, RKey: key}
	return w
}

// swap is an atomic with its operands.
func swap(op abi.WQEOp, flags abi.WQEFlags, value, compare uint64, list ...abi.SGE) work {
	w := send(op, flags, list...)
	w.Value = abi.AtomicSegment{SwapAdd: value, Compare: compare}
	return w.remote(0x7000, 0x700)
}

// send is a WQE with a list of elements.
func send(op abi.WQEOp, flags abi.WQEFlags, list ...abi.SGE) work {
	return work{Units: uint16(abi.WQEUnits(len(list), 0)), SGE: list,
		Ctrl: abi.WQEControl{Op: op, Flags: flags, NumSGE: uint8(len(list)), Imm: 0xfeed}}
}

// inline is a SEND with inline data.
func inline(flags abi.WQEFlags, data []byte) work {
	return work{Units: uint16(abi.WQEUnits(0, len(data))), Data: data,
		Ctrl: abi.WQEControl{Op: abi.OpSend, Flags: flags | abi.WQEInlined, InlineLen: uint16(len(data)), NumSGE: 77}}
}

func nop() work { return work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpNop}} }
