package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// forever is the rnr_retry that never ends.
const forever = 7

// progress moves the oldest PSN that is not acknowledged, and tells whether it did. All
// retries are there again then.
func (c *Context) progress(una roce.PSN) bool {
	r := &c.Requester
	if una == r.Una {
		return false
	}
	r.Una = una
	r.Tries, r.RNRTries, r.Obeyed, r.Implied, r.Waiting = 0, 0, false, false, false
	return true
}

// count counts a retry, and tells whether there was one left: retry_cnt after the
// first sending, or rnr_retry of RNR NAKs.
func (c *Context) count(rnr bool) bool {
	n, most := &c.Requester.Tries, c.Common.RetryCnt
	if rnr {
		n, most = &c.Requester.RNRTries, c.Common.RNRRetry
		if most == forever {
			return true
		}
	}
	if *n >= most {
		return false
	}
	*n++
	return true
}

// left is what remains of a number of retries.
func left(most, tries uint8) uint8 { return most - min(most, tries) }

// retry executes a NAK that asks for psn again, and acknowledges all before it: what is
// sent goes back to there, if a retry is left. In ERR nothing is sent again.
//
// A NAK for a PSN to which the queue has gone back, or is about to go, is a repeat, and
// ignored: of a sequence NAK until there is progress or a timeout, of an RNR NAK until
// its wait is over. So a run of answers beyond a missing one is one retry. Such a run may
// go on long after the timeout of a READ: then it is no retry more, though the answer
// that is asked for again may be lost again. What tells of that is the next timeout.
func (c *Context) retry(p *port.RxPkt, psn roce.PSN, n *nak, v *port.RxVerdict, e *Env) Bank {
	s, r := &c.SQ, &c.Requester
	rnr := n == &rnrNak
	repeats := r.Obeyed || s.Rewinding || n == &impliedNak && r.Implied
	if rnr {
		repeats = r.Waiting
	}
	runs, moved := c.runs(), c.progress(psn)
	w := InSQ | InRequester
	switch {
	case runs && repeats && !moved:
		v.Drop = abi.RxDropOther
		return 0
	case !runs || !c.count(rnr):
		w = c.refused(psn, n, v)
		v.HasEvent, v.Event = true, c.event(v.QPN, e)
		return w
	}
	v.Action, v.Drop = port.RxAck, n.count
	r.Obeyed, r.Implied = !rnr, !rnr
	if rnr {
		r.Waiting, r.Delayed, r.Delay = true, true, roce.Syndrome(p.Syndrome).Value()
	}
	v.HasEvent, v.Event = true, c.event(v.QPN, e)
	if !s.Rewinding {
		c.ask()
		c.question(&v.Event, e)
	}
	return w
}

// expires tells whether the end of the ACK timer is news, and counts. An acknowledgement
// may have overtaken it: of everything, or one that retrans, which knows of PSNs before
// known, has not got yet, since the answer is still to be placed in memory; or a rewind.
func (c *Context) expires(known roce.PSN) bool {
	return c.Common.Exists && c.sends() && c.unanswered() && !c.Requester.Una.After(known) && !(c.runs() && c.SQ.Rewinding)
}

// timeout takes the end of the ACK timer, which is always answered by an event, since
// the timer waits for one.
func (c *Context) timeout(known roce.PSN) Bank {
	if !c.sends() {
		return 0
	}
	c.note(NoteEvent)
	r := &c.Requester
	switch {
	case !c.expires(known):
	case !c.runs() || !c.count(false):
		c.fault(r.Una, abi.StatusRetryExc, abi.VendorTimeout)
	default:
		r.Obeyed, r.Implied = false, true
		c.ask()
		c.note(NoteRewind)
	}
	return InCommon | InSQ | InRequester
}

// rnrWait is an RNR timer in cycles, rounded up: 10 us are 10,000/4,096 time units.
func rnrWait(code uint8, e *Env) uint64 {
	n := uint64(roce.RNRDelay(code)) * uint64(e.Reg.TimeUnit) * 625
	return (n + 255) / 256
}
