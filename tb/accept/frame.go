package accept

import (
	"encoding/binary"

	"rnic/abi"
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
	Tagged       bool   // with an 802.1Q tag
	VLAN         uint16 // its tag control
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
		a.header = header(data, &p)
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
	if q == nil && a.straggler(now, p) {
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
	case op.Transport() != q.transport() || !op.Valid():
		q.fail(now, seq(p.BTH.PSN), "roce.md, Opcodes", "%v sent by a QP of type %v", op, q.typ)
	case q.unreliable():
		q.leaves(now, p)
	case op.IsResponse():
		q.respond(now, p)
	default:
		q.request(now, p)
	}
}

// leaving is how long, in cycles, a frame may be in the MAC behind others: it is complete
// there, and no business of its QP any more.
const leaving = 2000

// straggler tells whether a frame may be of a QP that has just gone.
func (a *Acceptor) straggler(now uint64, p *roce.Packet) bool {
	if p.BTH.Opcode.HasDETH() {
		at, ok := a.buried[uint32(p.DETH.SrcQP)]
		return ok && now <= at+leaving
	}
	q := a.peers[uint32(p.BTH.DestQP)]
	return q != nil && q.gone != 0 && now <= q.gone+leaving
}

// sender is the QP whose peer a packet goes to. Of an old and a new one with the same
// peer the one that is connected is meant.
func (a *Acceptor) sender(p *roce.Packet) *qp {
	if p.BTH.Opcode.HasDETH() {
		return a.qps[uint32(p.DETH.SrcQP)]
	}
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
	ip := data[p.L3():]
	end := int(binary.BigEndian.Uint16(ip[2:]))
	if p.V6 {
		end = 40 + int(binary.BigEndian.Uint16(ip[4:]))
	}
	switch {
	case int(b.PadCnt) != -len(p.Payload)&3 || p.Pad != [3]byte{}:
		q.fail(now, s, clause, "PadCnt %d with %d bytes of payload, pad %v", b.PadCnt, len(p.Payload), p.Pad)
	case len(data) < 60 && !opt.NoPad:
		q.fail(now, s, clause, "frame of %d bytes is not padded", len(data))
	case b.FECN || b.BECN || b.PKey != roce.DefaultPKey || !b.MigReq && !opt.Soft:
		q.fail(now, s, clause, "fields of the BTH %+v", *b)
	case check.ICRC(ip[:end-4]) != binary.LittleEndian.Uint32(ip[end-4:]):
		q.fail(now, s, "roce.md, ICRC", "ICRC %08x, computed %08x", binary.LittleEndian.Uint32(ip[end-4:]), check.ICRC(ip[:end-4]))
	case q.Path.Known && q.typ != abi.QPTypeUD:
		q.path(now, s, p, &q.Path)
	}
}

// path holds the headers around the BTH against the address vector.
func (q *qp) path(now uint64, s seq, p *roce.Packet, w *Path) {
	class, flow, hop := p.IP4.DSCP<<2|p.IP4.ECN, w.FlowLabel, p.IP4.TTL
	if p.V6 {
		class, flow, hop = p.IP6.DSCP<<2|p.IP6.ECN, p.IP6.FlowLabel, p.IP6.HopLimit
	}
	if p.Eth.Dst != w.DMAC || p.Tagged != w.Tagged || p.Tagged && tci(p) != w.VLAN || sourceOf(p) != w.SGID || destinationOf(p) != w.DGID || class != w.TrafficClass ||
		flow != w.FlowLabel || hop != w.HopLimit || p.UDP.SrcPort != w.SourcePort || !p.V6 && !p.IP4.DF {
		q.fail(now, s, "roce.md, Packet", "headers %+v %+v %+v %+v, address vector %+v", p.Eth, p.IP4, p.IP6, p.UDP, *w)
	}
}
