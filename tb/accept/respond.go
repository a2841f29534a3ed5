package accept

import (
	"rnic/abi"
	"rnic/roce"
)

// problem is a broken rule.
type problem struct{ clause, text string }

func (p *problem) Error() string { return p.text + " (" + p.clause + ")" }

// respond judges an acknowledgement or response that the NIC has sent.
func (q *qp) respond(now uint64, p *roce.Packet) {
	r := &q.responds
	if q.silent(now) {
		q.fail(now, seq(p.BTH.PSN), "roce.md, Queue pair states", "%v sent in RESET or ERR", p.BTH.Opcode)
		return
	}
	var why *problem
	next := r.states[:0]
	for _, s := range r.states {
		if e := q.answer(now, s, p); e == nil {
			next = append(next, s)
		} else if why == nil {
			why = e
		}
	}
	if r.states = next; len(next) == 0 {
		q.fail(now, seq(p.BTH.PSN), why.clause, "%v sent: %s", name(p), why.text)
	}
}

// name is the kind of an answer.
func name(p *roce.Packet) string {
	if p.BTH.Opcode == roce.RCAck {
		return p.AETH.Syndrome.String()
	}
	return p.BTH.Opcode.String()
}

// answer judges an answer in a state that the responder may be in.
func (q *qp) answer(now uint64, s *state, p *roce.Packet) *problem {
	n := unwrap(p.BTH.PSN, s.epsn)
	op, syn := p.BTH.Opcode, p.AETH.Syndrome
	b := &p.BTH
	switch {
	case s.closed:
		return broken("roce.md, Responder: after these fatal NAKs", "it has sent a fatal NAK")
	case q.short(now, s):
		return broken("roce.md, Responder: No receive WQE", "only %d receives are posted", len(q.responds.posts))
	case b.AckReq || b.SE || b.FECN || b.BECN:
		return broken("roce.md, BTH", "with AckReq, SE, FECN or BECN")
	case op == roce.RCAck && uint8(syn)>>5 == 0:
		return q.acknowledge(now, s, n, p)
	}
	k, e := q.turn(now, s, n, p)
	if e != nil {
		return e
	}
	d := &s.dues[k]
	end := true
	switch {
	case op == roce.RCAck && d.answer != nak: // a READ or atomic that failed on the way
		s.dead, s.closed = true, true
		s.alarm = alarmOf(uint8(syn) & 31)
		s.alarm.at = now
		q.mayFail(now)
	case op == roce.RCAck:
		if fatal := uint8(d.syn)>>5 == 3 && uint8(d.syn)&31 != 0; fatal {
			s.closed, s.alarm.at = true, now
			q.mayFail(now)
		}
	case d.answer == read:
		end, e = q.readResponse(now, s, d, p)
	default:
		e = q.atomicAck(d, p)
	}
	if e != nil {
		return e
	}
	if op.HasAETH() {
		if e = q.aeth(now, s, d.msn, p); e != nil {
			return e
		}
	}
	upTo := n
	if op == roce.RCAck {
		upTo--
	}
	// Acknowledgements ahead that this one does not make needless stay owed.
	keep := s.dues[:0]
	for i, o := range s.dues {
		if i > k || i == k && !end || i < k && o.answer == ack && o.psn > upTo {
			keep = append(keep, o)
		}
	}
	s.dues = keep
	if upTo > s.acked {
		s.reach(upTo)
	}
	return nil
}

// short tells whether a state has taken more receives than there are.
func (q *qp) short(now uint64, s *state) bool {
	if q.shared != nil {
		_, never := q.shared.lasts(now, q, s)
		return never
	}
	return s.taken > len(q.responds.posts)
}

