package abi

// QPMailbox describes a queue pair. CREATE_QP reads the first part, MODIFY_QP
// the attributes that AttrMask names, QUERY_QP writes all of it.
type QPMailbox struct {
	AttrMask QPAttr `doc:"MODIFY: attributes that are meant"`

	// Fixed at creation.
	Type         QPType   `doc:"transport"`
	_            struct{} `bits:"5"`
	SQLogUnits   uint8    `doc:"log2 of the units of the send queue"`
	RQLogEntries uint8    `doc:"log2 of the entries of the receive queue"`
	RQLogStride  uint8    `doc:"log2 of the bytes of a receive queue entry"`
	SQBase       uint64   `doc:"bus address of the send queue, aligned to 64 bytes"`
	RQBase       uint64   `doc:"bus address of the receive queue, aligned to 64 bytes"`
	PD           uint32   `bits:"24" doc:"protection domain"`
	SQMaxSGE     uint8    `doc:"elements of a send WQE"`
	SendCQN      uint32   `bits:"24" doc:"completion queue of sends"`
	RQMaxSGE     uint8    `doc:"elements of a receive WQE"`
	RecvCQN      uint32   `bits:"24" doc:"completion queue of receives"`
	_            uint8
	SRQN         uint32  `bits:"24" doc:"shared receive queue, with flag HAS_SRQ"`
	Flags        QPFlags `doc:"see QPFlags"`
	UARPage      uint16  `doc:"doorbell page that the QP is bound to"`
	SQMaxInline  uint16  `doc:"bytes of inline data of a send WQE"`
	_            uint32

	// Attributes.
	State           QPState     `doc:"the next state, or with QUERY the state"`
	_               struct{}    `bits:"5"`
	CurState        QPState     `doc:"the state that the caller believes the QP is in"`
	_               struct{}    `bits:"5"`
	Port            uint8       `doc:"1"`
	AccessFlags     AccessFlags `doc:"what the peer may do"`
	PKeyIndex       uint16      `doc:"index in the P_Key table"`
	PathMTU         MTU         `doc:"payload of a full packet"`
	_               struct{}    `bits:"5"`
	MaxRdAtomic     uint8       `doc:"READs and atomics in flight as initiator"`
	QKey            uint32      `doc:"UD: key that a datagram must carry"`
	DestQPN         uint32      `bits:"24" doc:"the peer's QPN"`
	MaxDestRdAtomic uint8       `doc:"READs and atomics in flight as responder"`
	RQPSN           uint32      `bits:"24" doc:"first PSN expected"`
	Timeout         uint8       `bits:"5" doc:"local ACK timeout, 4.096 us * 2^n; 0: none"`
	_               struct{}    `bits:"3"`
	SQPSN           uint32      `bits:"24" doc:"first PSN sent"`
	MinRNRTimer     uint8       `bits:"5" doc:"code of the delay that RNR NAKs ask for"`
	_               struct{}    `bits:"3"`
	RetryCnt        uint8       `bits:"3" doc:"retries after a timeout or a sequence error"`
	_               struct{}    `bits:"5"`
	RNRRetry        uint8       `bits:"3" doc:"retries after an RNR NAK; 7: no limit"`
	_               struct{}    `bits:"5"`
	SQDAsyncNotify  bool        `doc:"to SQD: tell by event when drained"`
	_               struct{}    `bits:"15"`
	AV              AV          `doc:"where the peer is"`

	// Only with QUERY_QP.
	SQDraining   bool      `doc:"SQD: begun WQEs are not all done"`
	_            struct{}  `bits:"7"`
	RetryLeft    uint8     `bits:"3" doc:"retries left"`
	_            struct{}  `bits:"1"`
	RNRRetryLeft uint8     `bits:"3" doc:"RNR retries left"`
	_            struct{}  `bits:"1"`
	LastStatus   WCStatus  `doc:"status that took the QP to ERR"`
	LastVendor   VendorErr `doc:"vendor error that took the QP to ERR"`
	SQProducer   uint16    `doc:"index announced by the last doorbell"`
	SQNext       uint16    `doc:"index of the next WQE to start"`
	SQConsumer   uint16    `doc:"index of the oldest WQE that is not done"`
	RQProducer   uint16    `doc:"index announced by the last doorbell"`
	RQConsumer   uint16    `doc:"index of the next receive WQE to take"`
	_            uint16
	NextPSN      uint32 `bits:"24" doc:"PSN of the next new request"`
	_            uint8
	UnackedPSN   uint32 `bits:"24" doc:"oldest PSN not acknowledged"`
	_            uint8
	ExpectedPSN  uint32 `bits:"24" doc:"PSN expected from the peer"`
	_            uint8
	MSN          uint32 `bits:"24" doc:"messages completed as responder"`
	_            uint8
	_            [108]byte
}

