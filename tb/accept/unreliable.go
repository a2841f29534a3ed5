package accept

import (
	"rnic/abi"
	"rnic/roce"
)

// unreliable tells whether nobody acknowledges what the QP sends.
func (q *qp) unreliable() bool { return q.typ != abi.QPTypeRC }

// transport is that of the QP's packets.
func (q *qp) transport() roce.Transport {
	switch q.typ {
	case abi.QPTypeUC:
		return roce.UC
	case abi.QPTypeUD:
		return roce.UD
	}
	return roce.RC
}

// opcode is the one of the QP's transport that an opcode of RC stands for.
func (q *qp) opcode(op roce.Opcode) roce.Opcode {
	return op | roce.Opcode(q.transport())<<5
}

// Datagram is where a send of a UD QP goes.
type Datagram struct {
	QPN   uint32
	QKey  uint32 // as posted: with the top bit set the QP's own
	Path  Path
	Alien bool // the address handle is of another protection domain
}

// leaves judges a packet that nobody acknowledges: each once, in turn, and with the last
// of a message it is done (roce.md, UC and UD).
func (q *qp) leaves(now uint64, p *roce.Packet) {
	r := &q.requests
	s, w := q.due(now, p)
	if w == nil {
		return
	}
	if r.renewed && s >= r.top && s <= w.last && r.all[r.head:][0] == w {
		r.renumber(s)
		w = r.find(s)
	}
	if s != r.top {
		q.fail(now, s, "roce.md, UC and UD", "%v sent, %06x is next: PSNs are consecutive, and nothing is sent again", p.BTH.Opcode, r.top.psn())
		return
	}
	if f := &r.broke; r.flushed && s >= f.seq && now > f.at+leaving {
		q.fail(now, s, "roce.md, Queue pair states: in SQE sends flush", "%v sent in SQE", p.BTH.Opcode)
	}
	if q.typ == abi.QPTypeUD {
		q.addresses(now, s, w, p)
	}
	q.fresh(now, s, w)
	q.contents(now, s, w, p)
	if q.broken {
		return
	}
	r.cursor, r.top = s+1, s+1
	q.progress(now, s+1)
	if w.claimed != 0 && s == w.last && now > w.claimed+leaving {
		q.fail(now, s, "roce.md, UC and UD: a WQE completes when its last packet has left", "completed in cycle %d", w.claimed)
	}
}

// addresses holds a datagram against where its work request sends it.
func (q *qp) addresses(now uint64, s seq, w *sent, p *roce.Packet) {
	key := w.To.QKey
	if key>>31 != 0 {
		key = q.QKey
	}
	if uint32(p.BTH.DestQP) != w.To.QPN || p.DETH.QKey != key || uint32(p.DETH.SrcQP) != q.qpn {
		q.fail(now, s, "roce.md, UC and UD", "to QP %#x, DETH %+v, posted QP %#x with Q_Key %#x", uint32(p.BTH.DestQP), p.DETH, w.To.QPN, key)
		return
	}
	q.path(now, s, p, &w.To.Path)
}

// claim notes the completion of a message that was not seen to leave: it may be in the
// MAC, but not for long.
func (q *qp) claim(now uint64, w *sent, c *Completion) {
	if w.acked != 0 {
		return
	}
	q.requests.owed = max(q.requests.owed, w.last+1)
	if w.claimed = c.Made; now > c.Made+leaving && w.Op != abi.OpNop {
		q.fail(now, w.first, "roce.md, UC and UD: a WQE completes when its last packet has left", "completion of %#x, made in cycle %d, which has not left", w.ID, c.Made)
	}
}

// ahead tells whether all before a work request may be done.
func (q *qp) ahead(w *sent) bool { return w.first <= q.requests.una || q.unreliable() }

// spoiled tells whether a work request may end so for what it asks.
func (q *qp) spoiled(w *sent, c *Completion) bool {
	if q.requests.flushed {
		return false
	}
	switch c.Status {
	case abi.StatusLocLen:
		return q.typ == abi.QPTypeUD && w.length() > q.MTU
	case abi.StatusLocQPOp:
		return w.To.Alien
	}
	return false
}

// addressed tells whether the addresses of a packet are those of the QP (roce.md,
// Responder: check order).
func (q *qp) addressed(p *roce.Packet) bool {
	if q.typ == abi.QPTypeUD {
		for _, g := range q.Addresses {
			if g == destinationOf(p) {
				return true
			}
		}
		return false
	}
	w := &q.Path
	vid := uint16(0)
	if p.Tagged {
		vid = p.VLAN.VID
	}
	return !w.Known || sourceOf(p) == w.DGID && destinationOf(p) == w.SGID && vid == w.vid()
}

// vid is the VLAN of a path; 0: none.
func (w *Path) vid() uint16 {
	if !w.Tagged {
		return 0
	}
	return w.VLAN & 0xfff
}

// tci is the tag control of a packet that has a tag.
func tci(p *roce.Packet) uint16 {
	v := uint16(p.VLAN.PCP)<<13 | p.VLAN.VID
	if p.VLAN.DEI {
		v |= 1 << 12
	}
	return v
}

// header is the IP header of a frame.
func header(data []byte, p *roce.Packet) []byte {
	n := roce.IPv4Size
	if p.V6 {
		n = roce.IPv6Size
	}
	return data[p.L3():][:n]
}

// Recovered tells that a QP whose send queue had failed is about to be in RTS again. All
// that was posted is flushed.
func (a *Acceptor) Recovered(_ uint64, qpn uint32) {
	r := &a.qps[qpn].requests
	r.flushed, r.renewed, r.broke = false, true, failure{}
}

// renumber has the work requests behind a failure begin with PSN s.
func (r *requester) renumber(s seq) {
	by := s - r.all[r.head].first
	for _, w := range r.all[r.head:] {
		w.first, w.last = w.first+by, w.last+by
	}
	r.nominal += by
	r.una, r.top, r.cursor, r.renewed = s, s, s, false
}
