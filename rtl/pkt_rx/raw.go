package pktrx

import (
	"encoding/binary"

	"rnic/roce"
	"rnic/rtl/port"
)

const (
	maxRaw = 4096 // bytes of the longest frame that a raw QP gets
	group  = 1    // of the first byte of a MAC address: multicast or broadcast
)

// isRoCE tells whether the headers in beat 0 name UDP port 4791, be the rest of them
// right or not. Behind IPv4 options the port is looked for at both places. The parts of
// a fragmented datagram behind the first one have no UDP header.
func isRoCE(b *port.EthBeat) bool {
	p, protocol, udp := &b.Data, uint8(0), 0
	switch roce.EtherType(binary.BigEndian.Uint16(p[12:])) {
	case roce.EtherTypeIPv4:
		if binary.BigEndian.Uint16(p[l3Offset+6:])&0x1FFF != 0 {
			return false
		}
		protocol, udp = p[l3Offset+9], udp4
		if options := l3Offset + int(p[l3Offset]&15)*4; options > udp4 && protocol == roce.ProtocolUDP && isPort(b, options) {
			return true
		}
	case roce.EtherTypeIPv6:
		protocol, udp = p[l3Offset+6], udp6
	}
	return protocol == roce.ProtocolUDP && isPort(b, udp)
}

// isPort tells whether the UDP header at an offset names port 4791.
func isPort(b *port.EthBeat, udp int) bool {
	return udp+4 <= int(b.Len) && binary.BigEndian.Uint16(b.Data[udp+2:]) == roce.Port
}

// putRaw describes a frame that goes to a raw QP as it is.
func (r *RX) putRaw() {
	f := &r.Q.Frame
	*r.Pkt.Next() = port.RxPkt{
		Raw: true, QPN: f.Raw, VLAN: f.VLAN, TCI: f.TCI, Len: f.Bytes, BufAddr: r.addr(0), FrameBeats: f.Stored,
	}
}
