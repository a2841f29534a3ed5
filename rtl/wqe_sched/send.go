package wqesched

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// send describes one run of a packet, with the packet itself before its first
// one, and tells whether the message is done.
func (x *Exec) send(s *service, w *wqe, at *progress) bool {
	if at.Told == 0 && at.shut() {
		at.noPacket()
		return false
	}
	p := cut(w, at.Offset, at.PSN, mtuShift(&s.Ctx))
	if at.Told == 0 {
		x.describe(s, w, at, &p)
	}
	if p.Len > 0 {
		at.Told += x.piece(w, at.Offset+uint32(at.Told), p.Len-at.Told)
	}
	if at.Told < p.Len {
		return false
	}
	at.sent(1)
	at.Offset += uint32(p.Len)
	at.Told = 0
	if p.Last {
		at.Offset = 0
	} else if at.shut() {
		at.noPacket()
	}
	return p.Last
}

// read describes the request of a READ or atomic, and tells whether it did. It
// takes the PSNs of the responses, beyond the end of the window if need be: they
// take no room of the peer's. A window that is all there is no condition either, or
// a READ longer than the window would never start. One that is sent again asks for
// the responses from PSN on.
func (x *Exec) read(s *service, w *wqe, at *progress) bool {
	if at.shut() {
		at.noPacket()
		return false
	}
	n := packetsOf(w.Len-at.Offset, mtuShift(&s.Ctx))
	d := x.Pkt.Next()
	*d = port.TxPkt{
		QPN:     s.Ctx.QPN,
		Gen:     s.Ctx.Gen,
		Opcode:  readOpcode(w.Op),
		PSN:     at.PSN,
		LastPSN: at.PSN.Add(n - 1),
		AckReq:  true,
		Reth:    w.Remote,
		WQEIdx:  at.Idx,
	}
	d.Reth.VA += port.VA(at.Offset)
	d.Reth.Len -= at.Offset
	at.sent(n)
	at.Offset = 0
	return true
}

// describe describes a packet. One that uses the window up asks for an
// acknowledgement too: nothing else would open it again. Where nobody answers none
// asks.
func (x *Exec) describe(s *service, w *wqe, at *progress, p *packet) {
	c := &s.Ctx
	d := x.Pkt.Next()
	*d = port.TxPkt{
		QPN:       c.QPN,
		Gen:       c.Gen,
		Opcode:    opcodeOf(c.Type, p.Opcode),
		PSN:       at.PSN,
		LastPSN:   at.PSN,
		AckReq:    (p.AckReq || at.Window == 1) && !unacked(c.Type),
		Unacked:   unacked(c.Type),
		Raw:       c.Type == abi.QPTypeRaw,
		Solicited: p.Solicited,
		Len:       p.Len,
		NumPieces: 1,
		WQEIdx:    at.Idx,
	}
	if p.Last {
		d.Imm = w.Imm
	}
	if p.Opcode.HasRETH() {
		d.Reth = w.Remote
	}
	if c.Type == abi.QPTypeUD {
		d.UD, d.AH, d.DestQPN, d.QKey = true, w.AH, w.DestQPN, w.QKey
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
