package roce

import "net/netip"

// GID is a global identifier: an IPv6 address, or ::ffff:a.b.c.d for IPv4.
type GID [16]byte

// String returns the address as IPv6 text, "::ffff:10.0.0.1" for IPv4.
func (g GID) String() string { return netip.AddrFrom16(g).String() }

// GIDFromIPv4 maps an IPv4 address to ::ffff:a.b.c.d (annex A17).
func GIDFromIPv4(a IPv4Addr) GID {
	return GID{10: 0xFF, 11: 0xFF, 12: a[0], 13: a[1], 14: a[2], 15: a[3]}
}

// IPv4 returns the IPv4 address of a mapped GID; ok is false for others.
func (g GID) IPv4() (a IPv4Addr, ok bool) {
	if [12]byte(g[:12]) != [12]byte{10: 0xFF, 11: 0xFF} {
		return IPv4Addr{}, false
	}
	return IPv4Addr(g[12:]), true
}

// LinkLocal returns the fe80::/64 address with the modified EUI-64 of a MAC
// (RFC 4291, appendix A).
func LinkLocal(m MAC) GID {
	return GID{0: 0xFE, 1: 0x80, 8: m[0] ^ 2, 9: m[1], 10: m[2], 11: 0xFF, 12: 0xFE, 13: m[3], 14: m[4], 15: m[5]}
}

// HostMAC is the MAC of the k-th modelled host, k from 1: 02:00:00:00:00:k.
func HostMAC(k uint8) MAC { return MAC{0: 2, 5: k} }

// HostIPv4 is the IPv4 address of the k-th modelled host: 10.0.0.k.
func HostIPv4(k uint8) IPv4Addr { return IPv4Addr{10, 0, 0, k} }

// HostIPv6 is the IPv6 address of the k-th modelled host, link-local from its
// MAC: its GID 0. GID 1 is GIDFromIPv4(HostIPv4(k)).
func HostIPv6(k uint8) GID { return LinkLocal(HostMAC(k)) }

// SourcePort is the UDP source port of a QP pair, 0xC000 | hash(local, remote).
// It is the hash of Linux's RDMA core, the same from both sides.
func SourcePort(local, remote QPN) uint16 {
	v := uint64(local) * uint64(remote)
	v ^= v >> 20
	v ^= v >> 40
	return SourcePortOfFlow(uint32(v) & 0xFFFFF)
}

// SourcePortOfFlow is the UDP source port of an address vector with a nonzero
// 20-bit flow label: 0xC000 | (label[13:0] xor label[19:14]).
func SourcePortOfFlow(label uint32) uint16 {
	return 0xC000 | uint16((label^label>>14&0x3F)&0x3FFF)
}
