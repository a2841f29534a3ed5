package abi

import "rnic/bits"

// Doorbell is one aligned 8-byte write to offset 0 of a doorbell page. A write to
// another page than the one bound to the object at its creation is counted
// (doorbell_bad_page) and ignored, as is an unknown number (doorbell_bad_number).
type Doorbell struct {
	Number        uint32       `bits:"24" doc:"QPN, CQN, EQN or SRQN"`
	Kind          DoorbellKind `doc:"what the index is"`
	SolicitedOnly bool         `doc:"CQ_ARM: only a solicited completion or an error raises the event"`
	_             struct{}     `bits:"3"`
	Index         uint16       `doc:"free-running producer or consumer index"`
	_             uint16
}

// DoorbellLayout is the encoding of a Doorbell.
var DoorbellLayout = bits.MustLayout[Doorbell]("doorbell", bits.Little, 8)

// Pack returns the 64 bits of d.
func (d Doorbell) Pack() uint64 {
	v := uint64(d.Number)&0xffffff | uint64(d.Kind)&0xf<<24 | uint64(d.Index)<<32
	if d.SolicitedOnly {
		v |= 1 << 28
	}
	return v
}

// UnpackDoorbell is the inverse of Pack; reserved bits are ignored.
func UnpackDoorbell(v uint64) Doorbell {
	return Doorbell{
		Number:        uint32(v) & 0xffffff,
		Kind:          DoorbellKind(v >> 24 & 0xf),
		SolicitedOnly: v>>28&1 != 0,
		Index:         uint16(v >> 32),
	}
}

// DoorbellKind says which index of which object a doorbell carries.
type DoorbellKind uint8

const (
	DoorbellSQ    DoorbellKind = 0
	DoorbellRQ    DoorbellKind = 1
	DoorbellCQ    DoorbellKind = 2
	DoorbellCQArm DoorbellKind = 3
	DoorbellEQ    DoorbellKind = 4
	DoorbellSRQ   DoorbellKind = 5
)

var doorbellKinds = newEnum("DOORBELL",
	enumValue[DoorbellKind]{DoorbellSQ, "SQ", "send queue producer index, in units"},
	enumValue[DoorbellKind]{DoorbellRQ, "RQ", "receive queue producer index"},
	enumValue[DoorbellKind]{DoorbellCQ, "CQ", "completion queue consumer index"},
	enumValue[DoorbellKind]{DoorbellCQArm, "CQ_ARM", "completion queue consumer index, and arm: one event for the next CQE beyond it, at once if there is one"},
	enumValue[DoorbellKind]{DoorbellEQ, "EQ", "event queue consumer index, and arm: one interrupt for the next event beyond it, at once if there is one"},
	enumValue[DoorbellKind]{DoorbellSRQ, "SRQ", "shared receive queue: number of entries posted, modulo 2^16"},
)

// Width is the number of bits of a DoorbellKind.
func (DoorbellKind) Width() int { return 4 }

// String returns the kind's name.
func (k DoorbellKind) String() string { return doorbellKinds.text(uint32(k)) }

// MSIXEntry is one entry of the MSI-X table, as PCI has it.
type MSIXEntry struct {
	AddrLo uint32   `doc:"bus address of the interrupt write, bits 31:0"`
	AddrHi uint32   `doc:"bits 63:32"`
	Data   uint32   `doc:"the word that is written"`
	Masked bool     `doc:"1: the interrupt is held as a pending bit; 1 after reset"`
	_      struct{} `bits:"31"`
}

// MSIXEntryLayout is the encoding of an MSIXEntry.
var MSIXEntryLayout = bits.MustLayout[MSIXEntry]("msix_entry", bits.Little, 16)
