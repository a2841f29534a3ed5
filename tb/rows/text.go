package rows

import (
	"strconv"

	"rnic/roce"
	"rnic/rtl/port"
)

// named is a packet as a row names it.
type named struct {
	op       roce.Opcode
	qpn      uint32
	psn      roce.PSN
	bytes    int // of payload
	asked    uint32
	syndrome roce.Syndrome
	msn      roce.MSN
	ackReq   bool
}

// opcodes and syndromes are all names, once.
var opcodes, syndromes = func() (o, s [256]string) {
	for i := range o {
		o[i], s[i] = roce.Opcode(i).String(), roce.Syndrome(i).String()
	}
	return o, s
}()

// String is, for example, "RC_SEND_FIRST qp=5 psn=0x12 1024B", "RC_READ_REQ qp=5
// psn=0x12 for 4096B" or "RC_ACK qp=5 psn=0x12 ACK_31 msn=3".
func (n *named) String() string {
	b := make([]byte, 0, 64)
	b = append(b, opcodes[n.op]...)
	b = append(b, " qp="...)
	b = strconv.AppendUint(b, uint64(n.qpn), 10)
	b = append(b, " psn=0x"...)
	b = strconv.AppendUint(b, uint64(n.psn), 16)
	if n.op.HasAETH() {
		b = append(b, ' ')
		b = append(b, syndromes[n.syndrome]...)
		b = append(b, " msn="...)
		b = strconv.AppendUint(b, uint64(n.msn), 10)
	}
	if n.op.IsReadRequest() {
		b = append(b, " for "...)
		b = strconv.AppendUint(b, uint64(n.asked), 10)
		b = append(b, 'B')
	}
	if n.bytes > 0 {
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(n.bytes), 10)
		b = append(b, 'B')
	}
	if n.ackReq {
		b = append(b, " ackreq"...)
	}
	return string(b)
}

// described is a packet described to pkt_tx, by the number of the QP that sends it.
func described(p *port.TxPkt) string {
	if p.Purge {
		return "purge qp=" + strconv.Itoa(int(p.QPN))
	}
	n := named{
		op: p.Opcode, qpn: uint32(p.QPN), psn: p.PSN, bytes: int(p.Len), asked: p.Reth.Len,
		syndrome: roce.Syndrome(p.Syndrome), msn: p.MSN, ackReq: p.AckReq,
	}
	return n.String()
}

// received is a good packet.
func received(p *port.RxPkt) string {
	n := named{
		op: p.Opcode, qpn: uint32(p.QPN), psn: p.PSN, bytes: int(p.Len), asked: p.Reth.Len,
		syndrome: roce.Syndrome(p.Syndrome), msn: p.MSN, ackReq: p.AckReq,
	}
	return n.String()
}
