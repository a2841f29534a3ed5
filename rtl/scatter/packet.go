package scatter

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// kind is what an element of the pipeline asks for.
type kind uint8

const (
	frameOnly kind = iota // release the frame, pass the event on
	deliver               // place the payload
	reply                 // pass the acknowledgement on, end a WQE in error
	flush                 // complete a WQE as flushed, or as broken
	failed                // a fault has been dealt with
	purge                 // marker
	lastWQE               // there is no completion of the QP behind this
)

// Width is 3 bits.
func (kind) Width() int { return 3 }

func (k kind) String() string {
	return [...]string{"FRAME", "DELIVER", "REPLY", "FLUSH", "FAILED", "PURGE", "LAST_WQE", "RESERVED"}[k&7]
}

// atomicBytes is what an atomic works on, and what its acknowledgement brings.
const atomicBytes = 8

// packet is what the stages after Front need of a Place.
type packet struct {
	Kind    kind
	Target  port.RxTarget
	Frame   bool // Beats of rx_buf are to be released
	Beats   uint8
	Fetch   bool // rq_fetch answers
	WQE     bool // RQIdx is a receive WQE of this message
	Ends    bool // the packet completes it
	Atomic  bool // request: to be done where the key leads
	Again   bool // duplicate of a READ or atomic: a fault in it is silent
	Value   bool // acknowledgement of an atomic: Data is what is placed
	Kill    bool // the key in Imm is to be made invalid
	Kept    bool // Aside has more of it
	Event   bool // which is an event, too
	Counted bool // Front counts it
	Send    bool // failed: of a fault in a response
	Write   bool // the receive WQE is a WRITE's
	SRQ     bool // the receive WQE is a shared queue's
	Quiet   bool // of a QP that goes on after faults that are the peer's
	Solicit bool
	Flags   uint8 // of the completion
	QPN     port.QPN
	PD      port.PD
	RQPD    port.PD // of the elements of the receive WQE
	RecvCQN port.CQN
	SrcQPN  port.QPN
	RQIdx   uint16
	Slot    uint16 // of the receive WQE, for its completion
	Len     uint16
	Need    uint16 // bytes that the receive WQE must have, from its beginning
	Offset  uint32
	BufAddr uint32
	Imm     uint32
	PSN     roce.PSN
	MSN     port.MSN
	Remote  port.Remote
	Data    uint64
	Answer  answer
	Synd    uint8        // answer an ACK: its syndrome,
	AckPSN  roce.PSN     // PSN
	AckMSN  port.MSN     // and MSN
	Status  abi.WCStatus // reply, flush: of the WQE; deliver: the fault found so far
	Vendor  abi.VendorErr
}

// answer is what a packet has responder send.
type answer uint8

const (
	answerNone answer = iota
	answerAck         // acknowledgement or NAK
	answerJob         // job in Aside
)

// Width is 2 bits.
func (answer) Width() int { return 2 }

func (a answer) String() string { return [...]string{"NONE", "ACK", "JOB", "RESERVED"}[a&3] }

// classify says what a Place asks for.
func classify(p *port.Place) kind {
	switch {
	case p.Broken:
		return flush
	case p.Purge:
		return purge
	case p.V.Kind == port.RxFault:
		return failed
	case p.V.Action == port.RxFlushed:
		return flush
	case p.V.Action == port.RxNothing && p.V.LastWQE:
		return lastWQE
	case p.V.Action == port.RxReply, p.V.Action == port.RxPlace && p.V.Error:
		return reply
	case p.V.Action == port.RxPlace:
		return deliver
	}
	return frameOnly
}

