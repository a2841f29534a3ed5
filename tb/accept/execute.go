package accept

import (
	"rnic/abi"
	"rnic/roce"
)

// accepted carries a request out.
func (q *qp) accepted(now uint64, s *state, n seq, p *roce.Packet, next []*state) []*state {
	op := p.BTH.Opcode
	if !q.unreliable() {
		s.epsn = n + 1
	}
	switch {
	case op.IsReadRequest():
		k := packets(int(p.RETH.Length), q.MTU)
		s.epsn = n + seq(k)
		s.count(s.epsn - 1)
		s.owe(due{answer: read, psn: n, limit: n, last: s.epsn - 1, msn: s.msn, len: int(p.RETH.Length), data: q.source(p)})
		s.save(saved{n, k, op, p.RETH.VA, abi.Key(p.RETH.RKey), int(p.RETH.Length)}, q.DestRdAtomic)
		return append(next, s)
	case op.IsAtomic():
		s.count(n)
		s.owe(due{answer: atom, psn: n, limit: n, msn: s.msn})
		s.save(saved{first: n, n: 1, op: op}, q.DestRdAtomic)
		q.carry(n, p)
		return append(next, s)
	}
	if op.TakesReceive() {
		switch {
		case q.shared != nil:
			s.came = q.a.order
			defer q.shared.watch()
		case s.taken < len(q.responds.posts):
			s.found = max(s.found, q.responds.posts[s.taken].posted)
		default:
			s.ahead = now
		}
		s.index, s.taken = s.taken, s.taken+1
		if op.HasDETH() {
			q.headed(s)
		}
	}
	q.land(s, p, q.a.body)
	s.length += len(p.Payload)
	s.inside = !op.Ends()
	if op.Ends() && q.unreliable() {
		if s.index >= 0 {
			q.complete(now, s, p)
		}
		return append(next, s)
	}
	if op.Ends() {
		s.count(n)
		if s.index >= 0 && !q.complete(now, s, p) {
			s.dead = true // SEND with invalidate of a bad key: neither ACK nor NAK
			return append(next, s)
		}
	}
	if p.BTH.AckReq {
		s.owe(due{answer: ack, psn: n})
	}
	return append(next, s)
}

// count counts a message that is complete with PSN n.
func (s *state) count(n seq) {
	s.msn = (s.msn + 1) & (round - 1)
	s.marks = append(s.marks, milestone{s.msn, s.taken, n})
}

// complete ends the receive of a message, and tells whether all is well.
func (q *qp) complete(now uint64, s *state, p *roce.Packet) bool {
	a := arrival{index: s.index, opcode: abi.WCRecv, len: s.length, from: q.PeerQPN, came: s.came, at: now, landings: len(s.lands)}
	s.index = -1
	good := true
	if p.BTH.Opcode.HasDETH() {
		a.flags, a.from = abi.CQEGRH, uint32(p.DETH.SrcQP)
	}
	switch op := p.BTH.Opcode; {
	case op.HasIETH():
		a.flags, a.imm = abi.CQEWithInv, p.IETH.RKey
		good = q.a.invalidate(now, q.pd, abi.Key(p.IETH.RKey))
		if !good {
			a.status = abi.StatusMWBind
		}
	case op.HasImm():
		a.flags, a.imm = a.flags|abi.CQEWithImm, p.Imm.Imm
		if op.IsWrite() {
			a.opcode = abi.WCRecvWithImm
		}
	}
	s.ended = append(s.ended, a)
	return good
}

// invalidate ends a region that a SEND names, and tells whether it may.
func (a *Acceptor) invalidate(now uint64, pd int, key abi.Key) bool {
	r := a.regions[key]
	if r == nil || r.PD != pd || r.weak || r.dead != 0 && now > r.dead+a.p.Inside {
		return false
	}
	if r.gone == 0 {
		r.gone = max(now, 1)
	}
	return true
}

// save keeps a READ or atomic, the last so many that the depth allows.
func (s *state) save(v saved, depth int) {
	if s.saved = append(s.saved, v); len(s.saved) > max(depth, 1) {
		s.saved = s.saved[1:]
	}
}
