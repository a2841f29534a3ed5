package pkttx

import (
	"encoding/binary"

	"rnic/bits"
	"rnic/roce"
)

// maxHeaders is the length of the longest headers, bytes.
const maxHeaders = udp6 + roce.UDPSize + roce.BTHSize + roce.AtomicETHSize

// header is all headers of a frame. Its first headers() bytes are valid.
func (j *job) header(mac roce.MAC, id uint16) (h [maxHeaders]byte) {
	length := j.headers() + int(j.Pkt.Len) + j.pad() + roce.ICRCSize
	eth := roce.Ethernet{Dst: j.Hdr.DMAC, Src: mac, Type: roce.EtherTypeIPv4}
	at := udp4
	if j.Hdr.V6 {
		eth.Type, at = roce.EtherTypeIPv6, udp6
		j.ipv6(length-udp6, h[roce.EthernetSize:])
	} else {
		j.ipv4(length-roce.EthernetSize, id, h[roce.EthernetSize:])
	}
	put(roce.EthernetLayout, &eth, h[:])
	udp := roce.UDP{SrcPort: j.Hdr.SPort, DstPort: roce.Port, Length: uint16(length - at)}
	j.transport(put(roce.UDPLayout, &udp, h[at:]))
	return h
}

func (j *job) ipv4(length int, id uint16, b []byte) {
	ip := roce.IPv4{
		Version: 4, IHL: roce.IPv4Size / 4, DSCP: j.Hdr.TOS >> 2, ECN: j.Hdr.TOS & 3, TotalLen: uint16(length),
		ID: id, DF: true, TTL: j.Hdr.TTL, Protocol: roce.ProtocolUDP, Src: [4]byte(j.Hdr.SIP[12:]), Dst: [4]byte(j.Hdr.DIP[12:]),
	}
	put(roce.IPv4Layout, &ip, b)
	binary.BigEndian.PutUint16(b[10:], roce.IPv4Checksum(b[:roce.IPv4Size]))
}

func (j *job) ipv6(length int, b []byte) {
	ip := roce.IPv6{
		Version: 6, DSCP: j.Hdr.TOS >> 2, ECN: j.Hdr.TOS & 3, FlowLabel: j.Hdr.Flow & 0xFFFFF, PayloadLen: uint16(length),
		NextHeader: roce.ProtocolUDP, HopLimit: j.Hdr.TTL, Src: j.Hdr.SIP, Dst: j.Hdr.DIP,
	}
	put(roce.IPv6Layout, &ip, b)
}

// transport writes the BTH and the extended headers that the opcode has.
func (j *job) transport(b []byte) {
	p, op, dest, qkey := &j.Pkt, j.Pkt.Opcode, j.Hdr.DestQPN, j.Pkt.QKey
	if p.UD {
		dest = p.DestQPN
	}
	if qkey>>31 != 0 {
		qkey = j.Hdr.QKey
	}
	bth := roce.BTH{
		Opcode: op, SE: p.Solicited, MigReq: true, PadCnt: roce.PadCnt(int(p.Len)), PKey: roce.PKey(j.Hdr.PKey),
		DestQP: roce.QPN(dest), AckReq: p.AckReq, PSN: p.PSN,
	}
	b = put(roce.BTHLayout, &bth, b)
	if op.HasDETH() {
		b = put(roce.DETHLayout, &roce.DETH{QKey: qkey, SrcQP: roce.QPN(p.QPN)}, b)
	}
	if op.HasRETH() {
		b = put(roce.RETHLayout, &roce.RETH{VA: uint64(p.Reth.VA), RKey: uint32(p.Reth.RKey), Length: p.Reth.Len}, b)
	}
	if op.HasAtomicETH() {
		b = put(roce.AtomicETHLayout, &roce.AtomicETH{
			VA: uint64(p.Reth.VA), RKey: uint32(p.Reth.RKey), SwapAdd: p.Reth.Swap, Compare: p.Reth.Compare,
		}, b)
	}
	if op.HasAETH() {
		b = put(roce.AETHLayout, &roce.AETH{Syndrome: roce.Syndrome(p.Syndrome), MSN: roce.MSN(p.MSN)}, b)
	}
	if op.HasAtomicAckETH() {
		b = put(roce.AtomicAckETHLayout, &roce.AtomicAckETH{Orig: p.Reth.Swap}, b)
	}
	if op.HasImm() {
		b = put(roce.ImmDtLayout, &roce.ImmDt{Imm: p.Imm}, b)
	}
	if op.HasIETH() {
		put(roce.IETHLayout, &roce.IETH{RKey: p.Imm}, b)
	}
}

// put encodes a header and returns the room behind it.
func put[T any](l *bits.Layout[T], v *T, b []byte) []byte {
	l.Encode(v, b)
	return b[l.Size:]
}
