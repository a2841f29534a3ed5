package accept

import (
	"slices"

	"rnic/abi"
	"rnic/roce"
)

// kind is what asks for a restart.
type kind uint8

const (
	sequence kind = iota // NAK PSN sequence error
	implied              // an answer beyond one that is missing
	rnr                  // RNR NAK
	timeout
)

func (k kind) String() string {
	return [...]string{"NAK PSN sequence error", "implied NAK", "RNR NAK", "timeout"}[k]
}

// cause is a reason to restart.
type cause struct {
	kind  kind
	at    uint64 // cycle of its arrival
	ready uint64 // cycle before which it may not be obeyed
	from  seq    // where it asks for a restart
	must  bool   // it cannot be ignored
	sure  bool   // nothing else can have had the NIC go back when it came
}

// start is when the ACK timer began anew.
type start struct {
	at    uint64
	known uint64 // cycle in which the NIC was told, or told
}

// timer notes that the ACK timer began anew.
func (r *requester) timer(now uint64) { r.starts = append(r.starts, start{now, now}) }

// expires tells whether the ACK timer may have expired by now, so that its effect
// can be seen: T after it began, without anything that began it anew before the NIC
// had to know of it (roce.md, Requester: local ACK timeout).
func (q *qp) expires(now uint64) bool {
	r, p := &q.requests, &q.a.p
	if q.Timeout == 0 {
		return false
	}
	t := p.TimeUnit << q.Timeout
	for i, s := range r.starts {
		over := now+p.Early >= s.at+t
		next := r.idle // when the timer had nothing to wait for any more
		switch {
		case i+1 < len(r.starts):
			next = r.starts[i+1].known
		case r.una < r.top:
			return over
		}
		if over && now <= next+2*p.Inside && next+p.Inside+p.Early >= s.at+t {
			return true
		}
	}
	return false
}

// forget drops what is too old to matter.
func (q *qp) forget(now uint64) {
	r, age := &q.requests, 2*q.a.p.Inside
	k := 0
	for k+1 < len(r.starts) && now > r.starts[k+1].known+age {
		k++
	}
	r.starts = append(r.starts[:0], r.starts[k:]...)
	k = 0
	for k < len(r.moved) && now > r.moved[k].at+q.a.p.Inside {
		k++
	}
	r.moved = append(r.moved[:0], r.moved[k:]...)
}

// obeys demands that nothing that must be obeyed waits for longer than a packet may
// be on its way.
func (q *qp) obeys(now uint64, s seq) {
	for i := range q.requests.causes {
		c := &q.requests.causes[i]
		if (s == c.from || q.requests.una > c.from) && now+q.a.p.Early >= c.ready {
			c.must = false // perhaps this is the restart, or none is needed any more
		}
		if c.must && now > c.at+q.a.p.Inside {
			q.fail(now, s, "roce.md, Requester: NAK", "sent in spite of the %v for PSN %06x of cycle %d", c.kind, c.from.psn(), c.at)
			return
		}
	}
}

// restart judges a packet that is sent again out of turn.
func (q *qp) restart(now uint64, s seq) {
	r, p := &q.requests, &q.a.p
	if q.failed != 0 && r.broke.at != 0 && now > r.broke.at+p.Inside {
		q.fail(now, s, "roce.md, Requester: fatal NAK", "sent again after %v of cycle %d", r.broke.status, r.broke.at)
		return
	}
	found, counts := -1, false // the oldest that will do, and whether one will do that is a try
	for i, c := range r.causes {
		if s >= c.from && s <= max(r.una, c.from) && now+p.Early >= c.ready {
			if found < 0 {
				found = i
			}
			counts = counts || c.kind != rnr && !r.stale(c)
		}
	}
	q.forget(now)
	var c cause
	switch {
	case found >= 0:
		c = r.causes[found]
		if counts && r.stale(c) || c.kind == rnr && q.expires(now) { // or it was for the timeout
			r.maybe++
		}
		r.causes = append(r.causes[:0], r.causes[found+1:]...)
	case s >= r.before() && s <= r.una && q.expires(now):
		c = cause{kind: timeout, at: now}
		r.starts = r.starts[:0]
		r.n.timeout.lo++
	default:
		q.explain(now, s)
		return
	}
	for i := range r.causes {
		o := &r.causes[i]
		if o.must && o.kind == rnr && now+p.Early < o.ready && now > o.at+p.Inside {
			q.fail(now, s, "roce.md, Requester: RNR NAK", "sent in the wait that the RNR NAK of cycle %d asks for, to cycle %d", o.at, o.ready)
			return
		}
		o.must = o.must && o.kind == rnr && now+p.Early < o.ready
	}
	r.count(q, now, s, c)
	if c.kind == sequence && c.sure && !q.expires(now) { // or it came when a timeout had been obeyed
		r.n.sequence.lo++
	}
	r.resume, r.clock.alive, r.unrest = s, now, now
}

// stale tells whether there was progress since a cause: it is no try then.
func (r *requester) stale(c cause) bool {
	return len(r.moved) > 0 && c.at < r.moved[len(r.moved)-1].at
}

// count counts a try.
func (r *requester) count(q *qp, now uint64, s seq, c cause) {
	if r.stale(c) {
		return
	}
	if c.kind == rnr {
		r.waits++
		if q.RNRRetry != 7 && r.waits > int(q.RNRRetry) {
			q.fail(now, s, "roce.md, Requester: rnr_retry", "sent again %d times after RNR NAKs, rnr_retry is %d", r.waits, q.RNRRetry)
		}
		return
	}
	r.tries++
	if r.tries > int(q.RetryCnt) && !(q.a.p.Soft && q.RetryCnt == 7) {
		q.fail(now, s, "roce.md, Requester: retry_cnt", "sent again %d times without progress, retry_cnt is %d", r.tries, q.RetryCnt)
	}
}

