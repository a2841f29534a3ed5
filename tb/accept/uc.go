package accept

import (
	"slices"

	"rnic/abi"
	"rnic/roce"
)

// heard has a state of a QP that answers nothing take a packet, and appends what may
// come of it. While a fault is dealt with, what comes may be dropped: then the message
// that it is of is lost.
func (q *qp) heard(now uint64, s *state, p *roce.Packet, next []*state, take func(uint64, *state, *roce.Packet, []*state) []*state) []*state {
	if q.shared == nil && s.taken > len(q.responds.posts) && now > s.ahead+q.a.p.Deaf {
		return next // what it has taken was never posted
	}
	if q.phase == starting || q.a.p.Lossy {
		c := s.fork()
		c.n.other.hi++
		next = append(next, c)
	}
	if s.deaf != 0 {
		if now <= s.deaf+q.a.p.Deaf {
			c := s.fork()
			c.epsn = unwrap(p.BTH.PSN, s.epsn) + 1
			c.n.other.hi++
			c.n.empty.hi++
			c.n.gaps.hi++
			next = append(next, c)
			if q.shared != nil && p.BTH.Opcode.TakesReceive() { // it can't go back
				d := c.fork()
				d.ended = append(d.ended, arrival{index: d.taken, status: abi.StatusWRFlush, came: q.a.order, at: now, landings: len(d.lands)})
				d.taken++
				next = append(next, d)
			}
		}
		s.deaf = 0
	}
	return take(now, s, p, next)
}

// segment takes a packet of UC in its turn: nobody is told of what is dropped (roce.md,
// UC and UD).
func (q *qp) segment(now uint64, s *state, p *roce.Packet, next []*state) []*state {
	op, n := p.BTH.Opcode, unwrap(p.BTH.PSN, s.epsn)
	gap := n != s.epsn
	s.epsn = n + 1
	if gap || op.Starts() {
		q.giveUp(now, s)
		s.torn = gap && !op.Starts()
	}
	if !s.inside && !op.Starts() {
		if s.torn {
			s.n.gaps.once()
		}
		s.n.other.once()
		return append(next, s)
	}
	if !op.Valid() || op.IsWrite() && q.Access&abi.AccessRemoteWrite == 0 || !op.Starts() && op.IsWrite() != s.write {
		q.giveUp(now, s)
		s.n.other.once()
		return append(next, s)
	}
	if op.Starts() {
		s.length, s.total, s.va, s.key, s.write = 0, int(p.RETH.Length), p.RETH.VA, abi.Key(p.RETH.RKey), op.IsWrite()
	}
	return q.quietly(now, s, p, next)
}

// quietly judges a packet whose place in a message is right, and carries it out or drops
// it.
func (q *qp) quietly(now uint64, s *state, p *roce.Packet, next []*state) []*state {
	var judged verdicts
	q.judge(now, s, p.BTH.Opcode, p, &judged)
	for i, f := range judged.faults {
		if i > 0 && q.shared == nil && f.code == invalid && judged.faults[i-1].code == invalid {
			continue // of another status: there is no completion
		}
		c := s.fork()
		switch {
		case f.rnr:
			c.n.empty.once()
			c.n.other.once()
			q.giveUp(now, c)
		case f.code == operational:
			c.dead = true
			if p.BTH.Opcode.TakesReceive() {
				c.index, c.taken = c.taken, c.taken+1
			}
			c.ended = append(c.ended, arrival{index: c.index, status: f.status, at: now, landings: len(c.lands)})
			c.index = -1
		default:
			c.n.other.hi++
			c.deaf = max(now, 1)
			if q.shared != nil && p.BTH.Opcode.TakesReceive() {
				c.index, c.taken, c.came, c.inside = c.taken, c.taken+1, q.a.order, true
			}
			q.end(now, c, f.status)
		}
		next = append(next, c)
	}
	if judged.must {
		return next
	}
	return q.accepted(now, s, unwrap(p.BTH.PSN, s.epsn), p, next)
}

// giveUp ends the message that is under way. Its receive serves the next one; what it
// has brought there is nobody's business.
func (q *qp) giveUp(_ uint64, s *state) {
	q.end(0, s, abi.StatusLocQPOp)
}

// end is giveUp with the status that a receive of a shared queue ends with: it can't go
// back.
func (q *qp) end(now uint64, s *state, st abi.WCStatus) {
	if s.inside && s.index >= 0 && q.shared != nil {
		s.ended = append(s.ended, arrival{index: s.index, status: st, came: s.came, at: now, landings: len(s.lands)})
	} else if s.inside && s.index >= 0 {
		s.taken--
		s.lands = slices.DeleteFunc(s.lands, func(l landing) bool { return l.index == s.index })
	}
	s.inside, s.index, s.torn = false, -1, false
}

// datagram takes a packet of UD, which is a whole message.
func (q *qp) datagram(now uint64, s *state, p *roce.Packet, next []*state) []*state {
	if !p.BTH.Opcode.Valid() || len(p.Payload) > q.MTU {
		s.n.other.once()
		return append(next, s)
	}
	s.length = grh
	return q.quietly(now, s, p, next)
}

// grh is the bytes before the data of a datagram in its receive (roce.md, UC and UD).
const grh = 40

// headed notes the IP header that comes before a datagram. Of IPv4 the first 20 bytes
// are undefined.
func (q *qp) headed(s *state) {
	h := q.a.header
	b := make([]byte, grh)
	copy(b[grh-len(h):], h)
	s.lands = append(s.lands, landing{index: s.index, psn: s.epsn, order: q.a.order, data: b, void: grh - len(h)})
}
