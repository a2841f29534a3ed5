package roce

import (
	"encoding/binary"

	"rnic/bits"
)

// Packet is a whole RoCEv2 frame, taken apart. Which of the headers are there
// follows from Tagged, V6 and BTH.Opcode; the others are zero.
//
// Append derives what follows from the rest: types, versions, IP and UDP
// lengths, the IPv4 checksum, a UDP checksum that is not 0, the UDP destination
// port and the ICRC. All else is sent as it stands.
type Packet struct {
	Eth    Ethernet
	Tagged bool // 802.1Q header present
	VLAN   VLAN
	V6     bool // IPv6, else IPv4
	IP4    IPv4
	IP6    IPv6
	UDP    UDP

	BTH          BTH
	DETH         DETH
	RETH         RETH
	AtomicETH    AtomicETH
	AETH         AETH
	AtomicAckETH AtomicAckETH
	Imm          ImmDt
	IETH         IETH

	Payload []byte  // without pad
	Pad     [3]byte // the first BTH.PadCnt bytes; sent as 0, ignored on receive
	ICRC    uint32  // as received
	Trailer []byte  // Ethernet padding behind the IP packet
}

// SetPayload sets the payload and the PadCnt that goes with its length.
func (p *Packet) SetPayload(b []byte) {
	p.Payload = b
	p.BTH.PadCnt = PadCnt(len(b))
}

// PadCnt is the number of bytes that pad a payload to a multiple of 4.
func PadCnt(payload int) uint8 { return uint8(-payload & 3) }

// L3 is the offset of the IP header in the frame, 14 or 18 bytes.
func (p *Packet) L3() int {
	if p.Tagged {
		return EthernetSize + VLANSize
	}
	return EthernetSize
}

// ipSize is the length of the IP header.
func (p *Packet) ipSize() int {
	if p.V6 {
		return IPv6Size
	}
	return IPv4Size
}

// udpLen is the length of UDP header, transport headers, payload, pad and ICRC.
func (p *Packet) udpLen() int {
	return UDPSize + p.BTH.Opcode.HeaderSize() + len(p.Payload) + int(p.BTH.PadCnt&3) + ICRCSize
}

// Size is the length of the frame in bytes, without FCS, with Trailer.
func (p *Packet) Size() int { return p.L3() + p.ipSize() + p.udpLen() + len(p.Trailer) }

// Append appends the frame, without FCS, to b.
func (p *Packet) Append(b []byte) []byte {
	start := len(b)
	b = append(b, make([]byte, p.Size())...)
	f := b[start:]
	p.putEthernet(f)
	ip := f[p.L3() : len(f)-len(p.Trailer)]
	copy(f[len(f)-len(p.Trailer):], p.Trailer)
	p.putIP(ip)

	udp := ip[p.ipSize():]
	u := p.UDP
	u.DstPort, u.Length = Port, uint16(len(udp))
	UDPLayout.Encode(&u, udp)
	rest := p.putTransport(udp[UDPSize:])
	n := copy(rest, p.Payload)
	copy(rest[n:len(rest)-ICRCSize], p.Pad[:])

	end := len(ip) - ICRCSize
	binary.LittleEndian.PutUint32(ip[end:], ICRC(ip[:end]))
	if u.Checksum != 0 {
		binary.BigEndian.PutUint16(udp[6:], UDPChecksum(ip[:p.ipSize()], udp))
	}
	return b
}

func (p *Packet) putEthernet(f []byte) {
	eth, inner := p.Eth, EtherTypeIPv4
	if p.V6 {
		inner = EtherTypeIPv6
	}
	eth.Type = inner
	if p.Tagged {
		eth.Type = EtherTypeVLAN
		vlan := p.VLAN
		vlan.Type = inner
		VLANLayout.Encode(&vlan, f[EthernetSize:])
	}
	EthernetLayout.Encode(&eth, f)
}

func (p *Packet) putIP(ip []byte) {
	if p.V6 {
		h := p.IP6
		h.Version, h.NextHeader, h.PayloadLen = 6, ProtocolUDP, uint16(len(ip)-IPv6Size)
		IPv6Layout.Encode(&h, ip)
		return
	}
	h := p.IP4
	h.Version, h.IHL, h.Protocol, h.TotalLen = 4, IPv4Size/4, ProtocolUDP, uint16(len(ip))
	IPv4Layout.Encode(&h, ip)
	binary.BigEndian.PutUint16(ip[10:], IPv4Checksum(ip[:IPv4Size]))
}

// putTransport writes BTH and extended headers and returns what is left of b.
func (p *Packet) putTransport(b []byte) []byte {
	op := p.BTH.Opcode
	b = put(BTHLayout, &p.BTH, b)
	if op.HasDETH() {
		b = put(DETHLayout, &p.DETH, b)
	}
	if op.HasRETH() {
		b = put(RETHLayout, &p.RETH, b)
	}
	if op.HasAtomicETH() {
		b = put(AtomicETHLayout, &p.AtomicETH, b)
	}
	if op.HasAETH() {
		b = put(AETHLayout, &p.AETH, b)
	}
	if op.HasAtomicAckETH() {
		b = put(AtomicAckETHLayout, &p.AtomicAckETH, b)
	}
	if op.HasImm() {
		b = put(ImmDtLayout, &p.Imm, b)
	}
	if op.HasIETH() {
		b = put(IETHLayout, &p.IETH, b)
	}
	return b
}

// put encodes a header at the front of b and returns the rest.
func put[T any](l *bits.Layout[T], v *T, b []byte) []byte {
	l.Encode(v, b)
	return b[l.Size:]
}
