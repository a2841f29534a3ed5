package abi

import (
	"encoding/binary"
	"fmt"
	"slices"

	"rnic/bits"
)

// Access says what reading and writing a register does.
type Access uint8

const (
	RO  Access = iota // writes are ignored and counted (mmio_write_ignored)
	RW                // reads return what was written
	W1C               // writing 1 clears a bit
	WO                // reads return 0
)

// String returns the usual abbreviation.
func (a Access) String() string {
	names := [...]string{"RO", "RW", "W1C", "WO"}
	if int(a) < len(names) {
		return names[a]
	}
	return "invalid"
}

// Width is the number of bits of an Access.
func (Access) Width() int { return 2 }

// Register describes one 32-bit register of the global page.
type Register struct {
	Offset uint32 // from the start of BAR0, a multiple of 4
	Name   string // upper case
	Access Access
	Reset  uint32 // after power-up, in the default build
	Doc    string
	Fields []bits.Field
}

// Offsets of the global registers from the start of BAR0. A register takes
// aligned accesses of 4 bytes; 8 bytes reach two neighbours, low word first.
const (
	RegID            = 0x000
	RegVersion       = 0x004
	RegCaps          = 0x008
	RegLimits0       = 0x00c
	RegLimits1       = 0x010
	RegCtrl          = 0x020
	RegStatus        = 0x024
	RegAdminSQBaseLo = 0x040
	RegAdminSQBaseHi = 0x044
	RegAdminCQBaseLo = 0x048
	RegAdminCQBaseHi = 0x04c
	RegAdminLogSize  = 0x050
	RegAdminVector   = 0x054
	RegAdminDoorbell = 0x058
	RegPortMACLo     = 0x080
	RegPortMACHi     = 0x084
	RegPortIPv4      = 0x088
	RegPortMTU       = 0x08c
	RegPortGID0      = 0x090 // four registers
	RegPortPKey      = 0x0a0
	RegLinkCtrl      = 0x0a4
	RegRawQPN        = 0x0a8
	RegTimeUnit      = 0x0c0
	RegCyclesLo      = 0x0c8
	RegCyclesHi      = 0x0cc
	RegPortGIDs      = 0x100 // GIDs 2 to 7, four registers each
)

// NumGIDs is the number of entries of the GID table: 0 is PORT_GID0, 1 the IPv4-mapped
// form of PORT_IPV4.
const NumGIDs = 8

// Layouts of the registers that have more than one field.
var (
	VersionLayout       = bits.MustLayout[Version]("VERSION", bits.Little, 4)
	CapsLayout          = bits.MustLayout[Caps]("CAPS", bits.Little, 4)
	Limits0Layout       = bits.MustLayout[Limits0]("LIMITS0", bits.Little, 4)
	Limits1Layout       = bits.MustLayout[Limits1]("LIMITS1", bits.Little, 4)
	CtrlLayout          = bits.MustLayout[Ctrl]("CTRL", bits.Little, 4)
	StatusLayout        = bits.MustLayout[Status]("STATUS", bits.Little, 4)
	AdminLogSizeLayout  = bits.MustLayout[AdminLogSize]("ADMIN_LOG_SIZE", bits.Little, 4)
	AdminVectorLayout   = bits.MustLayout[AdminVector]("ADMIN_VECTOR", bits.Little, 4)
	AdminDoorbellLayout = bits.MustLayout[AdminDoorbell]("ADMIN_DOORBELL", bits.Little, 4)
	PortMACHiLayout     = bits.MustLayout[PortMACHi]("PORT_MAC_HI", bits.Little, 4)
	PortMTULayout       = bits.MustLayout[PortMTU]("PORT_MTU", bits.Little, 4)
	PortPKeyLayout      = bits.MustLayout[PortPKey]("PORT_PKEY", bits.Little, 4)
	LinkCtrlLayout      = bits.MustLayout[LinkCtrl]("LINK_CTRL", bits.Little, 4)
	RawQPNLayout        = bits.MustLayout[RawQPN]("RAW_QPN", bits.Little, 4)
	TimeUnitLayout      = bits.MustLayout[TimeUnit]("TIME_UNIT", bits.Little, 4)
	WordLayout          = bits.MustLayout[Word]("WORD", bits.Little, 4)
)

