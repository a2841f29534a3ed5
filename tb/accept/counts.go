package accept

import (
	"maps"
	"slices"

	"rnic/abi"
)

// Counts are what the port has seen.
type Counts struct {
	TxPackets, TxBytes, RxPackets, RxBytes uint64 // of RoCE, without FCS
	TxAcks, TxNaks, TxRNRNaks              uint64
	Payload                                uint64 // bytes sent
	BadFCS, NotRoCE, Malformed, BadICRC    uint64 // frames that arrived
	Overflow                               uint64
}

// span is a number that is known to lie between two.
type span struct{ lo, hi uint64 }

func (s *span) add(o span) { s.lo, s.hi = s.lo+o.lo, s.hi+o.hi }

// tally is what the counters of the transport must show of a QP.
type tally struct {
	duplicates, gaps, empty         span
	sequence, rnr, implied, timeout span
	other, state                    span // dropped: for no counter of its own; in no state for it
}

func (t *tally) add(o tally) {
	t.duplicates.add(o.duplicates)
	t.gaps.add(o.gaps)
	t.empty.add(o.empty)
	t.sequence.add(o.sequence)
	t.rnr.add(o.rnr)
	t.implied.add(o.implied)
	t.timeout.add(o.timeout)
	t.other.add(o.other)
	t.state.add(o.state)
}

// heard notes a NAK that arrived, obeyed or not.
func (t *tally) heard(syn uint8) {
	switch {
	case syn>>5 == 1:
		t.rnr.hi++
	case syn == 3<<5:
		t.sequence.hi++
	}
}

// tally is that of the QP. Of one that has failed, what came afterwards may be
// counted or not.
func (q *qp) tally() tally {
	t := q.requests.n
	if q.unreliable() {
		t.add(q.responds.tally())
	}
	ghosts := t.other
	for i, s := range q.responds.states {
		u := uint64(s.unsure)
		d, g, e := uint64(s.duplicates), uint64(s.gaps), uint64(s.empty)
		least, most := ghosts.lo+uint64(s.dropped-min(s.dropped, s.unsure)), ghosts.hi+uint64(s.dropped+s.maybe)
		if q.unreliable() {
			break
		}
		if i == 0 {
			t.other = span{least, most}
			t.duplicates, t.gaps, t.empty = span{d, d}, span{g, g}, span{e, e}
		}
		t.other = span{min(t.other.lo, least), max(t.other.hi, most)}
		t.duplicates = span{min(t.duplicates.lo, d-min(d, u)), max(t.duplicates.hi, d)}
		t.gaps = span{min(t.gaps.lo, g-min(g, u)), max(t.gaps.hi, g)}
		t.empty = span{min(t.empty.lo, e), max(t.empty.hi, e)}
	}
	if q.failed != 0 || q.broken || q.hazy || q.phase >= stopping {
		for _, s := range t.spans() {
			s.lo = 0
		}
		for _, s := range []*span{&t.duplicates, &t.gaps, &t.empty, &t.other, &t.state} {
			s.hi = ^uint64(0) >> 16 // what came when it was dead
		}
	}
	return t
}

// tally is that of a QP that answers nothing.
func (r *responder) tally() (t tally) {
	for i, s := range r.states {
		if i == 0 {
			t = s.n
		}
		t.widen(&s.n)
	}
	return t
}

// shown is what each counter that is judged must show.
func (a *Acceptor) shown() map[abi.Counter]span {
	t := a.past
	for _, q := range a.qps {
		t.add(q.tally())
	}
	c := &a.counts
	exact := func(n uint64) span { return span{n, n} }
	m := map[abi.Counter]span{
		abi.TxPackets: exact(c.TxPackets), abi.TxBytes: exact(c.TxBytes),
		abi.RxPackets: exact(c.RxPackets), abi.RxBytes: exact(c.RxBytes),
		abi.AcksSent: exact(c.TxAcks), abi.NaksSent: exact(c.TxNaks), abi.RNRNaksSent: exact(c.TxRNRNaks),
		abi.RxDropBadFCS: exact(c.BadFCS), abi.RxDropNotRoCE: exact(c.NotRoCE),
		abi.RxDropMalformed: exact(c.Malformed), abi.RxDropBadICRC: exact(c.BadICRC),
		abi.DuplicateRequest: t.duplicates, abi.OutOfSequence: t.gaps, abi.OutOfBuffer: t.empty,
		abi.PacketSeqErr: t.sequence, abi.RNRNakRetryErr: t.rnr, abi.ImpliedNakSeqErr: t.implied,
		abi.LocalAckTimeoutErr: t.timeout, abi.RxDropOverflow: exact(c.Overflow),
	}
	a.drops.shown(&t, m)
	return m
}

