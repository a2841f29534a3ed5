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
		return c.Requester.Una != c.limit()
	}
	return false
}

// nak is what a NAK code does to the WQE that it names. With no retries a
// sequence error is the last one.
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

var rnrNak = nak{abi.StatusRNRRetryExc, abi.VendorRNRNAK, abi.RNRNakRetryErr}

// response judges an acknowledgement (IBTA 9.7.5.1). It is legal for a PSN that is
// in flight; any other is a ghost, and ignored, as are reserved syndromes, and
// responses to READs and atomics, of which none is in flight.
func (c *Context) response(p *port.RxPkt, v *port.RxVerdict, e *Env) Bank {
	r := &c.Requester
	s := roce.Syndrome(p.Syndrome)
	inFlight := c.limit().Diff(r.Una)
	if p.Opcode != roce.RCAck || p.Len != 0 || !s.Valid() || !p.PSN.Within(r.Una, inFlight) {
		v.Drop = abi.RxDropOther
		return 0
	}
	w := InRequester
	switch {
	case s.Kind() == roce.KindACK:
		r.Una = p.PSN.Add(1)
	case s.Kind() == roce.KindRNR:
		w |= c.refused(p.PSN, &rnrNak, v)
	case int(s.Value()) < len(naks):
		w |= c.refused(p.PSN, &naks[s.Value()], v)
	default: // invalid RD request: not in RC
		v.Drop = abi.RxDropOther
		return 0
	}
	v.Action = port.RxAck
	v.Event = c.event(v.QPN, e)
	return w
}

// refused executes a NAK: it acknowledges all before its PSN, and ends the WQE
// that holds it.
func (c *Context) refused(psn roce.PSN, n *nak, v *port.RxVerdict) Bank {
	v.Drop = n.count
	c.Requester.Una = psn
	c.fault(psn, n.status, n.vendor)
	c.Common.Pending &^= NoteEvent // the verdict carries it
	return InCommon
}
