package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// A rewind takes the send queue to the oldest PSN that is not acknowledged: back, to
// send again what was lost; or forward, when what was to be sent again turns out to
// have arrived. Where that PSN is in the queue only retrans knows. So it is asked, by
// an event with Rewind, and answers when all messages before it have ended. A new
// generation begins with the question: requests from before are not sent any more,
// and a service that is open ends without effect but for what it enters.
//
// Who goes on: retrans answers each question; a service that is open then is closed by
// wqe_sched; after that the queue is activated. If acknowledgements have gone beyond
// the answer meanwhile, retrans is asked again. While a question is under way there is
// no other.

// Resume is what retrans answered.
type Resume struct {
	Has    bool
	Any    bool   // a message is outstanding: the rest is of the oldest
	Oldest uint16 // unit index of its WQE
	First  roce.PSN
	Last   roce.PSN
}

// ask begins a rewind: a new generation, and a question for retrans, that the caller
// sends.
func (c *Context) ask() {
	s := &c.SQ
	r := &c.Requester
	r.Gen++
	r.Asked = r.Una
	s.Rewinding, s.Resume = true, Resume{}
}

// question makes an event the question of a rewind.
func (c *Context) question(v *port.AckEvent, e *Env) {
	r := &c.Requester
	v.Rewind, v.At, v.Gen = true, r.Una, r.Gen
	if r.Delayed {
		r.Delayed = false
		v.Wait = rnrWait(r.Delay, e)
	}
}

// rewound takes the answer of retrans. While a service is open it is kept.
func (c *Context) rewound(a *port.Retire) Bank {
	s := &c.SQ
	if !c.runs() || !s.Rewinding || a.Gen != c.Requester.Gen {
		return 0
	}
	s.Resume = Resume{Has: true, Any: a.Any, Oldest: a.Oldest, First: a.First, Last: a.Last}
	if s.Busy {
		return InSQ
	}
	return InSQ | c.resume()
}

// resume goes on where retrans said, or asks again: when the RNR NAK whose wait is
// still to come came after the question; when the message was acknowledged meanwhile,
// or entered by the service that was open.
func (c *Context) resume() Bank {
	s, r, a := &c.SQ, &c.Requester, c.SQ.Resume
	switch {
	case r.Una == s.EnteredPSN:
	case r.Delayed, !a.Any, r.Una.After(a.Last):
		c.ask()
		c.note(NoteRewind)
		return InCommon | InSQ | InRequester
	default:
		s.Exec, s.Next = a.Oldest, a.First
		if r.Una.After(a.First) {
			s.Next, r.Again = r.Una, r.Una
		}
		s.Offset = s.Next.Diff(a.First) << (7 + uint(c.Common.MTU))
	}
	s.Rewinding, s.Resume, r.Waiting, r.Delayed = false, Resume{}, false, false
	w := InSQ | InRequester | c.settle()
	if c.backlog() {
		c.note(NoteActivate)
	}
	c.tellDrained()
	return w
}

// settle brings the place in the queue in order when no service is open: when all is
// acknowledged, or all PSNs are sent, it is where the next WQE is entered. When nothing
// is left to be sent again, a WQE that can't be executed has come to its turn: WQEs
// before it, all of which are sent, go on to be acknowledged.
func (c *Context) settle() Bank {
	s, r := &c.SQ, &c.Requester
	switch {
	case !c.runs():
		return 0
	case r.Una == s.EnteredPSN, s.Next == s.EnteredPSN:
		s.Exec, s.Next, s.Offset = s.Entered, s.EnteredPSN, 0
	}
	if s.Faulty && s.Exec == s.Entered {
		r.Fail, r.Stop, r.Status, r.Vendor = FailLocal, s.Next, abi.StatusLocQPOp, abi.VendorWQEFormat
		c.stopSending()
		return InCommon | InSQ | InRequester
	}
	return InSQ
}

// catchUp is settle for a packet that acknowledges something: retrans is asked by its
// verdict. While a service is open that sends again, it may have yet to come to what is
// acknowledged now, and the host may overwrite: the service is to end in vain. It is past
// that if pkt_tx has asked for it, as for all that has left; and one that only sends what
// is new always is.
func (c *Context) catchUp(v *port.RxVerdict, e *Env) Bank {
	s, r := &c.SQ, &c.Requester
	switch {
	case !c.runs() || s.Rewinding || !r.Una.After(s.Next) || s.Busy && (s.Next == s.Top || !r.Una.After(r.Asked)):
		return 0
	case !s.Busy && r.Una == s.EnteredPSN:
		return c.settle()
	}
	c.ask()
	c.question(&v.Event, e)
	return InSQ | InRequester
}
