package abi

// Values of the ID and VERSION registers.
const (
	ID           = 0x43494e52 // "RNIC", R in the low byte
	VersionMajor = 1
	VersionMinor = 0
)

// Word is a register without inner structure.
type Word struct {
	Value uint32 `doc:"all 32 bits"`
}

// Version is register VERSION.
type Version struct {
	Minor uint16 `doc:"grows when something is added"`
	Major uint16 `doc:"grows when something is changed"`
}

// Caps is register CAPS.
type Caps struct {
	PushWQE    bool     `doc:"doorbell pages have a pushed-WQE window"`
	_          struct{} `bits:"7"`
	LogMaxQP   uint8    `bits:"5" doc:"log2 of the number of QPs; QPNs are below it"`
	_          struct{} `bits:"3"`
	LogMaxCQ   uint8    `bits:"5" doc:"log2 of the number of CQs"`
	_          struct{} `bits:"3"`
	LogMaxRing uint8    `bits:"5" doc:"log2 of the entries (SQ: units) of the largest ring"`
	_          struct{} `bits:"3"`
}

// Limits0 is register LIMITS0.
type Limits0 struct {
	MaxSGE    uint8  `doc:"scatter/gather elements of a work request"`
	MSIX      uint8  `doc:"MSI-X vectors"`
	MaxInline uint16 `doc:"bytes of inline data of a work request"`
}

// Limits1 is register LIMITS1.
type Limits1 struct {
	LogKeys     uint8    `bits:"5" doc:"log2 of the number of memory keys; key indices are below it"`
	LogPages    uint8    `bits:"5" doc:"log2 of the number of page entries that all memory regions share"`
	LogUAR      uint8    `bits:"4" doc:"log2 of the number of doorbell pages"`
	LogMaxEQ    uint8    `bits:"4" doc:"log2 of the number of event queues"`
	MaxMTU      MTU      `doc:"largest path MTU"`
	_           struct{} `bits:"3"`
	MaxRdAtomic uint8    `doc:"largest max_rd_atomic and max_dest_rd_atomic of a QP"`
}

// Ctrl is register CTRL.
type Ctrl struct {
	Enable bool     `doc:"1 starts the device with the admin rings as set; 0 stops the taking of new commands"`
	_      struct{} `bits:"31"`
}

// Status is register STATUS.
type Status struct {
	Ready        bool     `doc:"registers may be written"`
	LinkUp       bool     `doc:"the link carries frames"`
	AdminEnabled bool     `doc:"commands are taken: CTRL.Enable has taken effect"`
	_            struct{} `bits:"1"`
	AdminError   bool     `doc:"an admin ring could not be read or written; commands are no longer taken until CTRL.Enable has been 0"`
	_            struct{} `bits:"27"`
}

// AdminLogSize is register ADMIN_LOG_SIZE.
type AdminLogSize struct {
	LogSize uint8    `bits:"4" doc:"log2 of the entries of each admin ring"`
	_       struct{} `bits:"28"`
}

// AdminVector is register ADMIN_VECTOR.
type AdminVector struct {
	Vector uint8    `doc:"MSI-X vector"`
	_      struct{} `bits:"23"`
	Enable bool     `doc:"1: each admin completion sends the interrupt"`
}

// AdminDoorbell is register ADMIN_DOORBELL.
type AdminDoorbell struct {
	Index uint16 `doc:"producer index, free running"`
	_     uint16
}

// PortMACHi is register PORT_MAC_HI.
type PortMACHi struct {
	MACHi uint16 `doc:"bits 47:32 of the MAC address"`
	_     uint16
}

// PortMTU is register PORT_MTU.
type PortMTU struct {
	MTU MTU      `doc:"as in the QP's path_mtu; a write of another value than 1..5 is ignored"`
	_   struct{} `bits:"29"`
}

// PortPKey is register PORT_PKEY.
type PortPKey struct {
	PKey uint16 `doc:"bit 15: full member; bits 14:0: the partition"`
	_    uint16
}

// LinkCtrl is register LINK_CTRL.
type LinkCtrl struct {
	Enable bool     `doc:"1: the port sends and receives; 0: link down"`
	_      struct{} `bits:"31"`
}

// RawQPN is register RAW_QPN.
type RawQPN struct {
	QPN uint32 `bits:"24" doc:"QPN; 0: none, such frames are dropped"`
	_   uint8
}

// TimeUnit is register TIME_UNIT.
type TimeUnit struct {
	Cycles uint16 `doc:"cycles per unit of 4.096 us, at least 1: a write of 0 counts as 1"`
	_      uint16
}

// What the default build reports in CAPS and LIMITS.
var (
	DefaultCaps    = Caps{PushWQE: true, LogMaxQP: 10, LogMaxCQ: 10, LogMaxRing: MaxLogRing}
	DefaultLimits0 = Limits0{MaxSGE: MaxSGE, MaxInline: 64, MSIX: MSIXCount}
	DefaultLimits1 = Limits1{LogKeys: 10, LogPages: 14, LogUAR: 8, LogMaxEQ: 4, MaxMTU: MTU4096, MaxRdAtomic: 16}
)

// MTU is a path MTU: payload bytes of a packet, coded as in verbs.
type MTU uint8

const (
	MTU256  MTU = 1
	MTU512  MTU = 2
	MTU1024 MTU = 3
	MTU2048 MTU = 4
	MTU4096 MTU = 5
)

var mtus = newEnum("MTU",
	enumValue[MTU]{MTU256, "256", ""},
	enumValue[MTU]{MTU512, "512", ""},
	enumValue[MTU]{MTU1024, "1024", ""},
	enumValue[MTU]{MTU2048, "2048", ""},
	enumValue[MTU]{MTU4096, "4096", ""},
)

// Width is the number of bits of an MTU.
func (MTU) Width() int { return 3 }

// String returns the payload bytes as text.
func (m MTU) String() string { return mtus.text(uint32(m)) }

// Bytes is the payload of a full packet, 0 if m is none of the five.
func (m MTU) Bytes() uint32 {
	if m < MTU256 || m > MTU4096 {
		return 0
	}
	return 128 << m
}