var registers = []Register{
	register(RegID, "ID", RO, WordLayout, Word{ID}, "The characters RNIC, R in the low byte: this is the device."),
	register(RegVersion, "VERSION", RO, VersionLayout, Version{Minor: VersionMinor, Major: VersionMajor},
		"Version of this interface. A minor version only adds; a driver refuses another major version."),
	register(RegCaps, "CAPS", RO, CapsLayout, DefaultCaps, "What the device can do, and the sizes of its context tables."),
	register(RegLimits0, "LIMITS0", RO, Limits0Layout, DefaultLimits0, "Limits of a work request and of interrupts."),
	register(RegLimits1, "LIMITS1", RO, Limits1Layout, DefaultLimits1, "Limits of memory registration and of the port."),
	register(RegCtrl, "CTRL", RW, CtrlLayout, Ctrl{}, "Starts and stops the device."),
	register(RegStatus, "STATUS", RO, StatusLayout, Status{Ready: true}, "State of the device."),
	register(RegAdminSQBaseLo, "ADMIN_SQ_BASE_LO", RW, WordLayout, Word{},
		"Bus address of the admin command ring, bits 31:0; 64-byte aligned. Taken over when CTRL.Enable goes from 0 to 1, as the registers up to ADMIN_VECTOR."),
	register(RegAdminSQBaseHi, "ADMIN_SQ_BASE_HI", RW, WordLayout, Word{}, "Bus address of the admin command ring, bits 63:32."),
	register(RegAdminCQBaseLo, "ADMIN_CQ_BASE_LO", RW, WordLayout, Word{}, "Bus address of the admin completion ring, bits 31:0; 32-byte aligned."),
	register(RegAdminCQBaseHi, "ADMIN_CQ_BASE_HI", RW, WordLayout, Word{}, "Bus address of the admin completion ring, bits 63:32."),
	register(RegAdminLogSize, "ADMIN_LOG_SIZE", RW, AdminLogSizeLayout, AdminLogSize{}, "Size of both admin rings."),
	register(RegAdminVector, "ADMIN_VECTOR", RW, AdminVectorLayout, AdminVector{}, "Interrupt that tells an admin completion."),
	register(RegAdminDoorbell, "ADMIN_DOORBELL", WO, AdminDoorbellLayout, AdminDoorbell{},
		"Tells the device that commands up to this producer index are in the ring. At most as many commands as the ring has entries may be without a completion that the driver has read."),
	register(RegPortMACLo, "PORT_MAC_LO", RW, WordLayout, Word{},
		"MAC address, low 32 bits of the 48-bit number whose most significant byte is sent first: 02:00:00:00:00:01 is HI 0x0200, LO 1."),
	register(RegPortMACHi, "PORT_MAC_HI", RW, PortMACHiLayout, PortMACHi{}, "MAC address, high 16 bits."),
	register(RegPortIPv4, "PORT_IPV4", RW, WordLayout, Word{}, "IPv4 address as a number: 10.0.0.1 is 0x0a000001. GID 1 is its IPv4-mapped form."),
	register(RegPortMTU, "PORT_MTU", RW, PortMTULayout, PortMTU{MTU: MTU1024}, "Largest payload of a UD packet, and upper limit of a QP's path MTU."),
	register(RegPortGID0+0x0, "PORT_GID0_0", RW, WordLayout, Word{}, "GID 0, the IPv6 address: bytes 0..3, byte 0 most significant."),
	register(RegPortGID0+0x4, "PORT_GID0_1", RW, WordLayout, Word{}, "GID 0: bytes 4..7."),
	register(RegPortGID0+0x8, "PORT_GID0_2", RW, WordLayout, Word{}, "GID 0: bytes 8..11."),
	register(RegPortGID0+0xc, "PORT_GID0_3", RW, WordLayout, Word{}, "GID 0: bytes 12..15."),
	register(RegPortPKey, "PORT_PKEY", RW, PortPKeyLayout, PortPKey{PKey: 0xffff}, "The partition key at index 0, the only one."),
	register(RegLinkCtrl, "LINK_CTRL", RW, LinkCtrlLayout, LinkCtrl{Enable: true}, "Control of the link."),
	register(RegRawQPN, "RAW_QPN", RW, RawQPNLayout, RawQPN{}, "The RAW_PACKET QP that gets frames which are not RoCE."),
	register(RegTimeUnit, "TIME_UNIT", RW, TimeUnitLayout, TimeUnit{Cycles: 1024},
		"Scale of all protocol timers: clock cycles that stand for 4.096 us (1024 at 250 MHz). Smaller values make timeouts come sooner."),
	register(RegCyclesLo, "CYCLES_LO", RO, WordLayout, Word{}, "Clock cycles since power-up, bits 31:0; reading it latches CYCLES_HI. The clock of CQE timestamps."),
	register(RegCyclesHi, "CYCLES_HI", RO, WordLayout, Word{}, "Clock cycles, bits 63:32, as of the last read of CYCLES_LO."),
	gidRegister(2, 0), gidRegister(2, 1), gidRegister(2, 2), gidRegister(2, 3),
	gidRegister(3, 0), gidRegister(3, 1), gidRegister(3, 2), gidRegister(3, 3),
	gidRegister(4, 0), gidRegister(4, 1), gidRegister(4, 2), gidRegister(4, 3),
	gidRegister(5, 0), gidRegister(5, 1), gidRegister(5, 2), gidRegister(5, 3),
	gidRegister(6, 0), gidRegister(6, 1), gidRegister(6, 2), gidRegister(6, 3),
	gidRegister(7, 0), gidRegister(7, 1), gidRegister(7, 2), gidRegister(7, 3),
}

