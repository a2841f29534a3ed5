package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// get opens a service of the send queue, if there is something to do: WQEs to
// execute in RTS, the begun message to finish in SQD, WQEs to flush in ERR.
func (c *Context) get(g *port.SQGet, e *Env) port.SQCtx {
	cm, s := &c.Common, &c.SQ
	x := port.SQCtx{
		QPN:     g.QPN,
		State:   cm.State,
		PD:      cm.PD,
		MTU:     uint16(cm.MTU.Bytes()),
		SQBase:  cm.SQBase,
		SQLog:   cm.SQLog,
		PI:      s.PI,
		ExecIdx: s.Exec,
		NextPSN: s.Next,
		Msg:     s.Msg,
		Arm:     c.arm(e),
		SendCQN: cm.SendCQN,
		SigAll:  cm.Flags&abi.QPSigAll != 0,
	}
	if !cm.Exists || !c.backlog() {
		return x
	}
	x.Run = cm.State == abi.QPRTS || cm.State == abi.QPSQD
	x.Flush = !x.Run
	if x.Run {
		x.Window = c.window(e)
		x.Idle = s.Next == c.Requester.Una
		x.Reads, x.Reading = c.mayRead()
		x.Credits = c.credits(e)
	}
	if cm.State != abi.QPSQD && s.Messages < e.Messages {
		x.Messages = uint8(e.Messages - s.Messages)
	}
	s.Busy = true
	s.Granted = uint32(min(uint16(g.Packets), x.Window))
	return x
}

// put closes a service. If the QP was reset meanwhile, the values die with the
// QPClear that follows. A faulty WQE takes the QP to ERR; WQEs before it, all of
// which are sent, go on to be acknowledged.
func (c *Context) put(p *port.SQPut) Bank {
	s := &c.SQ
	if !c.Common.Exists || !s.Busy {
		return 0
	}
	s.Exec, s.Next, s.Msg = p.ExecIdx, p.NextPSN, p.Msg
	s.Messages += uint16(p.Messages)
	c.spend(p.Requests, p.Credited)
	s.Busy, s.Granted = false, 0
	if p.Fault && (c.Common.State == abi.QPRTS || c.Common.State == abi.QPSQD) {
		r := &c.Requester
		r.Fail, r.Stop, r.Status, r.Vendor = FailLocal, s.Next, abi.StatusLocQPOp, abi.VendorWQEFormat
		c.enterErr()
		return InCommon | InSQ | InRequester
	}
	c.tellDrained()
	return InSQ
}

// tellDrained tells that a queue in SQD has drained, once.
func (c *Context) tellDrained() {
	if c.Common.State == abi.QPSQD && c.SQ.Notify && c.drained() {
		c.SQ.Notify = false
		c.note(NoteSQDrained)
	}
}