// Judges tells whether Counters looks at a counter.
func (a *Acceptor) Judges(c abi.Counter) bool {
	_, ok := a.shown()[c]
	return ok
}

// Counters judges the counters of the NIC, when all is at rest.
func (a *Acceptor) Counters(read func(abi.Counter) (uint64, error)) error {
	shown := a.shown()
	for _, c := range abi.Counters() {
		x, ok := shown[c]
		if !ok {
			continue
		}
		v, err := read(c)
		if err != nil {
			return err
		}
		if v < x.lo || v > x.hi {
			a.fail(0, "counter %v is %d, by what was seen %d to %d (%s)", c, v, x.lo, x.hi, c.Doc())
		}
	}
	return nil
}

// Settle demands that nothing is missing, at a moment of rest: answers, completions,
// what was written to memory. QPs that have failed owe nothing but completions.
func (a *Acceptor) Settle(now uint64) {
	for _, qpn := range a.numbers() {
		a.qps[qpn].settle(now)
	}
	if len(a.errs) > 0 {
		return // what was not followed to its end explains nothing
	}
	for _, va := range a.addresses() {
		if err := a.serial(a.words[va]); err != nil {
			a.fail(now, "%v", err)
		}
	}
	clear(a.words)
	a.fog = false
	for k, r := range a.regions {
		if r.dead != 0 {
			delete(a.regions, k)
		}
	}
}

// settle demands that nothing is missing of a QP. States that owe something are not
// those that the responder is in.
func (q *qp) settle(now uint64) {
	r := &q.requests
	q.overdue(now)
	if q.broken || q.phase == idle {
		return
	}
	if r.una < r.owed {
		q.fail(now, r.una, "roce.md, UC and UD: a WQE completes when its last packet has left", "completed, and never left; %06x is next", r.top.psn())
		return
	}
	for _, w := range r.all[r.head:] {
		if w.Signaled || q.sigAll || w.acked == 0 || (q.failed != 0 || q.unreliable()) && r.flushed {
			q.fail(now, w.first, "roce.md, Requester: completion of a WQE", "no completion of %#x; oldest without an answer %06x, next %06x", w.ID, r.una.psn(), r.cursor.psn())
			return
		}
	}
	var why *problem
	next := q.responds.states[:0]
	for _, s := range q.responds.states {
		if e := q.owes(s); e == nil {
			next = append(next, s)
		} else if why == nil {
			why = e
		}
	}
	if q.blind { // what has come is done, and what has begun goes on no more
		q.blind = false
		next = append(next[:0], &state{epsn: next[0].epsn, taken: q.responds.done, index: -1})
	}
	if q.responds.states = next; len(next) == 0 {
		q.fail(now, q.responds.begins, why.clause, "%s", why.text)
	}
}

// owes tells what is missing in a state.
func (q *qp) owes(s *state) *problem {
	if q.loose() || q.blind {
		return nil
	}
	for _, d := range s.dues {
		if !d.may {
			return broken("roce.md, Responder", "no answer for PSN %06x: %v", d.psn.psn(),
				[...]string{"ACK", "READ response", "ATOMIC ACK", "NAK"}[d.answer])
		}
	}
	if q.shared == nil && s.taken > len(q.responds.posts) {
		return broken("roce.md, Responder: No receive WQE", "only %d receives are posted", len(q.responds.posts))
	}
	if len(s.ended) > 0 {
		i := s.ended[0].index
		if i < len(q.responds.posts) {
			return broken("roce.md, Responder", "no completion of receive %#x", q.responds.posts[i].ID)
		}
		return broken("roce.md, Responder", "no completion of message %d of those that took a shared receive", i)
	}
	if e := q.landed(s, len(s.lands), true); e != nil {
		return e
	}
	return nil
}

// numbers are those of the QPs, in order.
func (a *Acceptor) numbers() []uint32 { return slices.Sorted(maps.Keys(a.qps)) }

// addresses are those of the words, in order.
func (a *Acceptor) addresses() []uint64 { return slices.Sorted(maps.Keys(a.words)) }
