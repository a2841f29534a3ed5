package abi

import "rnic/bits"

// CQESize is the bytes of a CQE.
const CQESize = 64

// CQE is an entry of a completion queue. With another status than SUCCESS, byte
// length, immediate, source QPN and flags say nothing; the opcode's bit 7 still
// tells which queue the WQE was on.
type CQE struct {
	Index     uint16    `doc:"index of the WQE that is done: its first unit, or its receive queue entry; receive WQEs of an SRQ: the slot, or NoSlot"`
	Opcode    WCOpcode  `doc:"what is done"`
	Status    WCStatus  `doc:"how it ended"`
	QPN       uint32    `bits:"24" doc:"local QP"`
	Flags     CQEFlags  `doc:"see CQEFlags"`
	SrcQPN    uint32    `bits:"24" doc:"remote QP of a receive"`
	VendorErr VendorErr `doc:"where and why it failed"`
	ByteLen   uint32    `doc:"bytes received (UD: and 40), written, or read"`
	Imm       uint32    `doc:"immediate, or the key that was invalidated"`
	_         uint32
	Timestamp uint64 `doc:"clock cycles when the CQE was made"`
	_         [31]byte
	Phase     bool     `doc:"see RingPhase"`
	_         struct{} `bits:"7"`
}

// CQELayout is the encoding of a CQE.
var CQELayout = bits.MustLayout[CQE]("cqe", bits.Little, CQESize)

// CQEFlags are the flags of a CQE, with the values of verbs.
type CQEFlags uint8

const (
	CQEGRH     CQEFlags = 1
	CQEWithImm CQEFlags = 2
	CQEWithInv CQEFlags = 8
	CQEVLAN    CQEFlags = 16
)

var cqeFlags = newMask("CQE",
	enumValue[CQEFlags]{CQEGRH, "GRH", "UD receive: 40 bytes of header come before the data"},
	enumValue[CQEFlags]{CQEWithImm, "WITH_IMM", "Imm is an immediate"},
	enumValue[CQEFlags]{CQEWithInv, "WITH_INV", "Imm is the key that was invalidated"},
	enumValue[CQEFlags]{CQEVLAN, "VLAN", "RAW_PACKET: Imm is the 802.1Q tag control that was taken out of the frame"},
)

// Width is the number of bits of CQEFlags.
func (CQEFlags) Width() int { return 8 }

// String joins the names of the flags set.
func (f CQEFlags) String() string { return cqeFlags.text(uint32(f)) }

// WCOpcode is what a completion is about, with the values of verbs; NOP and
// FAST_REG, which verbs has not, are at the end of the send side.
type WCOpcode uint8

const (
	WCSend        WCOpcode = 0
	WCWrite       WCOpcode = 1
	WCRead        WCOpcode = 2
	WCCompareSwap WCOpcode = 3
	WCFetchAdd    WCOpcode = 4
	WCBindMW      WCOpcode = 5
	WCLocalInv    WCOpcode = 6
	WCFastReg     WCOpcode = 126
	WCNop         WCOpcode = 127
	WCRecv        WCOpcode = 128
	WCRecvWithImm WCOpcode = 129
)

var wcOpcodes = newEnum("WC",
	enumValue[WCOpcode]{WCSend, "SEND", "SEND, SEND_IMM, SEND_INV"},
	enumValue[WCOpcode]{WCWrite, "RDMA_WRITE", "WRITE, WRITE_IMM"},
	enumValue[WCOpcode]{WCRead, "RDMA_READ", ""},
	enumValue[WCOpcode]{WCCompareSwap, "COMP_SWAP", ""},
	enumValue[WCOpcode]{WCFetchAdd, "FETCH_ADD", ""},
	enumValue[WCOpcode]{WCBindMW, "BIND_MW", ""},
	enumValue[WCOpcode]{WCLocalInv, "LOCAL_INV", ""},
	enumValue[WCOpcode]{WCFastReg, "FAST_REG", ""},
	enumValue[WCOpcode]{WCNop, "NOP", ""},
	enumValue[WCOpcode]{WCRecv, "RECV", "receive of a SEND"},
	enumValue[WCOpcode]{WCRecvWithImm, "RECV_RDMA_WITH_IMM", "receive of a WRITE_IMM"},
)

// Width is the number of bits of a WCOpcode.
func (WCOpcode) Width() int { return 8 }

// String returns the opcode's name.
func (o WCOpcode) String() string { return wcOpcodes.text(uint32(o)) }

// IsRecv tells a completion of the receive queue, in error too.
func (o WCOpcode) IsRecv() bool { return o&0x80 != 0 }

// WCOpcode is the opcode of the completion of an operation; NOP if o is none.
func (o WQEOp) WCOpcode() WCOpcode {
	switch o {
	case OpSend, OpSendImm, OpSendInv:
		return WCSend
	case OpWrite, OpWriteImm:
		return WCWrite
	case OpRead:
		return WCRead
	case OpCompareSwap:
		return WCCompareSwap
	case OpFetchAdd:
		return WCFetchAdd
	case OpLocalInv:
		return WCLocalInv
	case OpBindMW:
		return WCBindMW
	case OpFastReg:
		return WCFastReg
	}
	return WCNop
}
