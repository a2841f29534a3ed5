package ether

import (
	"bytes"
	"encoding/binary"

	"rnic/roce"
)

// neighbour is what a host's software answers about its addresses, and nothing
// else: ARP (RFC 826), neighbour solicitations (RFC 4861) and echo requests
// (RFC 792, 4443).
type neighbour struct {
	mac  roce.MAC
	ipv4 roce.IPv4Addr
	ipv6 roce.GID
}

const (
	etherTypeARP = 0x0806
	protoICMP    = 1
	protoICMPv6  = 58
)

// answer returns the answer to a frame, padded, or nil.
func (n *neighbour) answer(f []byte) []byte {
	if len(f) < roce.EthernetSize || (roce.MAC(f[:6]) != n.mac && f[0]&1 == 0) {
		return nil
	}
	ip := f[roce.EthernetSize:]
	var r []byte
	switch roce.EtherType(binary.BigEndian.Uint16(f[12:])) {
	case etherTypeARP:
		r = n.arp(ip)
	case roce.EtherTypeIPv4:
		r = n.echo4(ip)
	case roce.EtherTypeIPv6:
		r = n.icmp6(ip)
	}
	if r == nil {
		return nil
	}
	out := append([]byte(nil), f[6:12]...)
	out = append(append(append(out, n.mac[:]...), f[12:14]...), r...)
	for len(out) < roce.MinFrame {
		out = append(out, 0)
	}
	return out
}

// arp answers a request for the IPv4 address.
func (n *neighbour) arp(b []byte) []byte {
	const size = 28
	request := []byte{0, 1, 8, 0, 6, 4, 0, 1} // Ethernet, IPv4, lengths, request
	if len(b) < size || !bytes.Equal(b[:8], request) || roce.IPv4Addr(b[24:28]) != n.ipv4 {
		return nil
	}
	r := append([]byte(nil), request...)
	r[7] = 2
	r = append(append(r, n.mac[:]...), n.ipv4[:]...)
	return append(r, b[8:18]...)
}

// echo4 answers an echo request to the IPv4 address.
func (n *neighbour) echo4(b []byte) []byte {
	const head = roce.IPv4Size
	if len(b) < head+8 || b[0] != 0x45 || b[9] != protoICMP || roce.IPv4Addr(b[16:20]) != n.ipv4 || b[head] != 8 {
		return nil
	}
	size := int(binary.BigEndian.Uint16(b[2:]))
	if size < head+8 || size > len(b) || binary.BigEndian.Uint16(b[6:])&0x3fff != 0 {
		return nil
	}
	r := append([]byte(nil), b[:size]...)
	copy(r[12:], b[16:20])
	copy(r[16:], b[12:16])
	r[8] = 64
	binary.BigEndian.PutUint16(r[10:], 0)
	binary.BigEndian.PutUint16(r[10:], checksum(r[:head], 0))
	r[head] = 0
	binary.BigEndian.PutUint16(r[head+2:], 0)
	binary.BigEndian.PutUint16(r[head+2:], checksum(r[head:], 0))
	return r
}

// icmp6 answers a neighbour solicitation for the IPv6 address, or an echo request
// to it.
func (n *neighbour) icmp6(b []byte) []byte {
	const head = roce.IPv6Size
	if len(b) < head+8 || b[6] != protoICMPv6 {
		return nil
	}
	size := int(binary.BigEndian.Uint16(b[4:]))
	if size < 8 || head+size > len(b) {
		return nil
	}
	m := b[head : head+size]
	var body []byte
	switch {
	case m[0] == 135 && size >= 24 && roce.GID(m[8:24]) == n.ipv6 && b[7] == 255:
		body = append([]byte{136, 0, 0, 0, 0x60, 0, 0, 0}, n.ipv6[:]...) // solicited, override
		body = append(append(body, 2, 1), n.mac[:]...)                   // target link-layer address
	case m[0] == 128 && roce.GID(b[24:40]) == n.ipv6:
		body = append([]byte{129, 0, 0, 0}, m[4:]...)
	default:
		return nil
	}
	r := append([]byte(nil), b[:head]...)
	binary.BigEndian.PutUint16(r[4:], uint16(len(body)))
	r[7] = 255
	copy(r[8:], n.ipv6[:])
	copy(r[24:], b[8:24])
	pseudo := checksum(r[8:40], uint32(len(body))+protoICMPv6)
	binary.BigEndian.PutUint16(body[2:], checksum(body, uint32(^pseudo)))
	return append(r, body...)
}

// checksum is the ones' complement of the ones' complement sum (RFC 1071) of b and
// a sum so far.
func checksum(b []byte, sum uint32) uint16 {
	for ; len(b) > 1; b = b[2:] {
		sum += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) > 0 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
