package roce

import (
	"fmt"

	"rnic/bits"
)

// Sizes and types of Ethernet, bytes (IEEE 802.3, 802.1Q).
const (
	EthernetSize = 14
	VLANSize     = 4
	MinFrame     = 60 // without FCS; a sender pads shorter frames, behind the ICRC

	EtherTypeIPv4 EtherType = 0x0800
	EtherTypeVLAN EtherType = 0x8100
	EtherTypeIPv6 EtherType = 0x86DD
)

// EtherType tells what follows the Ethernet header.
type EtherType uint16

// String names the types that a RoCE frame can have.
func (t EtherType) String() string {
	switch t {
	case EtherTypeIPv4:
		return "IPv4"
	case EtherTypeVLAN:
		return "VLAN"
	case EtherTypeIPv6:
		return "IPv6"
	}
	return fmt.Sprintf("%#04x", uint16(t))
}

// MAC is an Ethernet address, in the order of the wire.
type MAC [6]byte

// String returns "02:00:00:00:00:01".
func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// Ethernet is the Ethernet II header.
type Ethernet struct {
	Dst  MAC       `doc:"destination address"`
	Src  MAC       `doc:"source address"`
	Type EtherType `doc:"what follows"`
}

// VLAN is what follows an Ethernet header of type EtherTypeVLAN (802.1Q).
type VLAN struct {
	PCP  uint8     `bits:"3" doc:"priority"`
	DEI  bool      `doc:"drop eligible"`
	VID  uint16    `bits:"12" doc:"VLAN number"`
	Type EtherType `doc:"what follows"`
}

// Layouts of the Ethernet headers.
var (
	EthernetLayout = bits.MustLayout[Ethernet]("ethernet", bits.Big, EthernetSize)
	VLANLayout     = bits.MustLayout[VLAN]("vlan", bits.Big, VLANSize)
)
