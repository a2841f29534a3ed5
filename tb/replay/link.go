package replay

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/gopacket/gopacket/layers"

	"rnic/roce"
)

// skip is why a frame is left out.
type skip int

const (
	taken skip = iota
	untagged
	foreign
	truncated
	otherLink
	badICRC
	malformed
	multicast
	congestion
	otherOpcode
	skips
)

var skipTexts = [skips]string{
	untagged:    "had VLAN tags, which are taken off",
	foreign:     "are not RoCEv2",
	otherLink:   "are of another link than Ethernet or Linux cooked",
	badICRC:     "have a wrong ICRC: a receiver drops them, and so they are left out",
	malformed:   "are RoCEv2 but malformed: a receiver drops them, and so they are left out",
	multicast:   "are to multicast groups, which are of no QP: left out",
	congestion:  "are CNPs, which no answer depends on",
	otherOpcode: "have an opcode that is reserved or of XRC: left out",
}

// Link types of Linux's "any" device.
const (
	linkCooked  = layers.LinkTypeLinuxSLL
	linkCooked2 = layers.LinkType(276)
	cookedSize  = 16
	cooked2Size = 20
)

// packet takes a frame of a capture for a packet of a QP, or tells why it is none. Bytes
// behind the IP packet, FCS or padding, do not matter.
func packet(link layers.LinkType, b []byte, cut bool) (p roce.Packet, why skip) {
	b, ok := ethernet(link, b)
	if !ok {
		return p, otherLink
	}
	b, tags := untag(b)
	p, err := roce.ParseFrame(b)
	p.Trailer = nil
	var d roce.Drop
	switch errors.As(err, &d); {
	case d == roce.DropNone:
		return p, kind(&p.BTH, tags)
	case d.Foreign():
		return p, foreign
	case cut && p.UDP.DstPort == roce.Port, cut && d != roce.DropICRC && roceHeaders(b):
		return p, truncated
	case d == roce.DropICRC:
		return p, badICRC
	case p.UDP.DstPort == roce.Port:
		return p, malformed
	}
	return p, foreign
}

func kind(h *roce.BTH, tags bool) skip {
	switch op := h.Opcode; {
	case op == roce.CNP:
		return congestion
	case !op.Valid():
		return otherOpcode
	case h.DestQP == roce.MulticastQPN:
		return multicast
	case tags:
		return untagged
	}
	return taken
}

// ethernet makes an Ethernet frame of what a link type shows. It is the caller's own.
func ethernet(link layers.LinkType, b []byte) ([]byte, bool) {
	size, at := 0, 0 // of the cooked header, and where its EtherType is
	switch link {
	case layers.LinkTypeEthernet:
		return bytes.Clone(b), true
	case linkCooked:
		size, at = cookedSize, 14
	case linkCooked2:
		size, at = cooked2Size, 0
	default:
		return nil, false
	}
	if len(b) < size {
		return nil, true
	}
	f := make([]byte, 12, 14+len(b))
	return append(append(f, b[at], b[at+1]), b[size:]...), true
}

// untag takes VLAN tags off.
func untag(b []byte) (frame []byte, tags bool) {
	for len(b) >= 18 {
		t := roce.EtherType(binary.BigEndian.Uint16(b[12:]))
		if t != roce.EtherTypeVLAN && t != 0x88a8 {
			break
		}
		b, tags = append(b[:12], b[16:]...), true
	}
	return b, tags
}

// roceHeaders tells whether a frame that is cut short is RoCEv2 as far as it goes.
func roceHeaders(b []byte) bool {
	if len(b) < 14 {
		return false
	}
	ip, size, protocol := b[14:], 20, 9
	switch roce.EtherType(binary.BigEndian.Uint16(b[12:])) {
	case roce.EtherTypeIPv4:
	case roce.EtherTypeIPv6:
		size, protocol = 40, 6
	default:
		return false
	}
	return len(ip) >= size+4 && ip[protocol] == byte(roce.ProtocolUDP) && binary.BigEndian.Uint16(ip[size+2:]) == roce.Port
}