// turn finds the answer that is due, and demands that it is this one.
func (q *qp) turn(now uint64, s *state, n seq, p *roce.Packet) (int, *problem) {
	const clause = "roce.md, Responder: responses and ACKs leave in PSN order of the requests"
	op, syn := p.BTH.Opcode, p.AETH.Syndrome
	for i := range s.dues {
		d := &s.dues[i]
		if d.answer == ack {
			continue
		}
		if d.again && q.a.p.FaultyReads && d.answer == read && op.IsReadResponse() && n > d.psn && n <= d.last {
			k := int(n - d.psn) // what could not be read again is left out
			d.psn, d.off, d.len, d.begun = n, d.off+k*q.MTU, d.len-k*q.MTU, true
		}
		match := d.psn == n && (d.answer == read && op.IsReadResponse() || d.answer == atom && op == roce.RCAtomicAck ||
			d.answer == nak && op == roce.RCAck && d.syn == syn ||
			d.answer != nak && op == roce.RCAck && q.fails(now, d, syn))
		switch {
		case match:
			for k := i + 1; d.may && k < len(s.dues); k++ { // it may be the answer to the same, asked once more
				if o := &s.dues[k]; o.answer == d.answer && o.psn == d.psn && o.last == d.last {
					o.may = true
				}
			}
			return i, nil
		case d.may || q.loose():
		case d.answer == nak:
			return 0, broken(clause, "%v for PSN %06x is due first", d.syn, d.psn.psn())
		default:
			return 0, broken(clause, "the answer to the READ or atomic of PSN %06x is due first", d.psn.psn())
		}
	}
	return 0, broken(clause, "nothing asks for it: PSN %06x is expected, %06x was acknowledged, MSN is %d", s.epsn.psn(), s.acked.psn(), s.msn)
}

// loose tells whether answers need not come any more.
func (q *qp) loose() bool { return q.failed != 0 || q.phase >= stopping }

// fails tells whether a READ or atomic may end in a NAK on the way.
func (q *qp) fails(now uint64, d *due, syn roce.Syndrome) bool {
	switch syn {
	case 3<<5 | operational:
		return q.a.p.FaultyReads
	case 3<<5 | accessError:
		return d.data != nil && q.a.access(now, q.pd, q.qpn, d.data.key, d.data.va+uint64(d.off), d.len, abi.AccessRemoteRead) != good
	}
	return false
}

// acknowledge judges an ACK packet.
func (q *qp) acknowledge(now uint64, s *state, n seq, p *roce.Packet) *problem {
	const clause = "roce.md, Responder: an ACK acknowledges every PSN up to its own"
	switch {
	case n >= s.epsn:
		return broken(clause, "PSN %06x is expected: this has not come, or was not carried out", s.epsn.psn())
	case n < s.acked:
		return broken(clause, "%06x was acknowledged before", s.acked.psn())
	}
	keep, done, repeats, e := q.settled(s, n, false)
	if e == nil && done == 0 && n == s.acked && s.spare == 0 { // perhaps it is behind an answer that was left out
		keep, done, repeats, e = q.settled(s, n, true)
	}
	if e != nil {
		return e
	}
	told := 0
	if c, given := credits(uint8(p.AETH.Syndrome) & 31); given {
		told = int(p.AETH.MSN) + c
	}
	switch {
	case n > s.acked:
		s.spare = repeats
	case done > 0:
		s.spare += done - 1
	case s.spare > 0:
		s.spare--
	case told <= s.credit:
		return broken("roce.md, Responder: duplicate SEND/WRITE", "nothing has come since the last one")
	}
	if e := q.aeth(now, s, s.at(n).msn, p); e != nil {
		return e
	}
	s.dues = keep
	s.reach(n)
	return nil
}

// settled is what stays due behind an ACK of PSN n, and how many requests for an ACK,
// of them those of duplicates, it has met. Answers that need not come stand in the way,
// or with skip were left out up to the first request for an ACK; what is behind that may
// still come, or not.
func (q *qp) settled(s *state, n seq, skip bool) (keep []due, done, repeats int, e *problem) {
	passed := false // a READ or atomic that stays due
	for i := range s.dues {
		d := s.dues[i]
		switch {
		case skip && done > 0:
			d.may = d.may || d.answer == ack && d.again
			keep = append(keep, d)
		case d.answer == ack && !passed && d.psn <= n:
			done++
			if d.again {
				repeats++
			}
		case d.answer == ack:
			keep = append(keep, d)
		case (d.may || q.loose()) && (skip || n >= d.limit) && !d.begun:
		case n < d.limit:
			passed = true
			keep = append(keep, d)
		case d.may || q.loose():
		default:
			return nil, 0, 0, broken("roce.md, Responder: responses and ACKs leave in PSN order of the requests", "the answer of PSN %06x is due first", d.psn.psn())
		}
	}
	return keep, done, repeats, nil
}

