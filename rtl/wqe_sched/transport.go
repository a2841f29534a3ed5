package wqesched

import (
	"math/bits"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// A set of operations, a bit each.
const (
	rawOps uint16 = 1<<abi.OpSend | 1<<abi.OpNop
	udOps         = rawOps | 1<<abi.OpSendImm
	ucOps         = udOps | 1<<abi.OpWrite | 1<<abi.OpWriteImm | 1<<abi.OpBindMW | 1<<abi.OpLocalInv | 1<<abi.OpFastReg
	rcOps         = ucOps | 1<<abi.OpSendInv | 1<<abi.OpRead | 1<<abi.OpCompareSwap | 1<<abi.OpFetchAdd
)

// has tells whether a QP of a type has an operation (IBTA table 46; a raw QP knows
// frames alone). What is no other type is RC.
func has(t abi.QPType, op abi.WQEOp) bool {
	set := rcOps
	switch t {
	case abi.QPTypeUC:
		set = ucOps
	case abi.QPTypeUD:
		set = udOps
	case abi.QPTypeRaw:
		set = rawOps
	}
	return set>>op&1 != 0
}

// unacked tells whether nobody answers what a QP of a type sends: a message is done
// when its last packet has left.
func unacked(t abi.QPType) bool { return t == abi.QPTypeUC || single(t) }

// single tells whether each message is one packet.
func single(t abi.QPType) bool { return t == abi.QPTypeUD || t == abi.QPTypeRaw }

// opcodeOf is an opcode of RC in the transport of a QP. Raw frames have none; that
// of their packets means nothing.
func opcodeOf(t abi.QPType, o roce.Opcode) roce.Opcode {
	switch t {
	case abi.QPTypeUC:
		return o | roce.Opcode(roce.UC)<<5
	case abi.QPTypeUD:
		return o | roce.Opcode(roce.UD)<<5
	}
	return o
}

// Bytes of a raw frame: two addresses and a type, up to what pkt_tx has room for.
const (
	minFrame = 14
	maxFrame = 1 << logFrame
	logFrame = 12
)

// mtuShift is log2 of the bytes of a full packet. What is one packet anyway is as long
// as it is.
func mtuShift(c *port.SQCtx) uint {
	if single(c.Type) {
		return logFrame
	}
	return uint(bits.TrailingZeros16(c.MTU))
}

// fit makes a message a fault that is no packet of its transport: a datagram over the
// MTU (verbs-semantics), a frame that is too short or too long.
func (w *wqe) fit(c *port.SQCtx) {
	if w.Kind != kindSend {
		return
	}
	switch c.Type {
	case abi.QPTypeUD:
		if w.Len <= uint32(c.MTU) {
			return
		}
	case abi.QPTypeRaw:
		if w.Len >= minFrame && w.Len <= maxFrame {
			return
		}
	default:
		return
	}
	w.fault(abi.StatusLocLen, abi.VendorWQELength)
}
