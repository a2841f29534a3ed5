package abi

import "rnic/bits"

// Sizes of the send queue's format, in bytes unless said otherwise. The list of
// SGEs, or the inline data, runs from WQEDataOffset over all further units:
// SGE i is at WQEDataOffset + i*SGESize.
const (
	UnitSize        = 64
	MaxUnits        = 8 // units of a WQE
	MaxSGE          = 16
	SGESize         = 16
	WQERemoteOffset = 16
	WQEDataOffset   = 32
	WQEAtomicOffset = 48
	MaxInline       = MaxUnits*UnitSize - WQEDataOffset // what the format can hold
	MaxMessage      = 1 << 31                           // bytes of the longest message
)

// WQEControl begins every WQE of a send queue. A complete unit in the window of a
// doorbell page (see PushOffset) acts as a send queue doorbell of QPN with
// producer index Index+Units. The WQE must be in the ring before: the device
// may forget the pushed copy and read it there.
type WQEControl struct {
	Op        WQEOp    `doc:"operation"`
	Flags     WQEFlags `doc:"see WQEFlags"`
	Units     uint8    `doc:"units of 64 bytes that the WQE takes, 1..8"`
	NumSGE    uint8    `doc:"elements of the gather list; with INLINE ignored"`
	InlineLen uint16   `doc:"bytes of inline data; without INLINE ignored"`
	Index     uint16   `doc:"index of this WQE's first unit: a slot that holds another is stale"`
	Imm       uint32   `doc:"immediate, or the key to invalidate; BIND_MW, FAST_REG: the key as it is to be from now on"`
	QPN       uint32   `bits:"24" doc:"QP that the queue belongs to: tells whose WQE a pushed unit is"`
	_         uint8
}

// RemoteSegment follows the control segment in every WQE; it is ignored where
// the operation has no remote address.
type RemoteSegment struct {
	Addr uint64 `doc:"virtual address in the remote region"`
	RKey Key    `doc:"remote key"`
	_    uint32
}

// SGE is a scatter/gather element.
type SGE struct {
	Addr   uint64 `doc:"virtual address in the local region"`
	Length uint32 `doc:"bytes; with 0 address and key are not looked at"`
	LKey   Key    `doc:"local key"`
}

// AtomicSegment stands in place of the second SGE of COMPARE_SWAP and FETCH_ADD.
type AtomicSegment struct {
	SwapAdd uint64 `doc:"value to store, or to add"`
	Compare uint64 `doc:"value to compare with; FETCH_ADD: ignored"`
}

// AHSegment stands in place of the remote segment in a WQE of a UD QP.
type AHSegment struct {
	AHN     uint32 `bits:"24" doc:"address handle"`
	_       uint8
	DestQPN uint32 `bits:"24" doc:"the peer's QPN"`
	_       uint8
	QKey    uint32 `doc:"Q_Key that the datagram carries; with the top bit set the QP's own"`
	_       uint32
}

// BindSegment stands in place of the gather list of BIND_MW, whose remote segment has
// the window's first address and the L_Key of the region.
type BindSegment struct {
	Length uint64      `doc:"bytes; 0 unbinds a window of type 1"`
	Access AccessFlags `doc:"what the window allows: REMOTE_*"`
	_      [23]byte
}

// FastRegSegment stands in place of the gather list of FAST_REG, whose remote segment
// has the region's first address. The bus addresses of its pages follow, 8 a unit, 64
// bits each; the region begins at byte Addr modulo the page size of the first.
type FastRegSegment struct {
	Length      uint64      `doc:"bytes"`
	NumPages    uint16      `doc:"1 to MaxFastRegPages"`
	LogPageSize uint8       `doc:"log2 of the bytes of a page, 12..30"`
	Access      AccessFlags `doc:"what is allowed; local read always is"`
	_           [20]byte
}

// MaxFastRegPages is the number of pages that a FAST_REG WQE has room for: 4 units.
const MaxFastRegPages = 32

// WQE is the first unit of a WQE with a gather list.
type WQE struct {
	Ctrl   WQEControl
	Remote RemoteSegment
	SGE    [2]SGE
}

// WQEInline is the first unit of a WQE with inline data.
type WQEInline struct {
	Ctrl   WQEControl
	Remote RemoteSegment
	Data   [32]byte `doc:"inline data, continued in the further units"`
}

// WQEAtomic is an atomic WQE: always one unit.
type WQEAtomic struct {
	Ctrl   WQEControl
	Remote RemoteSegment
	SGE    SGE
	Atomic AtomicSegment
}

// WQEUD is the first unit of a WQE of a UD QP with a gather list.
type WQEUD struct {
	Ctrl WQEControl
	AH   AHSegment
	SGE  [2]SGE
}

// WQEBind is a BIND_MW WQE: always one unit.
type WQEBind struct {
	Ctrl   WQEControl
	Remote RemoteSegment
	Bind   BindSegment
}

// WQEFastReg is the first unit of a FAST_REG WQE.
type WQEFastReg struct {
	Ctrl    WQEControl
	Remote  RemoteSegment
	FastReg FastRegSegment
}

