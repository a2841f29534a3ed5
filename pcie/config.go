package pcie

import "rnic/bits"

// Offsets in configuration space, bytes.
const (
	ConfigSize       = 256
	offsetMSIX       = 0x40
	offsetExpress    = 0x50
	idMSIX           = 0x11
	idExpress        = 0x10
	capabilitiesList = 0x10 // of the status register
)

// Identity of the device. Vendor 1AF4, device 10F0 to 10FF is the range that its
// owner leaves to everybody for experiments.
const (
	VendorID   = 0x1AF4
	DeviceID   = 0x10F0
	ClassCode  = 0x020000 // network controller, Ethernet
	RevisionID = 1
)

// Config is the configuration space: type 0 header, MSI-X and PCI Express
// capabilities. The same struct says what reads give and, as a mask, which bits
// can be written. BAR 0 and 1 together are one 64-bit memory BAR.
type Config struct {
	Vendor uint16 `doc:"vendor identification"`
	Device uint16 `doc:"device identification"`

	_         struct{} `bits:"1"`
	Memory    bool     `doc:"command: BARs answer"`
	BusMaster bool     `doc:"command: the device may send requests, MSI-X too"`
	_         struct{} `bits:"7"`
	NoINTx    bool     `doc:"command: no INTx messages; there are none anyway"`
	_         struct{} `bits:"5"`
	Status    uint16   `doc:"status: bit 4, capabilities list"`

	Revision     uint8     `doc:"revision"`
	Class        uint32    `bits:"24" doc:"class code"`
	CacheLine    uint8     `doc:"scratch, no effect"`
	_            struct{}  `bits:"8" doc:"latency timer"`
	HeaderType   uint8     `doc:"0: type 0, one function"`
	_            struct{}  `bits:"8" doc:"BIST"`
	BAR0         uint32    `doc:"bits 3:0 are 4: 64-bit, not prefetchable"`
	BAR1         uint32    `doc:"upper half of BAR 0"`
	_            [5]uint32 `doc:"BARs 2 to 5, CardBus CIS"`
	SubVendor    uint16    `doc:"subsystem vendor"`
	SubDevice    uint16    `doc:"subsystem device"`
	_            uint32    `doc:"expansion ROM"`
	Capabilities uint8     `doc:"offset of the first capability"`
	_            struct{}  `bits:"56"`
	IntLine      uint8     `doc:"scratch for software"`
	_            struct{}  `bits:"24" doc:"interrupt pin, grant, latency"`

	MSIX    MSIXCapability
	_       uint32
	Express ExpressCapability
	_       [29]uint32
}

// MSIXCapability is capability 0x11, 12 bytes.
type MSIXCapability struct {
	ID        uint8    `doc:"0x11"`
	Next      uint8    `doc:"offset of the next capability"`
	TableSize uint16   `bits:"11" doc:"vectors less 1"`
	_         struct{} `bits:"3"`
	MaskAll   bool     `doc:"all vectors masked"`
	Enable    bool     `doc:"MSI-X on"`
	TableBIR  uint8    `bits:"3" doc:"BAR of the table"`
	TableOff  uint32   `bits:"29" doc:"offset of the table, 8 bytes"`
	PBABIR    uint8    `bits:"3" doc:"BAR of the pending bits"`
	PBAOff    uint32   `bits:"29" doc:"offset of the pending bits, 8 bytes"`
}

// ExpressCapability is capability 0x10, version 2, 60 bytes.
type ExpressCapability struct {
	ID           uint8    `doc:"0x10"`
	Next         uint8    `doc:"offset of the next capability"`
	Version      uint8    `bits:"4" doc:"2"`
	Type         uint8    `bits:"4" doc:"0: endpoint"`
	_            struct{} `bits:"8"`
	PayloadCap   uint8    `bits:"3" doc:"largest MaxPayload, 128 bytes << n"`
	_            struct{} `bits:"2"`
	ExtendedTag  bool     `doc:"8-bit tags supported"`
	_            struct{} `bits:"9"`
	RoleError    bool     `doc:"role-based error reporting, 1"`
	_            struct{} `bits:"12"`
	FLR          bool     `doc:"function level reset supported"`
	_            struct{} `bits:"3"`
	_            struct{} `bits:"4" doc:"error reporting enables"`
	Relaxed      bool     `doc:"relaxed ordering allowed"`
	MaxPayload   uint8    `bits:"3" doc:"largest payload, 128 bytes << n"`
	ExtTagEnable bool     `doc:"8-bit tags allowed"`
	_            struct{} `bits:"2"`
	NoSnoop      bool     `doc:"no snoop allowed"`
	MaxReadReq   uint8    `bits:"3" doc:"largest read request, 128 bytes << n"`
	InitiateFLR  bool     `doc:"write 1: function level reset; reads 0"`
	_            struct{} `bits:"16" doc:"device status"`
	LinkSpeedCap uint8    `bits:"4" doc:"1 Gen1, 2 Gen2, 3 Gen3"`
	LinkWidthCap uint8    `bits:"6" doc:"lanes"`
	_            struct{} `bits:"22"`
	_            struct{} `bits:"16" doc:"link control"`
	LinkSpeed    uint8    `bits:"4" doc:"as LinkSpeedCap"`
	LinkWidth    uint8    `bits:"6" doc:"lanes"`
	_            struct{} `bits:"6"`
	_            [10]uint32
}

// ConfigLayout is the encoding of Config.
var ConfigLayout = bits.MustLayout[Config]("config_space", bits.Little, ConfigSize)

// Shape is what configuration space says of a device's BAR 0 and limits.
type Shape struct {
	BARSize    uint64 // bytes, a power of two, 16..2^63
	Vectors    int    // MSI-X, 1..2048
	Table, PBA uint32 // offsets of MSI-X table and pending bits in BAR 0, multiples of 8
}

// PowerOn is the configuration space of a device after reset: MaxPayload 128 and
// MaxReadReq 512 as the specification has it, Gen3 x16.
func PowerOn(s Shape) Config {
	return Config{
		Vendor: VendorID, Device: DeviceID, Status: capabilitiesList,
		Revision: RevisionID, Class: ClassCode,
		BAR0:      4,
		SubVendor: VendorID, SubDevice: DeviceID,
		Capabilities: offsetMSIX,
		MSIX: MSIXCapability{
			ID: idMSIX, Next: offsetExpress, TableSize: uint16(s.Vectors - 1),
			TableOff: s.Table >> 3, PBAOff: s.PBA >> 3,
		},
		Express: ExpressCapability{
			ID: idExpress, Version: 2, PayloadCap: 2, ExtendedTag: true, RoleError: true, FLR: true, ExtTagEnable: true,
			Relaxed: true, NoSnoop: true, MaxReadReq: 2,
			LinkSpeedCap: 3, LinkWidthCap: 16, LinkSpeed: 3, LinkWidth: 16,
		},
	}
}

// Writable has ones where configuration space can be written. The address bits
// of BAR 0 below its size can't, which is how its size is found.
func Writable(s Shape) Config {
	address := ^(s.BARSize - 1)
	return Config{
		Memory: true, BusMaster: true, NoINTx: true, CacheLine: 0xFF, IntLine: 0xFF,
		BAR0: uint32(address), BAR1: uint32(address >> 32),
		MSIX: MSIXCapability{MaskAll: true, Enable: true},
		Express: ExpressCapability{
			Relaxed: true, MaxPayload: 7, ExtTagEnable: true, NoSnoop: true, MaxReadReq: 7,
		},
	}
}
