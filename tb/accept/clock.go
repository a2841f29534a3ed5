package accept

// clock measures how long the requester has been without progress while an answer was
// due (roce.md, Requester: local ACK timeout).
type clock struct {
	from  uint64 // cycle of the last progress, or of the first request behind it; 0: none is due
	alive uint64 // cycle in which the NIC was last seen to send again, or is to have waited for an RNR NAK
}

// run starts the clock when a request waits for an answer.
func (c *clock) run(now uint64) {
	if c.from == 0 {
		c.from, c.alive = max(now, 1), now
	}
}

// stop ends a stretch without progress: the ACK timer may have expired once in each T
// of it.
func (q *qp) stop(now uint64) {
	r := &q.requests
	if r.clock.from != 0 && q.Timeout != 0 {
		r.n.timeout.hi += (now - r.clock.from + q.a.p.Inside) / q.period()
	}
	r.clock = clock{}
}

// period is the time of the ACK timer, in cycles.
func (q *qp) period() uint64 { return q.a.p.TimeUnit << q.Timeout }

// watch demands of all QPs, now and then, that those that wait for an answer have not
// waited for too long: a timeout comes within 4 T.
func (a *Acceptor) watch(now uint64) {
	if now < a.next {
		return
	}
	a.next = now + 1000
	for _, q := range a.qps {
		q.overdue(now)
	}
}

// overdue demands that a timeout is not missing.
func (q *qp) overdue(now uint64) {
	r := &q.requests
	if r.clock.from == 0 || q.Timeout == 0 || q.failed != 0 || q.a.p.FaultyReads || q.phase != live || q.responds.mayBeDead() {
		return
	}
	if due := max(r.clock.from, r.clock.alive) + 4*q.period() + 2*q.a.p.Inside; now > due {
		q.fail(now, r.una, "roce.md, Requester: local ACK timeout", "no answer and nothing sent again since cycle %d, the timer is %d cycles", r.clock.alive, q.period())
	}
}
