package wqesched

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

type execRegs struct {
	Open bool
	At   progress
}

// Exec executes WQEs.
type Exec struct {
	Sent     hdl.Out[port.Sent]
	ReadPost hdl.Out[port.ReadPost]
	Ahead    hdl.Out[port.SQAhead]
	Pkt      hdl.Out[port.TxPkt]
	Piece    hdl.Out[port.TxPiece]
	Put      hdl.Out[port.SQPut]
	MemOp    hdl.Out[port.MemOp]
	MemPages hdl.Out[port.Beat]
	MemRes   hdl.In[port.MemRes]

	service hdl.In[service]
	wqe     hdl.In[wqe]
	done    hdl.Out[done]
	release hdl.Out[release]
	newest  hdl.Tap[rewound]

	hdl.Regs[execRegs]
	p Params
}

// Eval does one step of the service at the head, when all that a step may lead to
// has room. One that is old and between two packets only ends.
func (x *Exec) Eval() {
	if !x.service.Valid() || !x.Put.Ready() || !x.done.Ready() || !x.release.Ready() {
		return
	}
	s := x.service.Head()
	newest := x.newest.Get()
	ends := newest.old(&s.Ctx) && x.Q.At.Told == 0 && !x.Q.At.Asked
	if !ends && !(x.Sent.Ready() && x.ReadPost.Ready() && x.Ahead.Ready() && x.Pkt.Ready() && x.Piece.Ready()) {
		return
	}
	switch s.Verdict {
	case forget:
		x.Pkt.Put(port.TxPkt{Purge: true, QPN: s.Ctx.QPN})
		x.service.Take()
		return
	case nothing:
		x.done.Put(done{QPN: s.Ctx.QPN, Unused: s.Entries})
		x.service.Take()
		return
	case wait:
		at := x.start(s)
		at.Outcome = s.Outcome
		x.close(s, &at)
		return
	}
	if !x.wqe.Valid() {
		return
	}
	at := x.Q.At
	if !x.Q.Open {
		at = x.start(s)
	}
	if ends && !at.Stop {
		at.Stop, at.Outcome = true, idle
	}
	w := x.wqe.Head()
	if x.step(s, w, &at) || at.Stop {
		x.wqe.Take()
		if w.Last {
			if !at.Stop {
				at.Outcome = w.Outcome
			}
			x.close(s, &at)
			x.release.Put(release{s.Ctx.QPN, at.Idx, at.Outcome == starved})
			return
		}
	}
	x.D.Open, x.D.At = true, at
}

// start is the state at the beginning of a service.
func (x *Exec) start(s *service) progress {
	c := &s.Ctx
	return progress{
		Idx:        c.ExecIdx,
		Offset:     c.Offset,
		PSN:        c.NextPSN,
		Entered:    c.Entered,
		EnteredPSN: c.EnteredPSN,
		Window:     c.Window,
		Budget:     uint8(x.p.PacketBudget),
		Entries:    min(c.Messages, s.Entries),
		Credits:    c.Credits,
		Reads:      c.Reads,
		Reading:    c.Reading,
	}
}

// close ends the service.
func (x *Exec) close(s *service, at *progress) {
	x.Put.Put(port.SQPut{
		QPN:        s.Ctx.QPN,
		ExecIdx:    at.Idx,
		Offset:     at.Offset,
		NextPSN:    at.PSN,
		Entered:    at.Entered,
		EnteredPSN: at.EnteredPSN,
		Messages:   at.Used,
		Requests:   at.Requests,
		Credited:   at.Credited,
		Fault:      at.Fault,
	})
	x.done.Put(done{QPN: s.Ctx.QPN, Outcome: at.Outcome, Unused: s.Entries - at.Used})
	x.service.Take()
	x.D.Open, x.D.At = false, progress{}
}

// step does one step of a WQE and tells whether it is done with.
func (x *Exec) step(s *service, w *wqe, at *progress) bool {
	if at.Stop || w.Kind == kindEnd {
		return true
	}
	if !at.entered() {
		if w.Kind == kindMemory && !x.memory(s, w, at) || !x.enter(s, w, at) {
			return false
		}
		if w.Kind == kindMemory && at.Mem.Status != abi.StatusSuccess {
			at.Fault, at.Stop, at.Outcome = true, true, idle
		}
	} else if changed(&s.Ctx, w, at) {
		x.revoked(s, at)
		return false
	}
	switch kindOf(&s.Ctx, w) {
	case kindSend:
		if !x.send(s, w, at) {
			return false
		}
	case kindRead:
		if !x.read(s, w, at) {
			return false
		}
	case kindFault:
		at.Fault, at.Stop, at.Outcome = true, true, idle
	}
	at.Idx += uint16(w.Units)
	return true
}
