package wqesched

import (
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// progress is how far the open service has come.
type progress struct {
	Idx     uint16 // WQE to execute, or being executed
	PSN     roce.PSN
	Packets uint8 // that may still be sent
	Entries uint8 // of the outstanding table that may still be taken
	Used    uint8 // taken
	Sending bool  // the message of WQE Idx is in progress
	Offset  uint32
	Told    uint16 // bytes of the packet at Offset that were described
	Fault   bool
	Stop    bool // blocked: what is left of the service is passed over
	Outcome outcome
}

type execRegs struct {
	Open bool
	At   progress
}

// badKey is an L_Key that no region has: the index is beyond the table.
const badKey = 0xffffff00

// Exec executes WQEs.
type Exec struct {
	Sent  hdl.Out[port.Sent]
	Pkt   hdl.Out[port.TxPkt]
	Piece hdl.Out[port.TxPiece]
	Put   hdl.Out[port.SQPut]

	service hdl.In[service]
	wqe     hdl.In[wqe]
	done    hdl.Out[done]
	release hdl.Out[release]

	hdl.Regs[execRegs]
	p Params
}

// Eval does one step of the service at the head, when all that a step may lead to
// has room.
func (x *Exec) Eval() {
	if !x.service.Valid() || !x.Sent.Ready() || !x.Pkt.Ready() || !x.Piece.Ready() ||
		!x.Put.Ready() || !x.done.Ready() || !x.release.Ready() {
		return
	}
	s := x.service.Head()
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
		Idx:     c.ExecIdx,
		PSN:     c.NextPSN,
		Packets: uint8(min(c.Window, uint16(x.p.PacketBudget))),
		Entries: min(c.Messages, s.Entries),
		Sending: c.Msg.Active,
		Offset:  c.Msg.Offset,
	}
}

// close ends the service.
func (x *Exec) close(s *service, at *progress) {
	x.Put.Put(port.SQPut{
		QPN:      s.Ctx.QPN,
		ExecIdx:  at.Idx,
		NextPSN:  at.PSN,
		Messages: at.Used,
		Msg:      port.SQMsg{Active: at.Sending, Offset: at.Offset},
		Fault:    at.Fault,
	})
	x.done.Put(done{QPN: s.Ctx.QPN, Outcome: at.Outcome, Unused: s.Entries - at.Used})
	x.service.Take()
	x.D.Open, x.D.At = false, progress{}
}

// step does one step of a WQE and tells whether it is done with.
func (x *Exec) step(s *service, w *wqe, at *progress) bool {
	switch {
	case at.Stop || w.Kind == kindEnd:
		return true
	case s.Ctx.Flush && at.Sending:
		// Its entry is in the outstanding table since its first packet.
		at.Sending, at.Offset = false, 0
	case at.Sending && (w.Kind != kindSend || at.Offset >= w.Len && at.Offset > 0):
		x.revoked(s, w, at)
		return false
	case w.Kind == kindSend:
		if !x.send(s, w, at) {
			return false
		}
	default:
		if at.Entries == 0 {
			x.noEntry(s, at)
			return false
		}
		x.enter(s, w, at)
		at.Fault = w.Kind == kindFault
	}
	at.Idx += uint16(w.Units)
	return true
}

// enter puts the WQE into the outstanding table.
func (x *Exec) enter(s *service, w *wqe, at *progress) {
	c := &s.Ctx
	e := x.Sent.Next()
	*e = port.Sent{
		QPN:      c.QPN,
		Kind:     port.SentLocal,
		UnitIdx:  at.Idx,
		Op:       w.Op,
		Signaled: w.Signaled || c.SigAll,
		SendCQN:  c.SendCQN,
		Arm:      c.Arm,
		FirstPSN: at.PSN,
		LastPSN:  at.PSN,
		ByteLen:  w.Len,
		Status:   w.Status,
		Vendor:   w.Vendor,
	}
	if w.Kind == kindSend {
		e.Kind = port.SentWire
		e.LastPSN = at.PSN.Add(packetsOf(w.Len, mtuShift(c.MTU)) - 1)
	}
	at.Entries--
	at.Used++
}

