package abi

import "rnic/bits"

// EQMailbox is read by CREATE_EQ.
type EQMailbox struct {
	Base    uint64 `doc:"bus address of the ring, aligned to 32 bytes"`
	LogSize uint8  `doc:"log2 of the events of the ring"`
	Vector  uint8  `doc:"MSI-X vector"`
	UARPage uint16 `doc:"doorbell page that the queue is bound to"`
	_       [244]byte
}

// CQMailbox is read by CREATE_CQ (all but CI), MODIFY_CQ (Count and Period) and
// RESIZE_CQ (Base, LogSize and CI).
type CQMailbox struct {
	Base    uint64 `doc:"bus address of the ring, aligned to 64 bytes"`
	LogSize uint8  `doc:"log2 of the CQEs of the ring"`
	EQN     uint8  `doc:"event queue of its completion and error events"`
	UARPage uint16 `doc:"doorbell page that the queue is bound to"`
	Count   uint16 `doc:"moderation: CQEs not consumed that end the wait of an event; 0: time alone does"`
	Period  uint16 `doc:"moderation: longest wait of an event in units of 256 clock cycles (1.024 us), up to 4,000; 0: none waits, then Count is 0 or 1"`
	CI      uint16 `doc:"RESIZE_CQ: consumer index, taken as from a doorbell; one behind the device's is ignored"`
	_       [238]byte
}

// Limits of moderation.
const (
	CQPeriodCycles = 256  // clock cycles of a unit of Period
	MaxCQPeriod    = 4000 // units
)

// MRMailbox is read by REG_MR. The region begins at byte Addr modulo the page
// size of the first page. For room that FAST_REG fills (Kind FAST_REG) Addr, Length,
// Access, KeyLow, LogPageSize and PageList are not used: NumPages entries from FirstPage
// on are the key's. A memory window has none of these and no pages.
type MRMailbox struct {
	Addr        uint64      `doc:"virtual address of the first byte"`
	Length      uint64      `doc:"bytes"`
	PD          uint32      `bits:"24" doc:"protection domain"`
	Access      AccessFlags `doc:"what is allowed; local read always is"`
	KeyLow      uint8       `doc:"low byte of the key"`
	LogPageSize uint8       `doc:"log2 of the bytes of a page, 12..31"`
	_           uint16
	PageList    uint64   `doc:"bus address of an array of 64-bit bus addresses of the pages, 8-byte aligned"`
	NumPages    uint32   `doc:"entries of the array"`
	FirstPage   uint32   `doc:"first of the device's page entries that the region uses, chosen by the driver; regions must not share any"`
	Kind        KeyKind  `doc:"what the key is of"`
	_           struct{} `bits:"6"`
	_           [215]byte
}

// KeyKind is what a key is of.
type KeyKind uint8

const (
	KeyRegion  KeyKind = 0
	KeyFastReg KeyKind = 1
	KeyWindow1 KeyKind = 2
	KeyWindow2 KeyKind = 3
)

var keyKinds = newEnum("KEY",
	enumValue[KeyKind]{KeyRegion, "REGION", "memory region, valid at once"},
	enumValue[KeyKind]{KeyFastReg, "FAST_REG", "memory region that is valid from a FAST_REG WQE to an invalidation"},
	enumValue[KeyKind]{KeyWindow1, "WINDOW_1", "memory window type 1: of a protection domain; bound by BIND_MW, again and again"},
	enumValue[KeyKind]{KeyWindow2, "WINDOW_2", "memory window type 2: of the QP that binds it, until it is invalidated"},
)

// Width is the number of bits of a KeyKind.
func (KeyKind) Width() int { return 2 }

// String returns the kind's name.
func (k KeyKind) String() string { return keyKinds.text(uint32(k)) }

// AHMailbox is read by CREATE_AH: an address handle of UD.
type AHMailbox struct {
	PD uint32 `bits:"24" doc:"protection domain"`
	_  [5]byte
	AV AV `doc:"where datagrams go"`
	_  [208]byte
}

// SRQMailbox describes a shared receive queue. CREATE_SRQ reads all but Mask and the
// counters, MODIFY_SRQ what Mask names, QUERY_SRQ writes all of it but Mask.
type SRQMailbox struct {
	Base      uint64  `doc:"bus address of the ring, aligned to 64 bytes; MODIFY: of a larger one, in which each slot of the old one has been copied to the slot of the same number"`
	LogSize   uint8   `doc:"log2 of the slots of the ring; with MODIFY not smaller than before"`
	LogStride uint8   `doc:"log2 of the bytes of a slot"`
	MaxSGE    uint8   `doc:"elements of a receive WQE"`
	Mask      SRQAttr `doc:"MODIFY: what is meant"`
	PD        uint32  `bits:"24" doc:"protection domain: that of the elements of its WQEs"`
	_         uint8
	UARPage   uint16 `doc:"doorbell page that the queue is bound to"`
	Limit     uint16 `doc:"SRQ_LIMIT_REACHED when fewer WQEs are left, once; 0: never"`
	Producer  uint16 `doc:"QUERY: number of WQEs posted, modulo 2^16, as of the last doorbell"`
	Consumer  uint16 `doc:"QUERY: number of WQEs taken, modulo 2^16"`
	_         [232]byte
}

