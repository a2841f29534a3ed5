package accept

import (
	"encoding/binary"

	"rnic/roce"
	"rnic/tb/check"
)

// Path is what the headers around the BTH must say. The zero value asks for nothing.
type Path struct {
	Known        bool
	DMAC         roce.MAC
	SGID, DGID   roce.GID
	TrafficClass uint8
	FlowLabel    uint32
	HopLimit     uint8
	SourcePort   uint16
}

// Frame takes a frame, without FCS, that arrived at the port or left it.
func (a *Acceptor) Frame(now uint64, tx, badFCS bool, data []byte) {
	a.watch(now)
	p, err := roce.ParseFrame(data)
	if tx {
		a.left(now, &p, err, badFCS, data)
		return
	}
	c := &a.counts
	d, _ := err.(roce.Drop)
	switch {
	case badFCS, len(data) < roce.MinFrame && !a.p.NoPad:
		c.BadFCS++
		return
	case d.Foreign():
		c.NotRoCE++
		return
	case d >= roce.DropShort && d <= roce.DropFragment: // whose it is cannot be seen
		c.Malformed++
		return
	}
	c.RxPackets++
	c.RxBytes += uint64(len(data))
	switch {
	case d == roce.DropICRC:
		c.BadICRC++
	case err != nil:
		c.Malformed++
	default:
		a.arrived(now, &p)
	}
}

// arrived takes a packet that is whole to its QP.
func (a *Acceptor) arrived(now uint64, p *roce.Packet) {
	q := a.qps[uint32(p.BTH.DestQP)]
	switch {
	case a.silently(q, p):
	case p.BTH.Opcode.IsResponse():
		if p.BTH.Opcode == roce.RCAck {
			q.requests.n.heard(uint8(p.AETH.Syndrome))
		}
		q.answered(now, p)
	default:
		q.asked(now, p)
	}
}

func sourceOf(p *roce.Packet) roce.GID {
	if p.V6 {
		return p.IP6.Src
	}
	return roce.GIDFromIPv4(p.IP4.Src)
}

func destinationOf(p *roce.Packet) roce.GID {
	if p.V6 {
		return p.IP6.Dst
	}
	return roce.GIDFromIPv4(p.IP4.Dst)
}

// left judges a frame that the NIC has sent. Packets name their destination only: a
// QP is found by its peer.
func (a *Acceptor) left(now uint64, p *roce.Packet, err error, badFCS bool, data []byte) {
	if err != nil || badFCS {
		a.fail(now, "frame of %d bytes sent: %v, bad FCS %t (roce.md, Packet)", len(data), err, badFCS)
		return
	}
	c := &a.counts
	c.TxPackets++
	c.TxBytes += uint64(len(data))
	op := p.BTH.Opcode
	if op == roce.RCAck {
		switch uint8(p.AETH.Syndrome) >> 5 {
		case 0:
			c.TxAcks++
		case 1:
			c.TxRNRNaks++
		default:
			c.TxNaks++
		}
	}
	c.Payload += uint64(len(p.Payload))
	q := a.sender(p)
	if q == nil && a.leaves(now, uint32(p.BTH.DestQP)) {
		return
	}
	if q == nil {
		a.fail(now, "%v PSN %06x sent to QP %#x, which no QP is connected to (roce.md, BTH)", op, uint32(p.BTH.PSN), uint32(p.BTH.DestQP))
		return
	}
	if q.broken {
		return
	}
	q.format(now, p, data)
	switch {
	case op.IsResponse():
		q.respond(now, p)
	case op.Transport() == roce.RC && op.Valid():
		q.request(now, p)
	default:
		q.fail(now, seq(p.BTH.PSN), "roce.md, Opcodes", "%v sent by an RC QP", op)
	}
}

// leaving is how long, in cycles, a frame may be in the MAC behind others: it is complete
// there, and no business of its QP any more.
const leaving = 2000

// leaves tells whether a frame to a peer may be of a QP that has just gone.
func (a *Acceptor) leaves(now uint64, peer uint32) bool {
	q := a.peers[peer]
	return q != nil && q.gone != 0 && now <= q.gone+leaving
}

// sender is the QP whose peer a packet goes to. Of an old and a new one with the same
// peer the one that is connected is meant.
func (a *Acceptor) sender(p *roce.Packet) *qp {
	if q := a.peers[uint32(p.BTH.DestQP)]; q != nil && a.qps[q.qpn] == q {
		return q
	}
	return nil
}

// format judges what concerns a packet alone. The ICRC is computed again from the
// frame's own bytes.
func (q *qp) format(now uint64, p *roce.Packet, data []byte) {
	const clause = "roce.md, Packet"
	b := &p.BTH
	s := seq(b.PSN)
	opt := &q.a.p
	end := 14 + int(binary.BigEndian.Uint16(data[16:]))
	if p.V6 {
		end = 14 + 40 + int(binary.BigEndian.Uint16(data[18:]))
	}
	switch {
	case int(b.PadCnt) != -len(p.Payload)&3 || p.Pad != [3]byte{}:
		q.fail(now, s, clause, "PadCnt %d with %d bytes of payload, pad %v", b.PadCnt, len(p.Payload), p.Pad)
	case len(data) < 60 && !opt.NoPad:
		q.fail(now, s, clause, "frame of %d bytes is not padded", len(data))
	case p.Tagged || b.FECN || b.BECN || b.PKey != roce.DefaultPKey || !b.MigReq && !opt.Soft:
		q.fail(now, s, clause, "tag %t or fields of the BTH %+v", p.Tagged, *b)
	case check.ICRC(data[14:end-4]) != binary.LittleEndian.Uint32(data[end-4:]):
		q.fail(now, s, "roce.md, ICRC", "ICRC %08x, computed %08x", binary.LittleEndian.Uint32(data[end-4:]), check.ICRC(data[14:end-4]))
	case q.Path.Known:
		q.path(now, s, p)
	}
}

// path holds the headers around the BTH against the address vector.
func (q *qp) path(now uint64, s seq, p *roce.Packet) {
	w := &q.Path
	class, flow, hop := p.IP4.DSCP<<2|p.IP4.ECN, w.FlowLabel, p.IP4.TTL
	if p.V6 {
		class, flow, hop = p.IP6.DSCP<<2|p.IP6.ECN, p.IP6.FlowLabel, p.IP6.HopLimit
	}
	if p.Eth.Dst != w.DMAC || sourceOf(p) != w.SGID || destinationOf(p) != w.DGID || class != w.TrafficClass ||
		flow != w.FlowLabel || hop != w.HopLimit || p.UDP.SrcPort != w.SourcePort || !p.V6 && !p.IP4.DF {
		q.fail(now, s, "roce.md, Packet", "headers %+v %+v %+v %+v, address vector %+v", p.Eth, p.IP4, p.IP6, p.UDP, *w)
	}
}
