package roce

import "rnic/bits"

// Sizes of the transport headers, bytes.
const (
	BTHSize          = 12
	DETHSize         = 8
	RETHSize         = 16
	AtomicETHSize    = 28
	AETHSize         = 4
	AtomicAckETHSize = 8
	ImmDtSize        = 4
	IETHSize         = 4
	ICRCSize         = 4
	FCSSize          = 4
)

// QPN is a queue pair number, 24 bits.
type QPN uint32

// Width is 24 bits.
func (QPN) Width() int { return 24 }

// MulticastQPN is the destination of a UD multicast packet.
const MulticastQPN QPN = 0xFFFFFF

// PKey is a partition key: bit 15 full member, 14:0 the partition.
type PKey uint16

// DefaultPKey is the only partition that RoCE ports have to know.
const DefaultPKey PKey = 0xFFFF

// Match tells whether a packet with key o may reach a QP with key k: the low 15
// bits are equal and not 0, and at least one of the two is a full member.
func (k PKey) Match(o PKey) bool {
	return (k^o)&0x7FFF == 0 && k&0x7FFF != 0 && (k|o)&0x8000 != 0
}

// BTH is the Base Transport Header of every packet. Reserved bits, FECN and
// BECN are sent as 0 (but BECN in a CNP) and ignored on receive.
type BTH struct {
	Opcode Opcode   `doc:"transport and operation"`
	SE     bool     `doc:"solicited event: last or only packet of a SEND or WRITE with immediate"`
	MigReq bool     `doc:"migration state; sent as 1, either accepted"`
	PadCnt uint8    `bits:"2" doc:"pad bytes behind the payload"`
	TVer   uint8    `bits:"4" doc:"transport header version, 0"`
	PKey   PKey     `doc:"partition key"`
	FECN   bool     `doc:"forward congestion notification"`
	BECN   bool     `doc:"backward congestion notification"`
	_      struct{} `bits:"6"`
	DestQP QPN      `doc:"queue pair at the receiver"`
	AckReq bool     `doc:"the responder is to acknowledge"`
	_      struct{} `bits:"7"`
	PSN    PSN      `doc:"packet sequence number"`
}

// DETH is the Datagram Extended Transport Header of UD packets.
type DETH struct {
	QKey  uint32   `doc:"queue key of the receiver"`
	_     struct{} `bits:"8"`
	SrcQP QPN      `doc:"queue pair at the sender"`
}

// RETH is the RDMA Extended Transport Header.
type RETH struct {
	VA     uint64 `doc:"remote virtual address"`
	RKey   uint32 `doc:"remote key: 24-bit index, 8-bit key"`
	Length uint32 `doc:"bytes of the whole message, at most 2^31"`
}

// MaxMessage is the longest message, bytes.
const MaxMessage = 1 << 31

// AtomicETH is the header of CMP_SWAP and FETCH_ADD requests.
type AtomicETH struct {
	VA      uint64 `doc:"remote virtual address, multiple of 8"`
	RKey    uint32 `doc:"remote key"`
	SwapAdd uint64 `doc:"value to store, or addend"`
	Compare uint64 `doc:"value to compare with; FETCH_ADD: 0"`
}

// AETH is the ACK Extended Transport Header.
type AETH struct {
	Syndrome Syndrome `doc:"ACK, RNR NAK or NAK, and its value"`
	MSN      MSN      `doc:"messages completed by the responder"`
}

// AtomicAckETH carries the result of an ATOMIC.
type AtomicAckETH struct {
	Orig uint64 `doc:"remote data before the operation"`
}

// ImmDt is immediate data. The value is the big-endian reading of its bytes.
type ImmDt struct {
	Imm uint32 `doc:"immediate data"`
}

// IETH is the Invalidate Extended Transport Header.
type IETH struct {
	RKey uint32 `doc:"remote key to invalidate"`
}

// Layouts of the transport headers.
var (
	BTHLayout          = bits.MustLayout[BTH]("bth", bits.Big, BTHSize)
	DETHLayout         = bits.MustLayout[DETH]("deth", bits.Big, DETHSize)
	RETHLayout         = bits.MustLayout[RETH]("reth", bits.Big, RETHSize)
	AtomicETHLayout    = bits.MustLayout[AtomicETH]("atomiceth", bits.Big, AtomicETHSize)
	AETHLayout         = bits.MustLayout[AETH]("aeth", bits.Big, AETHSize)
	AtomicAckETHLayout = bits.MustLayout[AtomicAckETH]("atomicacketh", bits.Big, AtomicAckETHSize)
	ImmDtLayout        = bits.MustLayout[ImmDt]("immdt", bits.Big, ImmDtSize)
	IETHLayout         = bits.MustLayout[IETH]("ieth", bits.Big, IETHSize)
)

// CNPHeader is the BTH of a congestion notification to QP dest; 16 bytes of zero
// payload and the ICRC follow (annex A17).
func CNPHeader(dest QPN, key PKey) BTH {
	return BTH{Opcode: CNP, MigReq: true, PKey: key, BECN: true, DestQP: dest}
}
