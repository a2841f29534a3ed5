package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// get opens a service of the send queue, if there is something to do: WQEs to
// execute in RTS, those entered to finish in SQD, WQEs to flush in ERR and SQE. Behind a
// WQE that can't be executed none is started: those before it are sent again.
func (c *Context) get(g *port.SQGet, e *Env) port.SQCtx {
	cm, s := &c.Common, &c.SQ
	x := port.SQCtx{
		QPN:     g.QPN,
		Type:    cm.Type,
		State:   cm.State,
		PD:      cm.PD,
		MTU:     c.mtu(e),
		SQBase:  cm.SQBase,
		SQLog:   cm.SQLog,
		PI:      s.PI,
		ExecIdx: s.Exec,
		Offset:  s.Offset,
		NextPSN: s.Next,
		Entered: s.Entered, EnteredPSN: s.EnteredPSN,
		Gen:     c.Requester.Gen,
		Arm:     c.arm(e),
		SendCQN: cm.SendCQN,
		SigAll:  cm.Flags&abi.QPSigAll != 0,
	}
	if !cm.Exists || !c.backlog() {
		return x
	}
	x.Run = c.runs()
	x.Flush = !x.Run
	x.Idle = x.Run && s.Next == c.Requester.Una
	switch {
	case x.Flush:
		x.ExecIdx, x.Offset, x.NextPSN = s.Entered, 0, s.EnteredPSN
	case c.unacked():
		x.Window, x.Credits = c.room(), unlimited
	default:
		x.Window = c.window(e)
		x.Reads, x.Reading = c.mayRead()
		x.Credits = c.credits(e)
	}
	if cm.State != abi.QPSQD && !(x.Run && s.Faulty) && s.Messages < e.Messages {
		x.Messages = uint8(e.Messages - s.Messages)
	}
	s.Busy = true
	s.Granted = uint32(min(uint16(g.Packets), x.Window))
	return x
}

// put closes a service. If the QP was reset meanwhile, the values die with the
// QPClear that follows. If it was rewound meanwhile, only what was entered counts,
// and the queue goes on where the answer of retrans said, if that is there. A peer
// that has acknowledged what it was not sent after all is not to be trusted.
func (c *Context) put(p *port.SQPut) Bank {
	s := &c.SQ
	if !c.Common.Exists || !s.Busy {
		return 0
	}
	s.Top = s.Next.Add(max(s.Top.Diff(s.Next), p.NextPSN.Diff(s.Next)))
	stale := s.Rewinding && c.runs()
	s.Faulty = s.Faulty || p.Fault && !(stale && p.Entered == s.Entered)
	s.Entered, s.EnteredPSN = p.Entered, p.EnteredPSN
	s.Messages += uint16(p.Messages)
	c.spend(p.Requests, p.Credited)
	s.Busy, s.Granted = false, 0
	w := InSQ
	switch una := c.Requester.Una; {
	case c.runs() && una.After(s.Top):
		c.fault(una, badOpcode.status, badOpcode.vendor)
		w = InCommon | InSQ | InRequester
	case !stale:
		s.Exec, s.Offset, s.Next = p.ExecIdx, p.Offset, p.NextPSN
		w |= c.settle()
	case s.Resume.Has:
		w |= c.resume()
	}
	c.tellDrained()
	return w
}

// tellDrained tells that a queue in SQD has drained, once.
func (c *Context) tellDrained() {
	if c.Common.State == abi.QPSQD && c.SQ.Notify && c.drained() {
		c.SQ.Notify = false
		c.note(NoteSQDrained)
	}
}