// explain says why a restart is none.
func (q *qp) explain(now uint64, s seq) {
	r := &q.requests
	for _, c := range r.causes {
		switch {
		case now+q.a.p.Early < c.ready:
			q.fail(now, s, "roce.md, Requester: RNR NAK", "sent in the wait that the RNR NAK of cycle %d asks for, to cycle %d", c.at, c.ready)
			return
		default:
			q.fail(now, s, "roce.md, Requester: go back to that PSN", "sent again, the %v of cycle %d asks for %06x", c.kind, c.at, c.from.psn())
			return
		}
	}
	last := uint64(0)
	if n := len(r.starts); n > 0 {
		last = r.starts[n-1].at
	}
	q.fail(now, s, "roce.md, Requester: local ACK timeout", "sent again without a cause: no NAK, and the ACK timer (%d cycles) began at %d; next is %06x, oldest without answer %06x",
		q.a.p.TimeUnit<<q.Timeout, last, r.cursor.psn(), r.una.psn())
}

// before is the oldest PSN that the NIC may take for the oldest without an answer.
func (r *requester) before() seq {
	if len(r.moved) > 0 {
		return r.moved[0].to
	}
	return r.una
}

// progress moves the oldest PSN without an answer forward.
func (q *qp) progress(now uint64, to seq) {
	r := &q.requests
	if to <= r.una {
		return
	}
	q.forget(now)
	q.stop(now)
	r.moved = append(r.moved, mark{now, r.una})
	r.una, r.tries, r.maybe, r.waits = to, 0, 0, 0
	r.idle = now
	if r.una < r.top {
		r.timer(now)
		r.clock.run(now)
	}
	for i := r.done(); i < len(r.all) && r.all[i].last < to; i++ {
		if r.all[i].acked == 0 {
			r.all[i].acked = now
		}
	}
}

// done is how many work requests at the front have all that was due.
func (r *requester) done() int {
	lo, hi := 0, len(r.all)
	for lo < hi {
		if m := (lo + hi) / 2; r.all[m].acked != 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// ask notes a reason to restart. One that only says again what was obeyed, or is to
// be obeyed, may be ignored; in the wait that an RNR NAK asks for, it has to be.
func (q *qp) ask(now uint64, k kind, from seq, wait uint64) {
	r := &q.requests
	c := cause{kind: k, at: now, ready: now + wait, from: from}
	r.unrest = max(r.unrest, c.ready)
	c.must = k == rnr || k == sequence && !(r.tries > 0 && r.resume == from)
	c.sure = q.steady(now) && !(r.tries > 0 && r.resume == from)
	list := r.causes[:0]
	for _, o := range r.causes {
		switch {
		case o.from == from && o.kind == rnr && o.must && now < o.ready:
			r.n.other.hi++
			return
		case o.from == from && o.kind == k && (k != rnr || now < o.ready+q.a.p.Inside): // it may find the NIC still waiting
			c.must, c.sure = false, false
			list = append(list, o)
		case o.from != from || o.kind != rnr:
			list = append(list, o)
		}
	}
	if r.causes = append(list, c); !c.sure {
		r.n.other.hi++
	}
	q.spend(now, k, from)
	if k == implied {
		r.n.implied.hi++
	}
	switch {
	case k == rnr:
		r.starts = append(r.starts, start{c.ready, now})
		r.clock.alive = max(r.clock.alive, c.ready)
		if c.sure {
			r.n.rnr.lo++
		}
	case k == implied && c.sure: // a run of them is one retry
		r.n.implied.lo++
	}
}

// steady tells whether the NIC is certainly not about to go back, or forward to what was
// acknowledged before it was sent again: then a NAK may tell it nothing new.
func (q *qp) steady(now uint64) bool {
	r := &q.requests
	return !q.expires(now) && r.una <= r.cursor &&
		!slices.ContainsFunc(r.causes, func(c cause) bool { return now <= c.ready+q.a.p.Inside })
}

// spend notes that a NAK may end the connection: what comes behind it may acknowledge
// its PSN all the same.
func (q *qp) spend(now uint64, k kind, from seq) {
	r := &q.requests
	failed := q.failed != 0 || q.a.p.FaultyReads || q.responds.mayBeDead() // then nothing is sent again
	switch {
	case k == rnr && (failed || r.waits >= int(q.RNRRetry) && q.RNRRetry != 7):
		r.spent = append(r.spent, failure{abi.StatusRNRRetryExc, now, from})
	case k != rnr && (failed || r.tries+r.maybe >= int(q.RetryCnt)):
		r.spent = append(r.spent, failure{abi.StatusRetryExc, now, from})
	}
}

// gaveUp tells whether a NAK that came before a completion was made may have ended a
// work request so.
func (r *requester) gaveUp(w *sent, c *Completion) bool {
	return slices.ContainsFunc(r.spent, func(f failure) bool {
		return f.status == c.Status && f.at <= c.Made && f.seq >= w.first && f.seq <= w.last
	})
}

// wait is what an RNR timer code asks for, in cycles, rounded up.
func (q *qp) wait(s roce.Syndrome) uint64 {
	return (rnrUnits(uint8(s)&31)*10_000*q.a.p.TimeUnit + 4095) / 4096
}
