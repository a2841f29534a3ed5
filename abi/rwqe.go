package abi

import (
	mathbits "math/bits"

	"rnic/bits"
)

// RWQEControl begins every entry of a receive queue; the scatter list follows
// at RWQEDataOffset.
type RWQEControl struct {
	NumSGE uint8 `doc:"elements of the scatter list"`
	_      uint8
	Index  uint16 `doc:"index of this entry, or of a shared receive queue its number in the order of posting, modulo 2^16: a slot that holds another is stale"`
	Next   uint16 `doc:"shared receive queue: slot of the entry posted next; else 0"`
	_      [10]byte
}

// The entries of a shared receive queue are a list: the first one posted is in slot 0,
// and each names the slot of the next, which is free until that is posted. So one slot
// always stays free, and slots come back in any order.

// NoSlot is the index in the CQE of a receive WQE that a QP was to take of a shared
// receive queue whose list could not be read any more: nobody knows which slot it is, and
// none comes back.
const NoSlot = 0xffff

// RWQEDataOffset is where the scatter list of a receive WQE begins, in bytes.
const RWQEDataOffset = 16

// RWQEControlLayout is the encoding of an RWQEControl.
var RWQEControlLayout = bits.MustLayout[RWQEControl]("rwqe_control", bits.Little, 16)

// RQLogStride is log2 of the bytes of a receive queue's entry with room for
// maxSGE elements: 16*(1+maxSGE), rounded up to a power of two.
func RQLogStride(maxSGE int) uint8 {
	return uint8(mathbits.Len(uint(RWQEDataOffset + SGESize*max(maxSGE, 0) - 1)))
}

// RQStride is the bytes of a receive queue's entry: 1 << RQLogStride.
func RQStride(maxSGE int) int { return 1 << RQLogStride(maxSGE) }
