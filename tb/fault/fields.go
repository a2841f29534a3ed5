package fault

import (
	"strings"

	"rnic/roce"
)

// layout is where the headers of a packet begin.
type layout struct {
	l3, udp, bth, ext, payload, icrc int
}

func layoutOf(p *roce.Packet, frame []byte) layout {
	l := layout{l3: p.L3(), udp: p.L3() + roce.IPv4Size}
	if p.V6 {
		l.udp = l.l3 + roce.IPv6Size
	}
	l.bth = l.udp + roce.UDPSize
	l.ext = l.bth + roce.BTHSize
	l.payload = l.bth + p.BTH.Opcode.HeaderSize()
	l.icrc = len(frame) - len(p.Trailer) - roce.ICRCSize
	return l
}

// field is a part of a packet that has a name.
type field struct {
	name, doc string
	width     int                                 // bytes
	bit       uint64                              // that a Change turns over by default
	at        func(p *roce.Packet, l *layout) int // offset in the frame; negative: the packet has none
}

var fields = []field{
	{"dst-mac", "destination MAC address", 6, 1, func(*roce.Packet, *layout) int { return 0 }},
	{"src-mac", "source MAC address", 6, 1, func(*roce.Packet, *layout) int { return 6 }},
	{"ethertype", "EtherType of the IP packet", 2, 1, func(_ *roce.Packet, l *layout) int { return l.l3 - 2 }},
	{"ip-length", "IPv4 total length or IPv6 payload length", 2, 1, func(p *roce.Packet, l *layout) int { return l.l3 + pick(p.V6, 4, 2) }},
	{"ip-checksum", "IPv4 header checksum", 2, 1, func(p *roce.Packet, l *layout) int { return pick(p.V6, -1, l.l3+10) }},
	{"src-ip", "last 4 bytes of the source address", 4, 1, func(p *roce.Packet, l *layout) int { return l.udp - pick(p.V6, 20, 8) }},
	{"dst-ip", "last 4 bytes of the destination address", 4, 1, func(_ *roce.Packet, l *layout) int { return l.udp - 4 }},
	{"udp-port", "UDP destination port", 2, 1, func(_ *roce.Packet, l *layout) int { return l.udp + 2 }},
	{"udp-length", "UDP length", 2, 1, func(_ *roce.Packet, l *layout) int { return l.udp + 4 }},
	{"opcode", "operation code", 1, 1, func(_ *roce.Packet, l *layout) int { return l.bth }},
	{"tver", "transport header version: the low 4 bits of a byte", 1, 1, func(_ *roce.Packet, l *layout) int { return l.bth + 1 }},
	{"pkey", "partition key", 2, 1, func(_ *roce.Packet, l *layout) int { return l.bth + 2 }},
	{"qp", "destination QP", 3, 1, func(_ *roce.Packet, l *layout) int { return l.bth + 5 }},
	{"ackreq", "acknowledge request: the high bit of a byte", 1, 0x80, func(_ *roce.Packet, l *layout) int { return l.bth + 8 }},
	{"psn", "packet sequence number", 3, 1, func(_ *roce.Packet, l *layout) int { return l.bth + 9 }},
	{"va", "remote address of a WRITE, READ or atomic", 8, 1, func(p *roce.Packet, l *layout) int { return pick(remote(p), l.ext, -1) }},
	{"rkey", "remote key of it", 4, 1, func(p *roce.Packet, l *layout) int { return pick(remote(p), l.ext+8, -1) }},
	{"length", "length of a WRITE or READ", 4, 1, func(p *roce.Packet, l *layout) int { return pick(p.BTH.Opcode.HasRETH(), l.ext+12, -1) }},
	{"qkey", "Q_Key of a datagram", 4, 1, func(p *roce.Packet, l *layout) int { return pick(p.BTH.Opcode.HasDETH(), l.ext, -1) }},
	{"src-qp", "QP that a datagram is of", 3, 1, func(p *roce.Packet, l *layout) int { return pick(p.BTH.Opcode.HasDETH(), l.ext+5, -1) }},
	{"syndrome", "syndrome of an answer", 1, 1, func(p *roce.Packet, l *layout) int { return pick(p.BTH.Opcode.HasAETH(), l.ext, -1) }},
	{"msn", "MSN of an answer", 3, 1, func(p *roce.Packet, l *layout) int { return pick(p.BTH.Opcode.HasAETH(), l.ext+1, -1) }},
	{"imm", "immediate data", 4, 1, func(p *roce.Packet, l *layout) int { return pick(p.BTH.Opcode.HasImm(), l.payload-4, -1) }},
	{"payload", "first byte of the payload", 1, 1, func(p *roce.Packet, l *layout) int { return pick(len(p.Payload) > 0, l.payload, -1) }},
	{"icrc", "ICRC", 4, 1, func(_ *roce.Packet, l *layout) int { return l.icrc }},
}

func pick(c bool, yes, no int) int {
	if c {
		return yes
	}
	return no
}

func remote(p *roce.Packet) bool { return p.BTH.Opcode.HasRETH() || p.BTH.Opcode.HasAtomicETH() }

// fieldOf is the field of that name; nil: there is none.
func fieldOf(name string) *field {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

func fieldNames() string {
	var l []string
	for i := range fields {
		l = append(l, fields[i].name)
	}
	return strings.Join(l, ", ")
}
