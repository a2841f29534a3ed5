package accept

import (
	"bytes"
	"slices"

	"rnic/abi"
)

// Completion is a CQE as the program finds it. Made is the cycle in which the NIC
// made it; 0: not known.
type Completion struct {
	QPN     uint32
	ID      uint64
	Status  abi.WCStatus
	Opcode  abi.WCOpcode // bit 7: of the receive queue
	Flags   abi.CQEFlags
	ByteLen uint32
	Imm     uint32
	SrcQPN  uint32
	Made    uint64
}

// Complete judges a completion.
func (a *Acceptor) Complete(now uint64, c Completion) {
	q := a.qps[c.QPN]
	switch {
	case q == nil || q.phase == idle && len(q.responds.posts) == 0:
		a.fail(now, "QP %#x: completion %#x of a QP that has nothing posted (verbs-semantics.md, API rules)", c.QPN, c.ID)
		return
	case q.broken:
		return
	}
	if c.Made == 0 {
		c.Made = now
	}
	if c.Opcode.IsRecv() {
		q.received(now, &c)
	} else {
		q.sendDone(now, &c)
	}
}

// mayEnd tells whether a failure may have reached the QP.
func (q *qp) mayEnd(now uint64) bool {
	return q.failed != 0 || q.a.p.FaultyReads || len(q.requests.spent) > 0 || q.responds.mayBeDead() || q.exhausted(now) || q.rnrExhausted()
}

// exhausted tells whether all retries may have been of no use: a reason for one more
// is there.
func (q *qp) exhausted(now uint64) bool {
	r := &q.requests
	if r.tries+r.maybe < int(q.RetryCnt) {
		return false
	}
	return q.retry(now)
}

// retry tells whether there is a reason to send again, other than an RNR NAK.
func (q *qp) retry(now uint64) bool {
	for _, c := range q.requests.causes {
		if c.kind != rnr && (c.from >= q.requests.una || now <= c.at+q.a.p.Inside) { // or it was mended since
			return true
		}
	}
	return q.expires(now)
}

// lost tells whether a retry may be given up because the QP has failed: in ERR
// nothing is sent again.
func (q *qp) lost(now uint64) bool {
	return (q.failed != 0 || q.a.p.FaultyReads || q.responds.mayBeDead()) && q.retry(now)
}

// rnrExhausted is the same of RNR NAKs.
func (q *qp) rnrExhausted() bool {
	r := &q.requests
	return q.RNRRetry != 7 && r.waits >= int(q.RNRRetry) && q.waits()
}

// waits tells whether an RNR NAK asks for a wait.
func (q *qp) waits() bool {
	return slices.ContainsFunc(q.requests.causes, func(c cause) bool { return c.kind == rnr })
}

// sendDone judges a completion of the send queue.
func (q *qp) sendDone(now uint64, c *Completion) {
	const clause = "roce.md, Requester: completion of a WQE"
	r := &q.requests
	k := r.head
	for k < len(r.all) && r.all[k].ID != c.ID {
		w := r.all[k]
		if (w.Signaled || q.sigAll) || w.acked == 0 && !q.unreliable() || r.flushed {
			q.fail(now, w.first, clause, "completion of %#x (%v) before that of %#x", c.ID, c.Status, w.ID)
			return
		}
		if q.unreliable() {
			q.claim(now, w, c)
		}
		k++
	}
	if k == len(r.all) {
		q.fail(now, r.una, clause, "completion of %#x (%v), which is not outstanding", c.ID, c.Status)
		return
	}
	w := r.all[k]
	if c.Status == abi.StatusSuccess {
		q.succeeded(now, w, c)
	} else {
		q.failedAs(now, w, c)
	}
	if c.Status == abi.StatusSuccess {
		for i := r.head; i <= k; i++ {
			if r.all[i].local() {
				q.a.changed(c.Made, &r.all[i].Change)
			}
		}
	}
	r.head = k + 1
	r.prune(now, q.a.p.Inside)
}

