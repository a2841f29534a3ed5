package scatter

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// kind is what an element of the pipeline asks for.
type kind uint8

const (
	frameOnly kind = iota // release the frame
	deliver               // place the payload
	reply                 // pass the acknowledgement on, end a WQE in error
	flush                 // complete a WQE as flushed
	failed                // a fault has been dealt with
	purge                 // marker
)

// Width is 3 bits.
func (kind) Width() int { return 3 }

func (k kind) String() string {
	return [...]string{"FRAME", "DELIVER", "REPLY", "FLUSH", "FAILED", "PURGE", "RESERVED", "RESERVED"}[k&7]
}

// packet is what the stages after Front need of a Place.
type packet struct {
	Kind    kind
	Frame   bool // Beats of rx_buf are to be released
	Beats   uint8
	Fetch   bool // rq_fetch answers
	WQE     bool // RQIdx is a receive WQE of this message
	Ends    bool // the packet completes it
	HasImm  bool
	Solicit bool
	QPN     port.QPN
	PD      port.PD
	RecvCQN port.CQN
	SrcQPN  port.QPN
	RQIdx   uint16
	Len     uint16
	Offset  uint32
	BufAddr uint32
	Imm     uint32
	PSN     roce.PSN
	MSN     port.MSN
	Ack     port.AckReq
	Status  abi.WCStatus // reply: of the WQE; deliver: the fault found so far
	Vendor  abi.VendorErr
}

// classify says what a Place asks for.
func classify(p *port.Place) kind {
	switch {
	case p.Purge:
		return purge
	case p.V.Kind == port.RxFault:
		return failed
	case p.V.Action == port.RxFlushed:
		return flush
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
	k := classify(p)
	return packet{
		Kind: k, Frame: p.HasFrame, Beats: p.Beats,
		Fetch: k == purge || k == deliver && (p.Len != 0 || v.EndsWQE),
		WQE:   k == deliver || k == flush || k == reply && v.Error,
		Ends:  v.EndsWQE, HasImm: p.HasImm, Solicit: p.Solicit,
		QPN: v.QPN, PD: v.PD, RecvCQN: v.RecvCQN, SrcQPN: v.SrcQPN,
		RQIdx: v.RQIdx, Len: p.Len, Offset: v.Offset, BufAddr: p.BufAddr, Imm: p.Imm,
		PSN: p.PSN, MSN: p.MSN, Ack: v.Ack, Status: v.Status, Vendor: v.Vendor,
	}
}

// completion is the CQE of a message received.
func (p *packet) completion() port.CQEReq {
	c := port.CQEReq{
		CQN: p.RecvCQN, QPN: p.QPN, UnitIdx: p.RQIdx, Opcode: abi.WCRecv, SrcQPN: p.SrcQPN,
		ByteLen: p.Offset + uint32(p.Len), Solicited: p.Solicit,
	}
	if p.HasImm {
		c.Imm, c.Flags = p.Imm, uint8(abi.CQEWithImm)
	}
	return c
}

// failure is the CQE of the packet's receive WQE in error.
func (p *packet) failure(s abi.WCStatus, v abi.VendorErr) port.CQEReq {
	return port.CQEReq{
		CQN: p.RecvCQN, QPN: p.QPN, UnitIdx: p.RQIdx, Opcode: abi.WCRecv, Status: s, Vendor: v, Solicited: true,
	}
}