// reach notes that PSNs up to n are acknowledged.
func (s *state) reach(n seq) {
	s.acked = max(s.acked, n)
	k := 0
	for k+1 < len(s.marks) && s.marks[k+1].psn <= s.acked {
		k++
	}
	s.marks = s.marks[k:]
}

// at is the milestone at or before PSN n.
func (s *state) at(n seq) milestone {
	m := s.marks[0]
	for _, o := range s.marks[1:] {
		if o.psn > n {
			break
		}
		m = o
	}
	return m
}

// aeth judges MSN and credits. least is the MSN with the request that is answered.
func (q *qp) aeth(_ uint64, s *state, least uint32, p *roce.Packet) *problem {
	m := uint32(p.AETH.MSN)
	if (m-least)&(round-1) > (s.msn-least)&(round-1) {
		return broken("roce.md, Responder: MSN", "MSN %d, between %d and %d messages are complete", m, least, s.msn)
	}
	if uint8(p.AETH.Syndrome)>>5 != 0 {
		return nil
	}
	c, given := credits(uint8(p.AETH.Syndrome) & 31)
	switch {
	case q.shared != nil && given:
		return broken("roce.md, AETH syndrome: 31 always with SRQ", "%d credits by a QP with a shared receive queue", c)
	case !given:
		return nil
	case q.a.p.NoCredits:
		return broken("roce.md, AETH syndrome: credits", "%d credits by a NIC that gives none", c)
	}
	taken := s.marks[0].taken
	for _, o := range s.marks {
		if (m-o.msn)&(round-1) < round/2 {
			taken = o.taken
		}
	}
	if left := len(q.responds.posts) - taken; c > left {
		return broken("roce.md, AETH syndrome: credits", "%d credits with MSN %d, %d receives are there", c, m, left)
	}
	s.credit = max(s.credit, int(m)+c)
	return nil
}

// readResponse judges a READ response that is due, and tells whether it is the last.
func (q *qp) readResponse(now uint64, s *state, d *due, p *roce.Packet) (bool, *problem) {
	const clause = "roce.md, Responder: READ"
	op, last := p.BTH.Opcode, d.psn == d.last
	want := roce.RCReadRespMiddle
	switch {
	case last && !d.begun:
		want = roce.RCReadRespOnly
	case last:
		want = roce.RCReadRespLast
	case !d.begun:
		want = roce.RCReadRespFirst
	}
	n := min(d.len, q.MTU)
	switch {
	case op != want || len(p.Payload) != n:
		return false, broken(clause, "%v of %d bytes is due, not %v of %d", want, n, op, len(p.Payload))
	case op.HasAETH() && uint8(p.AETH.Syndrome)>>5 != 0:
		return false, broken(clause, "with %v", p.AETH.Syndrome)
	}
	if i := q.a.wrong(d.data, d.off, p.Payload); i >= 0 {
		return false, broken(clause, "byte %d of the READ at %#x is not that of memory", d.off+i, d.data.va)
	}
	d.psn, d.len, d.off, d.begun = d.psn+1, d.len-n, d.off+n, true
	return last, nil
}

// atomicAck judges the answer to an atomic.
func (q *qp) atomicAck(d *due, p *roce.Packet) *problem {
	r := &q.responds
	v := p.AtomicAckETH.Orig
	if uint8(p.AETH.Syndrome)>>5 != 0 {
		return broken("roce.md, AETH syndrome", "with %v", p.AETH.Syndrome)
	}
	if old, ok := r.values[d.psn]; ok {
		if old != v {
			return broken("roce.md, Responder: duplicate ATOMIC", "returns %#x, %#x at first", v, old)
		}
		return nil
	}
	r.values[d.psn] = v
	if a := r.atoms[d.psn]; a != nil {
		a.orig, a.known = v, true
	}
	return nil
}
