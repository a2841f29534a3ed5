package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// expectsResponse tells whether the QP takes acknowledgements: when it sends, and
// in ERR while WQEs before the one that failed are still to be acknowledged.
func (c *Context) expectsResponse() bool {
	switch c.Common.State {
	case abi.QPRTS, abi.QPSQD:
		return true
	case abi.QPErr:
		return c.unanswered()
	}
	return false
}

// nak is what a NAK code, or a response that is none, does to the WQE whose answer
// it is: one that asks for the request again, when no retry is left.
type nak struct {
	status abi.WCStatus
	vendor abi.VendorErr
	count  abi.Counter
}

var naks = [...]nak{
	roce.NAKSequence:        {abi.StatusRetryExc, abi.VendorNAKSequence, abi.PacketSeqErr},
	roce.NAKInvalidRequest:  {abi.StatusRemInvReq, abi.VendorNAKInvalid, abi.ReqRemoteInvalidRequest},
	roce.NAKRemoteAccess:    {abi.StatusRemAccess, abi.VendorNAKAccess, abi.ReqRemoteAccessErrors},
	roce.NAKRemoteOperation: {abi.StatusRemOp, abi.VendorNAKOperational, abi.ReqRemoteOperational},
}

var (
	rnrNak     = nak{abi.StatusRNRRetryExc, abi.VendorRNRNAK, abi.RNRNakRetryErr}
	impliedNak = nak{abi.StatusRetryExc, abi.VendorNAKSequence, abi.ImpliedNakSeqErr}
	badOpcode  = nak{abi.StatusBadResp, abi.VendorRespOp, 0}
	badLength  = nak{abi.StatusLocLen, abi.VendorRespLength, 0}
)

// response judges a response (IBTA 9.7.5.1). It is legal for a PSN that is in
// flight; any other is a ghost, and ignored, as are reserved syndromes.
//
// Of a READ or atomic that is not answered, nothing but its own next response, or
// a NAK in the place of that, may come: what is beyond says that it was lost. What is
// beyond a WQE that has failed acknowledges all before that: it was sent before a rewind.
func (c *Context) response(p *port.RxPkt, v *port.RxVerdict, e *Env) (w Bank) {
	r := &c.Requester
	s := roce.Syndrome(p.Syndrome)
	inFlight := p.PSN.Within(r.Una, c.limit().Diff(r.Una))
	_, next, reading := c.head()
	way, failed := p.PSN.Diff(r.Una), r.Fail != FailNone // a PSN in flight is so far from the oldest
	stop := r.Stop.Diff(r.Una)
	reading = reading && !(failed && next.Diff(r.Una) >= stop)
	switch {
	case p.Opcode.HasAETH() && !s.Valid(), p.Opcode == roce.RCAck && !c.legalAck(p, s):
		v.Drop = abi.RxDropOther
		return 0
	case !inFlight:
		return c.unsolicited(p, v, e)
	case reading && way > next.Diff(r.Una), reading && p.PSN == next && p.Opcode == roce.RCAck && s.Kind() == roce.KindACK:
		return c.retry(p, next, &impliedNak, v, e)
	case failed && way >= stop:
		c.progress(r.Stop)
		v.Action = port.RxAck
		w = InRequester
	case p.Opcode != roce.RCAck:
		w = c.data(p, v)
	case s.Kind() == roce.KindACK:
		c.grant(s, p.MSN)
		c.progress(p.PSN.Add(1))
		v.Action = port.RxAck
		w = InRequester
	case s.Kind() == roce.KindRNR:
		return c.retry(p, p.PSN, &rnrNak, v, e)
	case s.Value() == uint8(roce.NAKSequence):
		return c.retry(p, p.PSN, &naks[roce.NAKSequence], v, e)
	default:
		w = c.refused(p.PSN, &naks[s.Value()], v)
	}
	v.HasEvent, v.Event = true, c.event(v.QPN, e)
	return w | c.catchUp(v, e)
}

// legalAck tells whether an acknowledgement is one of RC. That of an RD request is
// not.
func (c *Context) legalAck(p *port.RxPkt, s roce.Syndrome) bool {
	return p.Len == 0 && !(s.Kind() == roce.KindNAK && int(s.Value()) >= len(naks))
}

// unsolicited takes an acknowledgement of the last PSN that was acknowledged before:
// it may bring credits. It, and any other that is not in flight, does nothing else.
func (c *Context) unsolicited(p *port.RxPkt, v *port.RxVerdict, e *Env) Bank {
	s := roce.Syndrome(p.Syndrome)
	if p.Opcode != roce.RCAck || s.Kind() != roce.KindACK || p.PSN != c.Requester.Una.Sub(1) || !c.grant(s, p.MSN) {
		v.Drop = abi.RxDropOther
		return 0
	}
	v.Action = port.RxAck
	v.HasEvent, v.Event = true, c.event(v.QPN, e)
	return InRequester
}

// refused executes a NAK: it acknowledges all before its PSN, and ends the WQE
// that holds it.
func (c *Context) refused(psn roce.PSN, n *nak, v *port.RxVerdict) Bank {
	v.Action, v.Drop = port.RxAck, n.count
	c.progress(psn)
	c.fault(psn, n.status, n.vendor)
	c.Common.Pending &^= NoteEvent // the verdict carries it
	return InCommon | InRequester
}

// opens tells whether a verdict gives the send queue something to do. A READ of
// many packets opens the window by and by: that is told now and then.
func (c *Context) opens(v *port.RxVerdict) bool {
	return v.HasEvent && c.backlog() && (v.Action == port.RxAck || v.SQ.Last || v.Event.Una%16 == 0)
}
