package roce

import (
	"encoding/binary"

	"rnic/bits"
)

// ParseFrame takes a frame, without FCS, apart and checks all that a receiver
// checks before it looks at the queue pair. The error is a Drop; the Packet then
// has what was read up to the fault (all of it for DropICRC and DropTVer). The
// Packet's slices are parts of the frame.
//
// An opcode that is reserved or not of a QP's transport is no fault here: the QP
// decides. Its headers are taken to be the BTH alone.
func ParseFrame(frame []byte) (Packet, error) {
	var p Packet
	if d := p.parse(frame); d != DropNone {
		return p, d
	}
	return p, nil
}

func (p *Packet) parse(frame []byte) Drop {
	d := p.parseEthernet(frame)
	if d != DropNone {
		return d
	}
	ip, d := p.parseIP(frame[p.L3():])
	if d != DropNone {
		return d
	}
	p.Trailer = frame[p.L3()+len(ip):]
	udp := ip[p.ipSize():]
	if UDPLayout.Decode(udp, &p.UDP) != nil {
		return DropIPLength
	}
	switch {
	case p.UDP.DstPort != Port:
		return DropNotRoCE
	case int(p.UDP.Length) != len(udp):
		return DropUDPLength
	case p.UDP.Checksum != 0 && p.UDP.Checksum != UDPChecksum(ip[:p.ipSize()], udp):
		return DropUDPChecksum
	}
	rest, d := p.parseTransport(udp[UDPSize:])
	if d != DropNone {
		return d
	}
	pad := int(p.BTH.PadCnt)
	size := len(rest) - pad - ICRCSize
	if size < 0 {
		return DropPayload
	}
	p.Payload = rest[:size:size]
	copy(p.Pad[:], rest[size:size+pad])
	p.ICRC = binary.LittleEndian.Uint32(rest[size+pad:])
	switch {
	case p.ICRC != ICRC(ip[:len(ip)-ICRCSize]):
		return DropICRC
	case p.BTH.TVer != 0:
		return DropTVer
	}
	return DropNone
}

func (p *Packet) parseEthernet(frame []byte) Drop {
	if EthernetLayout.Decode(frame, &p.Eth) != nil {
		return DropShort
	}
	t := p.Eth.Type
	if t == EtherTypeVLAN {
		if VLANLayout.Decode(frame[EthernetSize:], &p.VLAN) != nil {
			return DropShort
		}
		p.Tagged = true
		t = p.VLAN.Type
	}
	switch t {
	case EtherTypeIPv4:
		return DropNone
	case EtherTypeIPv6:
		p.V6 = true
		return DropNone
	}
	return DropNotIP
}

// parseIP returns the IP packet cut to its own length.
func (p *Packet) parseIP(b []byte) ([]byte, Drop) {
	if p.V6 {
		return p.parseIPv6(b)
	}
	h := &p.IP4
	if IPv4Layout.Decode(b, h) != nil {
		return nil, DropShort
	}
	switch {
	case h.Version != 4:
		return nil, DropIPVersion
	case h.IHL != IPv4Size/4:
		return nil, DropIPOptions
	case h.Checksum != IPv4Checksum(b[:IPv4Size]):
		return nil, DropIPChecksum
	case h.Protocol != ProtocolUDP:
		return nil, DropNotUDP
	case h.MF || h.FragOff != 0:
		return nil, DropFragment
	case int(h.TotalLen) < IPv4Size || int(h.TotalLen) > len(b):
		return nil, DropIPLength
	}
	return b[:h.TotalLen], DropNone
}

func (p *Packet) parseIPv6(b []byte) ([]byte, Drop) {
	h := &p.IP6
	if IPv6Layout.Decode(b, h) != nil {
		return nil, DropShort
	}
	n := IPv6Size + int(h.PayloadLen)
	switch {
	case h.Version != 6:
		return nil, DropIPVersion
	case h.NextHeader != ProtocolUDP:
		return nil, DropNotUDP
	case n > len(b):
		return nil, DropIPLength
	}
	return b[:n], DropNone
}

// parseTransport reads BTH and extended headers and returns what follows.
func (p *Packet) parseTransport(b []byte) ([]byte, Drop) {
	if BTHLayout.Decode(b, &p.BTH) != nil || len(b) < p.BTH.Opcode.HeaderSize() {
		return nil, DropPayload
	}
	op := p.BTH.Opcode
	b = b[BTHSize:]
	if op.HasDETH() {
		b = take(DETHLayout, b, &p.DETH)
	}
	if op.HasRETH() {
		b = take(RETHLayout, b, &p.RETH)
	}
	if op.HasAtomicETH() {
		b = take(AtomicETHLayout, b, &p.AtomicETH)
	}
	if op.HasAETH() {
		b = take(AETHLayout, b, &p.AETH)
	}
	if op.HasAtomicAckETH() {
		b = take(AtomicAckETHLayout, b, &p.AtomicAckETH)
	}
	if op.HasImm() {
		b = take(ImmDtLayout, b, &p.Imm)
	}
	if op.HasIETH() {
		b = take(IETHLayout, b, &p.IETH)
	}
	return b, DropNone
}

// take decodes a header from the front of b and returns the rest.
func take[T any](l *bits.Layout[T], b []byte, v *T) []byte {
	if l.Decode(b, v) != nil {
		return nil
	}
	return b[l.Size:]
}