// AV is an address vector: the way to the peer. The packet is IPv4 when DGID is
// an IPv4-mapped address, ::ffff:a.b.c.d, else IPv6.
type AV struct {
	DMAC         [6]byte  `doc:"destination MAC, in the order of the wire"`
	SGIDIndex    uint8    `doc:"own address: entry of the GID table, of the family of DGID"`
	HopLimit     uint8    `doc:"TTL or hop limit"`
	DGID         [16]byte `doc:"destination address, in the order of the wire"`
	FlowLabel    uint32   `bits:"20" doc:"IPv6 flow label"`
	VLANValid    bool     `doc:"1: packets carry an 802.1Q tag"`
	_            struct{} `bits:"3"`
	TrafficClass uint8    `doc:"TOS or traffic class; the two low bits are ECN"`
	UDPSPort     uint16   `doc:"UDP source port, 0xc000..0xffff"`
	VLAN         uint16   `doc:"802.1Q tag control: priority 15:13, VLAN 11:0"`
	_            uint64
}

// QPFlags are flags of a QP that are fixed at creation.
type QPFlags uint8

const (
	QPHasSRQ QPFlags = 1
	QPSigAll QPFlags = 2
)

var qpFlags = newMask("QP",
	enumValue[QPFlags]{QPHasSRQ, "HAS_SRQ", "receive WQEs come from the SRQ"},
	enumValue[QPFlags]{QPSigAll, "SIG_ALL", "every send WQE writes a CQE, SIGNALLED or not"},
)

// Width is the number of bits of QPFlags.
func (QPFlags) Width() int { return 8 }

// String joins the names of the flags set.
func (f QPFlags) String() string { return qpFlags.text(uint32(f)) }

// QPType is a transport, with the values of verbs.
type QPType uint8

const (
	QPTypeRC QPType = 2
	QPTypeUC QPType = 3
	QPTypeUD QPType = 4
	// QPTypeRaw is that of 8 in verbs, which has 3 bits here.
	QPTypeRaw QPType = 5
)

var qpTypes = newEnum("QPT",
	enumValue[QPType]{QPTypeRC, "RC", "reliable connection"},
	enumValue[QPType]{QPTypeUC, "UC", "unreliable connection"},
	enumValue[QPType]{QPTypeUD, "UD", "unreliable datagram"},
	enumValue[QPType]{QPTypeRaw, "RAW_PACKET", "Ethernet frames as they are; the QP that RAW_QPN names receives those that are not RoCE"},
)

// Width is the number of bits of a QPType.
func (QPType) Width() int { return 3 }

// String returns the transport's name.
func (t QPType) String() string { return qpTypes.text(uint32(t)) }

// QPState is a state of a QP, with the values of verbs.
type QPState uint8

const (
	QPReset QPState = 0
	QPInit  QPState = 1
	QPRTR   QPState = 2
	QPRTS   QPState = 3
	QPSQD   QPState = 4
	QPSQE   QPState = 5
	QPErr   QPState = 6
)

var qpStates = newEnum("QPS",
	enumValue[QPState]{QPReset, "RESET", ""},
	enumValue[QPState]{QPInit, "INIT", "receives may be posted"},
	enumValue[QPState]{QPRTR, "RTR", "ready to receive"},
	enumValue[QPState]{QPRTS, "RTS", "ready to send"},
	enumValue[QPState]{QPSQD, "SQD", "send queue drained"},
	enumValue[QPState]{QPSQE, "SQE", "send queue error (UC, UD)"},
	enumValue[QPState]{QPErr, "ERR", "all WQEs are flushed"},
)

// Width is the number of bits of a QPState.
func (QPState) Width() int { return 3 }

// String returns the state's name.
func (s QPState) String() string { return qpStates.text(uint32(s)) }