// gidRegister describes word w of GID g, which is 2 or more.
func gidRegister(g, w uint32) Register {
	return register(RegPortGIDs+16*(g-2)+4*w, fmt.Sprintf("PORT_GID%d_%d", g, w), RW, WordLayout, Word{},
		fmt.Sprintf("GID %d: bytes %d..%d; all 0: none. An address that is IPv4-mapped is one of IPv4.", g, 4*w, 4*w+3))
}

func register[T any](off uint32, name string, a Access, l *bits.Layout[T], reset T, doc string) Register {
	return Register{Offset: off, Name: name, Access: a, Reset: RegWord(l, reset), Doc: doc, Fields: l.Fields()}
}

// Registers lists the global registers by offset.
func Registers() []Register { return slices.Clone(registers) }

// regAt holds, for each word of the global page's used part, 1 + the index in
// registers, or 0.
var regAt = func() (t [128]uint8) {
	for i, r := range registers {
		t[r.Offset/4] = uint8(i + 1)
	}
	return t
}()

// RegisterAt returns the register at BAR0 offset off, nil if there is none or
// off is not a multiple of 4. The register is shared: do not write to it.
func RegisterAt(off uint32) *Register {
	if off%4 != 0 || off/4 >= uint32(len(regAt)) || regAt[off/4] == 0 {
		return nil
	}
	return &registers[regAt[off/4]-1]
}

// RegWord packs the fields of a register into its 32 bits.
func RegWord[T any](l *bits.Layout[T], v T) uint32 {
	var b [4]byte
	l.Encode(&v, b[:])
	return binary.LittleEndian.Uint32(b[:])
}

// RegFields unpacks the 32 bits of a register.
func RegFields[T any](l *bits.Layout[T], w uint32) (v T) {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], w)
	_ = l.Decode(b[:], &v) // four bytes are enough for every register
	return v
}
