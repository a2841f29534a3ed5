package rows

import (
	"encoding/binary"
	"fmt"

	"rnic/roce"
)

// Frame names a frame, whole or its beginning; enough tells whether the headers were
// all there. What is no RoCE packet is named by what it is.
func Frame(b []byte) (text string, enough bool) {
	n, other, enough := parse(b)
	if other != "" || !enough {
		return other, enough
	}
	return n.String(), true
}

// parse reads the headers at the beginning of a frame, as far as they name it. Nothing
// is checked: that is for the NIC to do.
func parse(b []byte) (n named, other string, enough bool) {
	if len(b) < roce.EthernetSize {
		return n, "", false
	}
	at := roce.EthernetSize
	kind := roce.EtherType(binary.BigEndian.Uint16(b[12:]))
	proto, udp := 0, 0
	switch kind {
	case roce.EtherTypeIPv4:
		proto, udp = at+9, at+roce.IPv4Size
		if len(b) > at && b[at]&15 > 5 {
			udp = at + int(b[at]&15)*4
		}
	case roce.EtherTypeIPv6:
		proto, udp = at+6, at+roce.IPv6Size
	default:
		return n, fmt.Sprintf("frame of type %v", kind), true
	}
	if len(b) < udp+roce.UDPSize {
		return n, "", false
	}
	if port := binary.BigEndian.Uint16(b[udp+2:]); b[proto] != 17 || port != roce.Port {
		return n, fmt.Sprintf("%v of protocol %d", kind, b[proto]), true
	}
	size := int(binary.BigEndian.Uint16(b[udp+4:])) - roce.UDPSize
	b = b[udp+roce.UDPSize:]
	var bth roce.BTH
	if len(b) < roce.BTHSize {
		return n, "", false
	}
	_ = roce.BTHLayout.Decode(b, &bth) // long enough
	op := bth.Opcode
	n = named{op: op, qpn: uint32(bth.DestQP), psn: bth.PSN, ackReq: bth.AckReq}
	n.bytes = max(0, size-op.HeaderSize()-int(bth.PadCnt)-roce.ICRCSize)
	ext := b[roce.BTHSize:]
	if len(b) < op.HeaderSize() {
		return n, "", false
	}
	if op.HasDETH() {
		ext = ext[roce.DETHSize:]
	}
	switch {
	case op.HasAETH():
		var a roce.AETH
		_ = roce.AETHLayout.Decode(ext, &a)
		n.syndrome, n.msn = a.Syndrome, a.MSN
	case op.HasRETH():
		var r roce.RETH
		_ = roce.RETHLayout.Decode(ext, &r)
		n.asked = r.Length
	}
	return n, "", true
}