// newPacket is the packet of a Place.
func newPacket(p *port.Place) packet {
	v := &p.V
	out := packet{
		Kind: classify(p), Target: v.Target, Frame: p.HasFrame, Beats: p.Beats,
		Ends: v.EndsWQE && !p.GRH, Send: p.Send, Solicit: p.Solicit,
		SRQ: v.SRQ, Quiet: v.Quiet, QPN: v.QPN, PD: v.PD, RQPD: v.RQPD, RecvCQN: v.RecvCQN, SrcQPN: v.SrcQPN,
		RQIdx: v.RQIdx, Len: p.Len, Need: p.Need, Offset: v.Offset, BufAddr: p.BufAddr, Imm: p.Imm,
		PSN: p.PSN, MSN: p.MSN, Remote: v.Remote, Data: p.Value,
		Synd: v.Ack.Syndrome, AckPSN: v.Ack.PSN, AckMSN: v.Ack.MSN, Status: v.Status, Vendor: v.Vendor,
	}
	switch {
	case out.Kind == frameOnly, p.Broken, p.GRH:
	case v.Job.Kind != port.JobNone:
		out.Answer = answerJob
	case v.Ack.Send:
		out.Answer = answerAck
	}
	out.Event = (v.HasEvent || v.Action == port.RxAck) && !p.Broken && !p.GRH
	out.WQE = out.Kind == flush || out.Kind == reply && v.Error
	switch {
	case p.Broken:
		out.SRQ, out.RQIdx, out.Status, out.Vendor = true, v.Broken, v.BrokenStatus, v.BrokenVendor
	case out.Kind == flush:
		out.Status, out.Vendor = abi.StatusWRFlush, abi.VendorFlush
	case out.Kind == deliver:
		out.place(p)
	}
	out.Slot = out.RQIdx
	out.Fetch = out.Fetch || out.Kind == purge || out.SRQ && out.WQE
	return out
}

// place fills in what a packet with payload, or with a check, is about.
func (p *packet) place(from *port.Place) {
	op, job := from.Opcode, from.V.Job.Kind
	p.Status, p.Vendor = abi.StatusSuccess, abi.VendorNone
	switch p.Target {
	case port.TargetRecv:
		p.Fetch, p.WQE, p.Kill = p.Len != 0 || p.Ends, true, p.Ends && op.HasIETH()
	case port.TargetSend:
		if p.Value = op == roce.RCAtomicAck; p.Value {
			p.Len, p.BufAddr = atomicBytes, 0
		}
		p.Fetch, p.WQE, p.Ends = p.Len != 0, false, false
	case port.TargetRemote, port.TargetNone:
		p.WQE, p.Write, p.Again = from.V.TakesWQE, true, from.V.Job.Again
		switch {
		case job == port.JobRead, p.Again: // nothing is written
			p.Len = 0
		case job == port.JobAtomic:
			p.Atomic, p.Len = true, atomicBytes
		}
	}
	switch {
	case from.HasImm:
		p.Flags = uint8(abi.CQEWithImm)
	case p.Kill:
		p.Flags = uint8(abi.CQEWithInv)
	case from.VLAN:
		p.Flags = uint8(abi.CQEVLAN)
	}
	if from.V.GRH {
		p.Flags |= uint8(abi.CQEGRH)
	}
}

// scattered tells whether the bytes of a packet with payload go along the list of the
// WQE that is fetched. Of a WRITE that takes one of a shared queue only the slot counts.
func (p *packet) scattered() bool {
	return p.Target == port.TargetRecv || p.Target == port.TargetSend
}

// ends tells whether a fault or what follows it ends the receive WQE of a packet, if it
// has one. One that goes back to its queue (quiet) does not, for it will be used again.
func (p *packet) ends(quiet bool) bool { return p.WQE && (p.SRQ || !quiet) }

// completion is the CQE of a message received.
func (p *packet) completion() port.CQEReq {
	c := port.CQEReq{
		CQN: p.RecvCQN, QPN: p.QPN, UnitIdx: p.Slot, Opcode: abi.WCRecv, SrcQPN: p.SrcQPN,
		ByteLen: p.Offset + uint32(p.Len), Solicited: p.Solicit, Flags: p.Flags,
	}
	if p.Write {
		c.Opcode = abi.WCRecvWithImm
	}
	if p.Flags&^uint8(abi.CQEGRH) != 0 {
		c.Imm = p.Imm
	}
	return c
}

// failure is the CQE of the packet's receive WQE in error.
func (p *packet) failure(s abi.WCStatus, v abi.VendorErr) port.CQEReq {
	return port.CQEReq{
		CQN: p.RecvCQN, QPN: p.QPN, UnitIdx: p.Slot, Opcode: abi.WCRecv, Status: s, Vendor: v, Solicited: true,
	}
}