// WQESGEs is a further unit of a WQE with a gather list.
type WQESGEs struct {
	SGE [4]SGE
}

// Encodings of the send queue. Further units with inline data are bytes.
var (
	WQEControlLayout     = bits.MustLayout[WQEControl]("wqe_control", bits.Little, 16)
	RemoteSegmentLayout  = bits.MustLayout[RemoteSegment]("remote_segment", bits.Little, 16)
	SGELayout            = bits.MustLayout[SGE]("sge", bits.Little, SGESize)
	AtomicSegmentLayout  = bits.MustLayout[AtomicSegment]("atomic_segment", bits.Little, 16)
	AHSegmentLayout      = bits.MustLayout[AHSegment]("ah_segment", bits.Little, 16)
	BindSegmentLayout    = bits.MustLayout[BindSegment]("bind_segment", bits.Little, 32)
	FastRegSegmentLayout = bits.MustLayout[FastRegSegment]("fast_reg_segment", bits.Little, 32)
	WQEUDLayout          = bits.MustLayout[WQEUD]("wqe_ud", bits.Little, UnitSize)
	WQEBindLayout        = bits.MustLayout[WQEBind]("wqe_bind", bits.Little, UnitSize)
	WQEFastRegLayout     = bits.MustLayout[WQEFastReg]("wqe_fast_reg", bits.Little, UnitSize)
	WQELayout            = bits.MustLayout[WQE]("wqe", bits.Little, UnitSize)
	WQEInlineLayout      = bits.MustLayout[WQEInline]("wqe_inline", bits.Little, UnitSize)
	WQEAtomicLayout      = bits.MustLayout[WQEAtomic]("wqe_atomic", bits.Little, UnitSize)
	WQESGEsLayout        = bits.MustLayout[WQESGEs]("wqe_sges", bits.Little, UnitSize)
)

// WQEUnits is the number of units of a WQE with numSGE elements or, if
// inlineLen is not 0, that many inline bytes. More than MaxUnits does not fit.
func WQEUnits(numSGE, inlineLen int) int {
	n := numSGE * SGESize
	if inlineLen > 0 {
		n = inlineLen
	}
	return (WQEDataOffset + max(n, 1) + UnitSize - 1) / UnitSize
}

// WQEFlags are the flags of a WQE.
type WQEFlags uint8

const (
	WQESignalled WQEFlags = 1 << 0
	WQESolicited WQEFlags = 1 << 1
	WQEFence     WQEFlags = 1 << 2
	WQEInlined   WQEFlags = 1 << 3
)

var wqeFlags = newMask("WQE",
	enumValue[WQEFlags]{WQESignalled, "SIGNALLED", "write a CQE when done; an error writes one anyway"},
	enumValue[WQEFlags]{WQESolicited, "SOLICITED", "the receiver's CQE is a solicited one"},
	enumValue[WQEFlags]{WQEFence, "FENCE", "wait until all earlier READs and atomics are done"},
	enumValue[WQEFlags]{WQEInlined, "INLINE", "the data is in the WQE"},
)

// Width is the number of bits of WQEFlags.
func (WQEFlags) Width() int { return 8 }

// String joins the names of the flags set.
func (f WQEFlags) String() string { return wqeFlags.text(uint32(f)) }

// WQEOp is the operation of a send WQE.
type WQEOp uint8

const (
	OpSend WQEOp = iota
	OpSendImm
	OpSendInv
	OpWrite
	OpWriteImm
	OpRead
	OpCompareSwap
	OpFetchAdd
	OpLocalInv
	OpBindMW
	OpFastReg
	OpNop
)

var wqeOps = newEnum("WQE_OP",
	enumValue[WQEOp]{OpSend, "SEND", ""},
	enumValue[WQEOp]{OpSendImm, "SEND_IMM", "SEND with immediate"},
	enumValue[WQEOp]{OpSendInv, "SEND_INV", "SEND with invalidate: Imm is the remote key"},
	enumValue[WQEOp]{OpWrite, "WRITE", "RDMA WRITE"},
	enumValue[WQEOp]{OpWriteImm, "WRITE_IMM", "RDMA WRITE with immediate"},
	enumValue[WQEOp]{OpRead, "READ", "RDMA READ"},
	enumValue[WQEOp]{OpCompareSwap, "COMPARE_SWAP", "64-bit compare and swap"},
	enumValue[WQEOp]{OpFetchAdd, "FETCH_ADD", "64-bit fetch and add"},
	enumValue[WQEOp]{OpLocalInv, "LOCAL_INV", "invalidate the local key in Imm"},
	enumValue[WQEOp]{OpBindMW, "BIND_MW", "bind a memory window"},
	enumValue[WQEOp]{OpFastReg, "FAST_REG", "register memory from the send queue"},
	enumValue[WQEOp]{OpNop, "NOP", "nothing; completes in its turn"},
)

// Width is the number of bits of a WQEOp.
func (WQEOp) Width() int { return 8 }

// String returns the operation's name.
func (o WQEOp) String() string { return wqeOps.text(uint32(o)) }