// send describes one run of a packet, with the packet itself before its first
// one, and tells whether the message is done.
func (x *Exec) send(s *service, w *wqe, at *progress) bool {
	if at.Told == 0 && at.Packets == 0 {
		x.noPacket(s, at)
		return false
	}
	if !at.Sending {
		if at.Entries == 0 {
			x.noEntry(s, at)
			return false
		}
		x.enter(s, w, at)
		at.Sending = true
	}
	p := cut(w, at.Offset, at.PSN, mtuShift(s.Ctx.MTU))
	if at.Told == 0 {
		x.describe(s, w, at, &p)
	}
	if p.Len > 0 {
		at.Told += x.piece(w, at.Offset+uint32(at.Told), p.Len-at.Told)
	}
	if at.Told < p.Len {
		return false
	}
	at.PSN = at.PSN.Add(1)
	at.Packets--
	at.Offset += uint32(p.Len)
	at.Told = 0
	if p.Last {
		at.Sending, at.Offset = false, 0
	} else if at.Packets == 0 {
		x.noPacket(s, at)
	}
	return p.Last
}

// describe describes a packet. One that uses the window up asks for an
// acknowledgement too: nothing else would open it again.
func (x *Exec) describe(s *service, w *wqe, at *progress, p *packet) {
	d := x.Pkt.Next()
	*d = port.TxPkt{
		QPN:       s.Ctx.QPN,
		Opcode:    p.Opcode,
		PSN:       at.PSN,
		AckReq:    p.AckReq || at.Packets == 1 && int(s.Ctx.Window) <= x.p.PacketBudget,
		Solicited: p.Solicited,
		Len:       p.Len,
		NumPieces: 1,
		WQEIdx:    at.Idx,
	}
	if p.Last {
		d.Imm = w.Imm
	}
	if !w.Inline {
		d.NumPieces = runs(&w.SGE, at.Offset, uint32(p.Len))
	} else if p.Len == 0 {
		d.NumPieces = 0
	}
}

// piece describes the run at offset, at most n bytes, and returns its length.
func (x *Exec) piece(w *wqe, offset uint32, n uint16) uint16 {
	d := x.Piece.Next()
	if w.Inline {
		*d = port.TxPiece{Inline: true, Len: n, Data: w.Data}
		return n
	}
	r := gather(&w.SGE, offset, uint32(n))
	*d = port.TxPiece{Key: r.Key, VA: r.VA, Len: uint16(r.Len)}
	return uint16(r.Len)
}

// revoked deals with a WQE that was overwritten while its message was in
// progress: one byte is asked for under a key that does not exist. So the message
// fails as one whose memory went away, and pkt_tx reports it.
func (x *Exec) revoked(s *service, w *wqe, at *progress) {
	if at.Packets == 0 {
		x.noPacket(s, at)
		return
	}
	x.Pkt.Put(port.TxPkt{QPN: s.Ctx.QPN, Opcode: roce.RCSendMiddle, PSN: at.PSN, Len: 1, NumPieces: 1, WQEIdx: at.Idx})
	x.Piece.Put(port.TxPiece{Key: badKey, Len: 1})
	at.PSN = at.PSN.Add(1)
	at.Packets--
	at.Stop, at.Outcome = true, idle
}

// noPacket stops the service: at the budget there is another turn, at the window
// there is nothing to do before it opens.
func (x *Exec) noPacket(s *service, at *progress) {
	at.Stop, at.Outcome = true, idle
	if int(s.Ctx.Window) > x.p.PacketBudget {
		at.Outcome = more
	}
}

// noEntry stops the service: at the QP's limit there is nothing to do before an
// entry of its own ends; at the end of the table the QP waits for whichever entry
// comes back first.
func (x *Exec) noEntry(s *service, at *progress) {
	at.Stop, at.Outcome = true, starved
	if at.Used >= s.Ctx.Messages {
		at.Outcome = idle
	}
}
