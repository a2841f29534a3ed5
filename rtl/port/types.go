package port

import (
	"rnic/abi"
	"rnic/roce"
)

// QPN is a queue pair number, 24 bits on the wire and in rings (IBTA 9.2).
type QPN uint32

// Width is 24 bits.
func (QPN) Width() int { return 24 }

// SRQN is a shared receive queue number, 24 bits.
type SRQN uint32

// Width is 24 bits.
func (SRQN) Width() int { return 24 }

// AHN is the number of an address handle, 24 bits.
type AHN uint32

// Width is 24 bits.
func (AHN) Width() int { return 24 }

// CQN is a completion queue number, 24 bits.
type CQN uint32

// Width is 24 bits.
func (CQN) Width() int { return 24 }

// EQN is an event queue number, 8 bits.
type EQN uint8

// PD is a protection domain number, 24 bits.
type PD uint32

// Width is 24 bits.
func (PD) Width() int { return 24 }

// MSN is the responder's message sequence number, 24 bits (IBTA 9.7.5.1.2).
type MSN = roce.MSN

// Key is an L_Key or R_Key: index in the upper 24 bits, consumer's byte below.
type Key = abi.Key

// BusAddr is an address that PCIe understands.
type BusAddr uint64

// VA is an address in a memory region, as the consumer names it.
type VA uint64

// BeatBytes is the width of the data path in bytes: 512 bits.
const BeatBytes = 64

// Beat is one cycle's worth of bytes. Bytes are packed from lane 0, or from
// lane Shift of the first beat where the stream's request says so. Len counts
// the lanes from 0 up to the last valid one (1..64); a transfer of no bytes has
// no beats, unless a stream says otherwise.
type Beat struct {
	Data [BeatBytes]byte
	Len  uint8
	Last bool
}

// EthBeat is one beat of an Ethernet frame between the packet pipelines and the
// MAC, or on the wire. Len is 1..64 and 64 on all but the last beat. Bad, with
// Last, marks a frame that the transmitter gave up or whose FCS was wrong. VLAN and
// TCI, on the first beat between pipelines and MAC, are the 802.1Q tag, which only the
// frame on the wire has in its bytes.
type EthBeat struct {
	Data [BeatBytes]byte
	Len  uint8
	Last bool
	Bad  bool
	VLAN bool
	TCI  uint16 // priority 15:13, VLAN 11:0
}
