package qpc

import (
	"rnic/roce"
	"rnic/rtl/port"
)

// End-to-end credits (IBTA 9.7.7.2). Requests are numbered from 1 as the peer's MSN
// counts them. An acknowledgement says that the peer has so many receive WQEs
// for the requests after its MSN; so a request that takes none moves the limit
// on by one. One request beyond the limit may always be sent: a probe.

// unlimited is SQCtx.Credits of a QP whose peer gives no credits.
const unlimited = 0xffff

// ahead tells whether a is after b, modulo 2^24.
func ahead(a, b port.MSN) bool { return roce.PSN(a).After(roce.PSN(b)) }

// grant takes the credits of an acknowledgement, and tells whether they are news. The
// limit never moves back, though large numbers of credits are rounded down more
// than small ones: a receive WQE can't be taken back.
func (c *Context) grant(s roce.Syndrome, msn port.MSN) bool {
	r := &c.Requester
	n, limited := roce.Credits(s.Value())
	if !limited {
		news := !r.Unlimited
		r.Unlimited = true
		return news
	}
	limit := (msn + port.MSN(n)) & 0xffffff
	if !ahead(limit, r.Limit) {
		return false
	}
	r.Limit = limit
	return true
}

// credits is the number of requests that take a receive WQE of the peer that a
// service may start, which is being opened.
func (c *Context) credits(e *Env) uint16 {
	s, r := &c.SQ, &c.Requester
	if ahead(r.Limit, s.Limit) {
		s.Limit = r.Limit
	}
	if r.Unlimited || e.NoCredits {
		return unlimited
	}
	left := roce.PSN(s.Limit).Add(1).Diff(roce.PSN(s.Requests))
	if left >= roce.MaxOutstanding { // negative
		return 0
	}
	return uint16(min(left, unlimited-1))
}

// spend counts the requests of a service that closes.
func (c *Context) spend(requests, credited uint8) {
	s := &c.SQ
	s.Requests = (s.Requests + port.MSN(requests)) & 0xffffff
	s.Limit = (s.Limit + port.MSN(requests-credited)) & 0xffffff
}

// ack is the syndrome of a positive acknowledgement: the receive WQEs that are
// left, in the code for as many or less. Those of an SRQ are for others too.
func (c *Context) ack(e *Env) uint8 {
	if e.NoCredits || c.hasSRQ() {
		return uint8(roce.ACKSyndrome(roce.NoCredits))
	}
	return uint8(roce.ACKSyndrome(roce.CreditCode(int(c.Responder.PI - c.Responder.CI))))
}
