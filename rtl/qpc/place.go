package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// place executes a packet in order: scatter gets it, and the context moves on.
func (c *Context) place(p *port.RxPkt, v *port.RxVerdict, e *Env) Bank {
	op, r := p.Opcode, &c.Responder
	v.Action = port.RxPlace
	if op.Ends() {
		r.MSN = r.MSN.Add(1)
	}
	v.Ack = port.AckReq{Send: p.AckReq, QPN: v.QPN, PSN: p.PSN, Syndrome: c.ack(e), MSN: r.MSN}
	psns, w := uint32(1), InResponder
	switch {
	case op.IsSend():
		c.placeSend(p, v)
	case op.IsWrite():
		c.placeWrite(p, v)
	default:
		psns = c.placeJob(p, v)
		w |= InSaved
	}
	r.Expected = r.Expected.Add(psns)
	c.established()
	return w
}

// established tells of the first good packet in RTR.
func (c *Context) established() {
	if r := &c.Responder; c.Common.State == abi.QPRTR && !r.CommEst {
		r.CommEst = true
		c.note(NoteCommEst)
	}
}

// placeSend places a packet of a SEND into the receive WQE of its message.
func (c *Context) placeSend(p *port.RxPkt, v *port.RxVerdict) {
	r := &c.Responder
	c.begin(p)
	v.Target = port.TargetRecv
	v.EndsWQE = p.Opcode.Ends()
	v.Offset = r.Offset
	c.describe(r.Held, v)
	c.advance(p, IncomingSend)
}

// placeWrite places a packet of a WRITE where its message says. One with immediate
// completes a receive WQE besides.
func (c *Context) placeWrite(p *port.RxPkt, v *port.RxVerdict) {
	r := &c.Responder
	c.begin(p)
	v.Offset = r.Offset
	if p.Len != 0 {
		v.Target = port.TargetRemote
		v.Remote = port.Remote{VA: r.VA + port.VA(r.Offset), Key: r.Key, Range: uint32(p.Len), Access: uint8(permission(p.Opcode))}
		if p.Opcode.Starts() {
			v.Remote.Range = r.Length
		}
	}
	if v.TakesWQE {
		v.EndsWQE = true
		c.describe(r.Held, v)
	}
	c.advance(p, IncomingWrite)
}

// begin sets up the message that a packet starts, if it does.
func (c *Context) begin(p *port.RxPkt) {
	r := &c.Responder
	if p.Opcode.Starts() {
		r.Offset = 0
		r.VA, r.Key, r.Length = p.Reth.VA, p.Reth.RKey, p.Reth.Len
	}
}

// advance leaves the message as it is behind a packet.
func (c *Context) advance(p *port.RxPkt, in Incoming) {
	r := &c.Responder
	r.Offset += uint32(p.Len)
	r.Incoming = in
	if p.Opcode.Ends() {
		r.Incoming = IncomingNone
	}
}

// placeJob has the key of a READ or atomic checked; responder answers then. It
// returns the PSNs that the request takes.
func (c *Context) placeJob(p *port.RxPkt, v *port.RxVerdict) (psns uint32) {
	c.Responder.Reads++
	c.answer(p, v, c.save(p))
	if p.Opcode.IsReadRequest() {
		return roce.MTU(c.Common.MTU).Packets(p.Reth.Len)
	}
	return 1
}

// answer describes what responder shall send for a READ or atomic, and the memory
// that it names, whose key is checked. v has the acknowledgement that goes with it.
func (c *Context) answer(p *port.RxPkt, v *port.RxVerdict, slot uint8) {
	op, ack := p.Opcode, &v.Ack
	ack.Send = false // the answer is the acknowledgement
	size := uint32(8)
	v.Job = port.Job{
		Kind: port.JobAtomic, QPN: v.QPN, PSN: p.PSN, Syndrome: ack.Syndrome, MSN: ack.MSN,
		VA: p.Reth.VA, Key: p.Reth.RKey, MTU: uint16(c.Common.MTU.Bytes()),
		Op: op, Swap: p.Reth.Swap, Compare: p.Reth.Compare, Slot: slot,
	}
	if op.IsReadRequest() {
		size = p.Reth.Len
		v.Job.Kind = port.JobRead
		v.Job.Op, v.Job.Swap, v.Job.Compare = 0, 0, 0
	}
	v.Job.Len = size
	if size != 0 {
		v.Target = port.TargetRemote
		v.Remote = port.Remote{VA: p.Reth.VA, Key: p.Reth.RKey, Range: size, Access: uint8(permission(op))}
	}
}

// respDone gives the responder resource of a READ or atomic back.
func (c *Context) respDone(d *port.RespDone) Bank {
	n := &c.Responder.Reads
	if d.Again {
		n = &c.Responder.Again
	}
	if *n == 0 {
		return 0
	}
	*n--
	return InResponder
}
