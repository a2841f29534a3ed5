package pkttx

import (
	"rnic/roce"
	"rnic/rtl/port"
)

// job is a packet with what its headers need. Epoch is that of its answer: it
// changes when qpc has taken a fault, and when a packet was dropped at the head.
// Stales is the number of Stales, modulo 2^32, from before its question. Before is the
// number of responses that were put into the fast lane before it, modulo 2^16.
type job struct {
	Pkt    port.TxPkt
	Hdr    port.TxHdr
	Epoch  uint8
	Stales uint32
	Before uint16
}

const (
	udp4 = roce.EthernetSize + roce.IPv4Size
	udp6 = roce.EthernetSize + roce.IPv6Size
)

// headers is the length of all headers, bytes: where the payload begins.
func (j *job) headers() int {
	switch {
	case j.Pkt.Raw:
		return 0
	case j.Hdr.V6:
		return udp6 + roce.UDPSize + j.Pkt.Opcode.HeaderSize()
	}
	return udp4 + roce.UDPSize + j.Pkt.Opcode.HeaderSize()
}

// lane is the lane of the first byte of payload.
func (j *job) lane() uint8 { return uint8(j.headers() % beatBytes) }

// beats is the number of beats of the frame that have payload.
func (j *job) beats() uint8 {
	if j.Pkt.Len == 0 {
		return 0
	}
	return uint8((int(j.lane()) + int(j.Pkt.Len) + beatBytes - 1) / beatBytes)
}

// pad is the number of bytes between payload and ICRC.
func (j *job) pad() int {
	if j.Pkt.Raw {
		return 0
	}
	return int(roce.PadCnt(int(j.Pkt.Len)))
}

// origin is what tells whether the packet is stale.
func (j *job) origin() origin {
	return origin{Request: !j.Pkt.Resp && !j.Pkt.Purge, QPN: j.Pkt.QPN, Gen: j.Pkt.Gen, Stales: j.Stales}
}
