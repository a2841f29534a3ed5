package hang

import (
	"fmt"
	"math"

	"rnic/roce"
	"rnic/rtl/qpc"
)

// forever is the RNR retry count without limit.
const forever = 7

// patience is how many limits the bench may keep something back: more is for ever.
const patience = 10

// limits are how long a QP may be without progress, and without another try, cycles.
// With what is added to each, Dog.limit, neither is close.
func (d *Dog) limits(s *side, n int) (all, one uint64) {
	c := s.context(n)
	unit := uint64(s.h.NIC.CSR.PortReg.Get().TimeUnit)
	ack := uint64(0)
	if t := c.Common.Timeout; t != 0 {
		ack = 4 * unit << t
	}
	peer := d.sides[1-s.n].context(int(c.Common.DestQPN))
	rnr := rnrWait(peer.Common.MinRNRTimer, unit)
	one = ack
	if c.Requester.Waiting {
		rnr = max(rnr, rnrWait(c.Requester.Delay, unit))
		one = max(ack, rnr)
	}
	if s.waits(n) { // perhaps for what was acknowledged meanwhile
		one = max(one, rnrWait(c.Requester.Delay, unit))
	}
	all = (uint64(c.Common.RetryCnt)+1)*ack + uint64(c.Common.RNRRetry)*(rnr+ack)
	if c.Common.RNRRetry == forever {
		all = math.MaxUint64 / 2
	}
	return all, one
}

// waits tells whether a QP is in the wait that an RNR NAK has asked for.
func (s *side) waits(n int) bool {
	l := s.h.NIC.Retrans.Lists.Peek(n)
	return l.Rewind && l.Wait
}

// rnrWait is an RNR timer in cycles, with a margin.
func rnrWait(code uint8, unit uint64) uint64 {
	return uint64(roce.RNRDelay(code)) * unit * 625 / 256 * 5 / 4
}

// judge says why a QP does not go on; "": it does. Until held the bench itself keeps
// something back.
func (d *Dog) judge(s *side, q *qp, now, held uint64) string {
	if !q.work || now < q.tried+d.limit {
		return ""
	}
	margin := d.limit + min(s.h.NIC.Dma.Read.Params.Timeout, d.limit)
	held = min(held, q.tried+patience*d.limit)
	all, one := d.limits(s, q.n)
	switch {
	case now > max(q.since, held)+margin+all:
		return fmt.Sprintf("no progress for %d cycles: its retries take %d at most", now-q.since, all)
	case now > max(q.tried, held)+margin+one:
		return fmt.Sprintf("no progress for %d cycles, no retry for %d: a timer takes %d at most", now-q.since, now-q.tried, one)
	}
	return ""
}

// held is the cycle until which the bench keeps something back: a host that stands
// still, answers to reads and frames that are late.
func (d *Dog) held(now uint64) (until uint64) {
	for _, s := range d.sides {
		rc := &s.h.Machine.RC
		until = max(until, rc.Stopped())
		for _, r := range rc.OpenReads() {
			if r.Due != math.MaxUint64 {
				until = max(until, r.Due)
			}
		}
		if c := s.h.Cable(); c.Waiting > 0 {
			until = max(until, c.Until)
		}
	}
	return until
}

// timer says what the ACK timer of a QP is, in words.
func timer(c *qpc.Context) string {
	if c.Common.Timeout == 0 {
		return "the QP has timeout 0: no ACK timer runs"
	}
	return fmt.Sprintf("its ACK timeout is %d, its retry count %d", c.Common.Timeout, c.Common.RetryCnt)
}
