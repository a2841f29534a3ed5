package roce

import (
	"encoding/binary"
	"net/netip"

	"rnic/bits"
)

// Sizes, bytes, and numbers of the IP and UDP headers.
const (
	IPv4Size = 20 // no options
	IPv6Size = 40
	UDPSize  = 8

	ProtocolUDP   = 17
	Port          = 4791 // UDP destination port of RoCEv2 (annex A17)
	DefaultTTL    = 64
	ECNNotCapable = 0 // RFC 3168
	ECNCapable    = 2 // ECT(0)
	ECNCongestion = 3 // CE: set by a switch
)

// IPv4Addr is an IPv4 address in the order of the wire.
type IPv4Addr [4]byte

// String returns "10.0.0.1".
func (a IPv4Addr) String() string { return netip.AddrFrom4(a).String() }

// IPv4 is the IPv4 header without options (RFC 791).
type IPv4 struct {
	Version  uint8    `bits:"4" doc:"4"`
	IHL      uint8    `bits:"4" doc:"header length in words of 4 bytes, 5"`
	DSCP     uint8    `bits:"6" doc:"traffic class"`
	ECN      uint8    `bits:"2" doc:"congestion (RFC 3168)"`
	TotalLen uint16   `doc:"bytes from this header to the ICRC"`
	ID       uint16   `doc:"identification"`
	_        struct{} `bits:"1"`
	DF       bool     `doc:"don't fragment, sent as 1"`
	MF       bool     `doc:"more fragments"`
	FragOff  uint16   `bits:"13" doc:"fragment offset, 8 bytes"`
	TTL      uint8    `doc:"time to live"`
	Protocol uint8    `doc:"17"`
	Checksum uint16   `doc:"of the header (RFC 1071)"`
	Src      IPv4Addr `doc:"source address"`
	Dst      IPv4Addr `doc:"destination address"`
}

// IPv6 is the IPv6 header (RFC 8200), also the GRH of a UD receive.
type IPv6 struct {
	Version    uint8  `bits:"4" doc:"6"`
	DSCP       uint8  `bits:"6" doc:"traffic class"`
	ECN        uint8  `bits:"2" doc:"congestion (RFC 3168)"`
	FlowLabel  uint32 `bits:"20" doc:"flow label"`
	PayloadLen uint16 `doc:"bytes behind this header to the ICRC"`
	NextHeader uint8  `doc:"17"`
	HopLimit   uint8  `doc:"time to live"`
	Src        GID    `doc:"source address"`
	Dst        GID    `doc:"destination address"`
}

// UDP is the UDP header (RFC 768).
type UDP struct {
	SrcPort  uint16 `doc:"entropy, 0xC000..0xFFFF, constant for a QP"`
	DstPort  uint16 `doc:"4791"`
	Length   uint16 `doc:"bytes from this header to the ICRC"`
	Checksum uint16 `doc:"0, or right"`
}

// Layouts of the IP and UDP headers.
var (
	IPv4Layout = bits.MustLayout[IPv4]("ipv4", bits.Big, IPv4Size)
	IPv6Layout = bits.MustLayout[IPv6]("ipv6", bits.Big, IPv6Size)
	UDPLayout  = bits.MustLayout[UDP]("udp", bits.Big, UDPSize)
)

// IPv4Checksum returns the checksum of an IPv4 header of whole 16-bit words,
// its checksum field (bytes 10 and 11) taken as 0.
func IPv4Checksum(h []byte) uint16 {
	sum := onesSum(0, h[:10])
	return ^foldSum(onesSum(sum, h[12:]))
}

// UDPChecksum returns the checksum of a UDP datagram, udp, that follows IP
// header ip (20 bytes IPv4, 40 bytes IPv6), its checksum field taken as 0. It
// is never 0, which means none: RFC 768 sends 0xFFFF then.
func UDPChecksum(ip, udp []byte) uint16 {
	addresses := ip[12:IPv4Size]
	if len(ip) == IPv6Size {
		addresses = ip[8:IPv6Size]
	}
	sum := onesSum(0, addresses) + ProtocolUDP + uint64(len(udp))
	sum = onesSum(sum, udp[:6])
	sum = onesSum(sum, udp[8:])
	if c := ^foldSum(sum); c != 0 {
		return c
	}
	return 0xFFFF
}

// onesSum adds the big-endian 16-bit words of b to sum; an odd last byte counts
// as the high one. 64 bits hold the sum of any frame without a carry out.
func onesSum(sum uint64, b []byte) uint64 {
	for len(b) >= 2 {
		sum += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		sum += uint64(b[0]) << 8
	}
	return sum
}

// foldSum adds the carries back in. The first fold of a large sum may itself
// carry, so it is repeated until nothing is left above bit 15.
func foldSum(sum uint64) uint16 {
	for sum > 0xFFFF {
		sum = sum>>16 + sum&0xFFFF
	}
	return uint16(sum)
}