// SRQAttr is a set of attributes of an SRQ.
type SRQAttr uint8

const (
	SRQRing  SRQAttr = 1
	SRQLimit SRQAttr = 2
)

var srqAttrs = newMask("SRQ",
	enumValue[SRQAttr]{SRQRing, "RING", "Base and LogSize"},
	enumValue[SRQAttr]{SRQLimit, "LIMIT", ""},
)

// Width is the number of bits of an SRQAttr.
func (SRQAttr) Width() int { return 8 }

// String joins the names of the attributes.
func (a SRQAttr) String() string { return srqAttrs.text(uint32(a)) }

// DeviceMailbox is written by QUERY_DEVICE.
type DeviceMailbox struct {
	MaxQP           uint32      `doc:"queue pairs; QPNs are below it"`
	MaxCQ           uint32      `doc:"completion queues"`
	MaxEQ           uint32      `doc:"event queues"`
	MaxMR           uint32      `doc:"memory regions; key indices are below it"`
	MaxSRQ          uint32      `doc:"shared receive queues"`
	MaxPages        uint32      `doc:"page entries that all memory regions share"`
	MaxSQUnits      uint32      `doc:"units of a send queue"`
	MaxRQEntries    uint32      `doc:"entries of a receive queue"`
	MaxCQE          uint32      `doc:"entries of a completion queue"`
	MaxSGE          uint16      `doc:"elements of a work request"`
	MaxInline       uint16      `doc:"bytes of inline data"`
	MaxMRSize       uint64      `doc:"bytes of a memory region"`
	PageSizes       uint64      `doc:"bit n: pages of 2^n bytes are supported"`
	WQEOps          uint32      `doc:"bit n: operation n of WQEOp is supported"`
	QPTypes         uint8       `doc:"bit n: type n of QPType is supported"`
	Access          AccessFlags `doc:"access flags that are supported"`
	MaxRdAtomic     uint8       `doc:"largest initiator depth of a QP"`
	MaxDestRdAtomic uint8       `doc:"largest responder depth of a QP"`
	MaxMTU          MTU         `doc:"largest path MTU"`
	_               struct{}    `bits:"5"`
	Ports           uint8       `doc:"physical ports"`
	GIDs            uint8       `doc:"entries of the GID table"`
	PKeys           uint8       `doc:"entries of the P_Key table"`
	MaxRetry        uint8       `doc:"largest retry_cnt that is supported"`
	MaxRNRRetry     uint8       `doc:"largest rnr_retry that is supported"`
	_               uint16
	MaxAH           uint32 `doc:"address handles; AHNs are below it"`
	MaxSRQEntries   uint32 `doc:"slots of a shared receive queue, one of which stays free"`
	MaxFastRegPages uint16 `doc:"pages of a FAST_REG WQE"`
	MaxRawFrame     uint16 `doc:"bytes of a frame of a RAW_PACKET QP"`
	_               [172]byte
}

// Encodings of the mailboxes.
var (
	EQMailboxLayout     = bits.MustLayout[EQMailbox]("eq_mailbox", bits.Little, MailboxSize)
	CQMailboxLayout     = bits.MustLayout[CQMailbox]("cq_mailbox", bits.Little, MailboxSize)
	MRMailboxLayout     = bits.MustLayout[MRMailbox]("mr_mailbox", bits.Little, MailboxSize)
	DeviceMailboxLayout = bits.MustLayout[DeviceMailbox]("device_mailbox", bits.Little, MailboxSize)
	QPMailboxLayout     = bits.MustLayout[QPMailbox]("qp_mailbox", bits.Little, MailboxSize)
	AHMailboxLayout     = bits.MustLayout[AHMailbox]("ah_mailbox", bits.Little, MailboxSize)
	SRQMailboxLayout    = bits.MustLayout[SRQMailbox]("srq_mailbox", bits.Little, MailboxSize)
	AVLayout            = bits.MustLayout[AV]("av", bits.Little, 40)
)

// AccessFlags are permissions of a memory region, or of a QP towards its peer,
// with the values of verbs.
type AccessFlags uint8

const (
	AccessLocalWrite   AccessFlags = 1
	AccessRemoteWrite  AccessFlags = 2
	AccessRemoteRead   AccessFlags = 4
	AccessRemoteAtomic AccessFlags = 8
	AccessMWBind       AccessFlags = 16
)

var accessFlags = newMask("ACCESS",
	enumValue[AccessFlags]{AccessLocalWrite, "LOCAL_WRITE", ""},
	enumValue[AccessFlags]{AccessRemoteWrite, "REMOTE_WRITE", ""},
	enumValue[AccessFlags]{AccessRemoteRead, "REMOTE_READ", ""},
	enumValue[AccessFlags]{AccessRemoteAtomic, "REMOTE_ATOMIC", ""},
	enumValue[AccessFlags]{AccessMWBind, "MW_BIND", "memory windows may be bound to the region"},
)

// Width is the number of bits of AccessFlags.
func (AccessFlags) Width() int { return 8 }

// String joins the names of the flags set.
func (f AccessFlags) String() string { return accessFlags.text(uint32(f)) }
