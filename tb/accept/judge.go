package accept

import (
	"rnic/abi"
	"rnic/roce"
)

// refusal is how a request may be refused.
type refusal struct {
	rnr    bool
	code   uint8
	status abi.WCStatus // of its receive, if it has one
}

// verdicts are the ways in which a request may be refused; must: it cannot be
// carried out.
type verdicts struct {
	faults []refusal
	must   bool
}

func (v *verdicts) add(f refusal, must bool) {
	v.faults = append(v.faults, f)
	v.must = v.must || must
}

// length adds that a packet, or a message, has a wrong length. What becomes of the receive
// is only laid down for a SEND that is too long for it.
func (v *verdicts) length() {
	v.add(refusal{code: invalid, status: abi.StatusLocLen}, true)
	v.add(refusal{code: invalid, status: abi.StatusLocQPOp}, true)
}

// judge finds what may be wrong with a request whose place in a message is right.
func (q *qp) judge(now uint64, s *state, op roce.Opcode, p *roce.Packet, v *verdicts) {
	n := len(p.Payload)
	switch {
	case op.IsFirst() || op.IsMiddle():
		if n != q.MTU || p.BTH.PadCnt != 0 {
			v.length()
		}
	case op.IsLast() && n == 0, n > q.MTU:
		v.length()
	}
	if op.HasRETH() && p.RETH.Length > 1<<31 {
		v.length()
	}
	if op.IsReadRequest() || op.IsAtomic() {
		if open := s.open(); open >= q.DestRdAtomic {
			v.add(refusal{code: invalid}, q.DestRdAtomic == 0)
		}
	}
	if op.TakesReceive() {
		q.ready(now, s, v)
	}
	switch {
	case op.IsAtomic():
		if p.AtomicETH.VA%8 != 0 {
			v.add(refusal{code: invalid}, true)
			return // before the R_Key
		}
		q.key(now, v, abi.Key(p.AtomicETH.RKey), p.AtomicETH.VA, 8, abi.AccessRemoteAtomic)
	case op.IsReadRequest():
		q.key(now, v, s.key, s.va, s.total, abi.AccessRemoteRead)
	case op.IsWrite():
		q.key(now, v, s.key, s.va, s.total, abi.AccessRemoteWrite)
		if s.length+n > s.total || op.Ends() && s.length+n != s.total {
			v.length()
		}
		if !op.Ends() && s.length+n == s.total { // nothing is left for those behind it
			v.add(refusal{code: invalid, status: abi.StatusLocQPOp}, false)
		}
	case op.IsSend():
		q.room(s, op, n, v)
	}
}

// open is how many READs and atomics are not answered.
func (s *state) open() (n int) {
	for _, d := range s.dues {
		if (d.answer == read || d.answer == atom) && !d.again {
			n++
		}
	}
	return n
}

// ready judges whether there is a receive.
func (q *qp) ready(now uint64, s *state, v *verdicts) {
	r := &q.responds
	if q.shared != nil {
		sure, _ := q.shared.lasts(now, q, s)
		if !sure {
			v.add(refusal{rnr: true}, false)
		}
		return
	}
	if s.taken < len(r.posts) && (q.a.there(now, &r.posts[s.taken]) || r.posts[s.taken].posted <= s.found) {
		return
	}
	if s.taken >= len(r.posts) && q.unreliable() {
		v.add(refusal{code: invalid, status: abi.StatusLocLen}, false) // it may be posted before the NIC looks, and too small
	}
	v.add(refusal{rnr: true}, false) // or one is posted before the NIC looks
}

// there tells whether the NIC must find a receive that was posted.
func (a *Acceptor) there(now uint64, r *receive) bool {
	return now > r.posted+a.p.Posted || r.rung != 0 && now > r.rung+a.p.Rung
}

// key judges the remote memory of a request.
func (q *qp) key(now uint64, v *verdicts, key abi.Key, va uint64, n int, need abi.AccessFlags) {
	if k := q.a.access(now, q.pd, q.qpn, key, va, n, need); k != good {
		v.add(refusal{code: accessError, status: abi.StatusLocAccess}, k == bad)
	}
}

// room judges the receive of a SEND, as far as this packet reaches.
func (q *qp) room(s *state, op roce.Opcode, n int, v *verdicts) {
	i := s.index
	if op.TakesReceive() {
		i = s.taken
	}
	posts := q.responds.posts
	if q.shared != nil {
		least, most := q.shared.sizes()
		if i >= 0 && s.length+n > least {
			v.add(refusal{code: invalid, status: abi.StatusLocLen}, s.length+n > most)
		}
		return
	}
	if i < 0 || i >= len(posts) {
		return
	}
	size := 0
	for _, e := range posts[i].SGEs {
		size += int(e.Length)
	}
	if s.length+n > size {
		v.add(refusal{code: invalid, status: abi.StatusLocLen}, true)
	}
	from := s.length
	if q.typ == abi.QPTypeUD {
		from, n = 0, n+grh
	}
	if !q.a.local(q.pd, posts[i].SGEs, from, min(n, size-from), true) {
		v.add(refusal{code: operational, status: abi.StatusLocProt}, true)
	}
}

// again judges a duplicate.
func (q *qp) again(now uint64, s *state, n seq, p *roce.Packet, next []*state) []*state {
	op := p.BTH.Opcode
	d := due{psn: n, limit: s.epsn, again: true, msn: s.msn}
	switch {
	case op.IsReadRequest():
		f := s.find(n)
		k := packets(int(p.RETH.Length), q.MTU)
		if f == nil || !f.holds(n, k, p, q.MTU) ||
			q.a.access(now, q.pd, q.qpn, abi.Key(p.RETH.RKey), p.RETH.VA, int(p.RETH.Length), abi.AccessRemoteRead) == bad {
			s.dropped++
			return append(next, s)
		}
		d.answer, d.last, d.len, d.data = read, n+seq(k)-1, int(p.RETH.Length), q.source(p)
	case op.IsAtomic():
		f := s.find(n)
		if f == nil || f.op != op || f.first != n {
			s.dropped++
			return append(next, s)
		}
		d.answer = atom
	default:
		if !p.BTH.AckReq {
			s.dropped++
		}
		s.owe(due{answer: ack, psn: s.epsn - 1, again: true, may: !p.BTH.AckReq})
		return append(next, s)
	}
	// As many duplicates as new ones may be under way; more may be dropped, and what
	// cannot be read.
	repeats := 0
	for _, o := range s.dues {
		if o.again && o.answer != ack {
			repeats++
		}
	}
	if d.may = repeats >= q.DestRdAtomic || d.answer == read && q.a.p.FaultyReads; d.may {
		s.maybe++
	}
	s.owe(d)
	return append(next, s)
}

// find is the saved READ or atomic that has a PSN.
func (s *state) find(n seq) *saved {
	for i := range s.saved {
		if f := &s.saved[i]; n >= f.first && n < f.first+seq(f.n) {
			return f
		}
	}
	return nil
}

// holds tells whether a READ is a part of the saved one.
func (f *saved) holds(n seq, k int, p *roce.Packet, mtu int) bool {
	off := uint64(n-f.first) * uint64(mtu)
	return f.op.IsReadRequest() && n+seq(k) <= f.first+seq(f.n) && f.key == abi.Key(p.RETH.RKey) &&
		p.RETH.VA-f.va == off && off+uint64(p.RETH.Length) <= uint64(f.len)
}