// succeeded judges a completion in success.
func (q *qp) succeeded(now uint64, w *sent, c *Completion) {
	const clause = "roce.md, Requester: completion of a WQE"
	r := &q.requests
	switch {
	case r.flushed:
		q.fail(now, w.first, clause, "success of %#x behind a work request that failed", w.ID)
	case q.unreliable() && w.acked == 0: // it may be in the MAC
		q.claim(now, w, c)
	case q.unreliable() && w.acked <= c.Made+leaving:
	case w.acked == 0 || w.acked > c.Made:
		q.fail(now, w.first, clause, "success of %#x, made in cycle %d, whose answer came in cycle %d (0: never)", w.ID, c.Made, w.acked)
	}
	switch {
	case q.broken:
	case w.fault:
		q.fail(now, w.first, "verbs-semantics.md, Outcome table", "success of %#x, which names memory that it may not use", w.ID)
	case !w.Signaled && !q.sigAll:
		q.fail(now, w.first, "roce.md, Completion queue", "success of %#x, which is not signalled", w.ID)
	case c.Opcode != w.Op.WCOpcode():
		q.fail(now, w.first, clause, "completion of %#x as %v", w.ID, c.Opcode)
	case w.fetches() && int(c.ByteLen) != w.length():
		q.fail(now, w.first, clause, "completion of %#x with %d bytes, %d asked for", w.ID, c.ByteLen, w.length())
	case c.Flags != 0:
		q.fail(now, w.first, "roce.md, Work completion status", "completion of %#x with flags %v", w.ID, c.Flags)
	}
	if w.fetches() && w.Result != nil && !q.broken {
		if got := w.Result(); !bytes.Equal(got, w.got) {
			q.fail(now, w.first, "roce.md, Requester: all response data in memory", "byte %d of %#x in memory is not what came", differ(got, w.got), w.ID)
		}
	}
}

// failedAs judges a completion in error.
func (q *qp) failedAs(now uint64, w *sent, c *Completion) {
	const clause = "roce.md, Requester; Work completion status"
	r := &q.requests
	oldest := w.last >= r.una // and all before it are done, or the order would be wrong
	inside := r.broke.at != 0 && r.broke.at <= c.Made && r.broke.seq >= w.first && r.broke.seq <= w.last
	legal := false
	switch c.Status {
	case abi.StatusLocLen, abi.StatusLocProt, abi.StatusLocQPOp:
		legal = q.unreliable() && q.spoiled(w, c)
	}
	switch c.Status {
	case abi.StatusWRFlush:
		legal = q.mayEnd(now) || r.flushed
	case abi.StatusRetryExc:
		legal = !r.flushed && (oldest && w.first <= r.una && (q.exhausted(c.Made) || q.lost(c.Made)) || r.gaveUp(w, c))
	case abi.StatusRNRRetryExc:
		legal = !r.flushed && (oldest && w.first <= r.una && (q.rnrExhausted() || q.failed != 0 && q.waits()) || r.gaveUp(w, c))
	case abi.StatusLocProt:
		legal = legal || w.fault && !r.flushed && q.ahead(w)
	case abi.StatusLocQPOp:
		legal = legal || q.a.p.FaultyReads && !r.flushed && q.ahead(w)
	default:
		legal = legal || inside && r.broke.status == c.Status && !r.flushed ||
			q.a.p.Soft && inside && !r.flushed
	}
	if !legal {
		q.fail(now, w.first, clause, "work request %#x ends in %v, for which there is no reason: %d restarts, %d for RNR NAKs, oldest without answer %06x",
			w.ID, c.Status, r.tries, r.waits, r.una.psn())
	}
	r.flushed = true
	if q.unreliable() && c.Status != abi.StatusWRFlush {
		r.broke = failure{c.Status, c.Made, w.first} // what is before it may be in the MAC
		return                                       // the receive side goes on
	}
	q.mayFail(now)
	q.stop(now)
}

// prune forgets work requests that are completed, of which nothing can be on its way
// out any more.
func (r *requester) prune(now, inside uint64) {
	k := 0
	for k < r.head && r.all[k].last < r.una && r.all[k].last < r.cursor && now > r.all[k].acked+inside {
		k++
	}
	if k >= 64 {
		r.retired = r.all[k-1].receives
		r.all = append([]*sent(nil), r.all[k:]...)
		r.head -= k
	}
}
