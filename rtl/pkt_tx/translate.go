package pkttx

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// Translate goes through the pieces of each packet of the payload lane, asks mpt
// for those in host memory, and passes the packet on to Send behind its last
// piece. Of a request that qpc dropped it takes the pieces, and that is all. A
// response that qpc dropped goes on to Send, without payload, to be counted; so does a
// datagram without address, to be reported.
type Translate struct {
	hdl.Regs[translateState]
	ReqPiece  hdl.In[port.TxPiece]
	RespPiece hdl.In[port.TxPiece]
	Mpt       hdl.Out[port.MptReq]

	in  hdl.In[job]
	out hdl.Out[job]
	ops hdl.Out[op]
}

type translateState struct {
	Piece  uint8  // index of the next piece
	Offset uint16 // payload bytes before it
}

// op is one piece for Load.
type op struct {
	Inline bool
	Resp   bool
	From   origin
	First  bool // of its packet
	Last   bool
	Len    uint16
	Start  uint8 // lane of the first byte of the packet's payload
	Lane   uint8 // lane of the first byte of this piece
	Beats  uint8 // that the packet's payload takes
	Data   [beatBytes]byte
}

// Eval deals with one piece.
func (t *Translate) Eval() {
	q, d := &t.Q, &t.D
	if !t.in.Valid() {
		return
	}
	j := t.in.Head()
	forget := j.Hdr.Drop && !j.Pkt.Resp
	if j.Pkt.Purge || j.Pkt.NumPieces == 0 {
		if forget {
			t.in.Take()
		} else if t.out.Ready() {
			t.pass(0)
		}
		return
	}
	pieces := &t.ReqPiece
	if j.Pkt.Resp {
		pieces = &t.RespPiece
	}
	last := q.Piece+1 == j.Pkt.NumPieces
	if !pieces.Valid() || last && !forget && !t.out.Ready() {
		return
	}
	piece := pieces.Head()
	end := q.Offset + piece.Len
	if !j.Hdr.Drop && !j.Hdr.BadAH {
		if !t.ops.Ready() || !piece.Inline && !t.Mpt.Ready() {
			return
		}
		t.issue(j, piece, last)
	}
	pieces.Take()
	d.Piece, d.Offset = q.Piece+1, end
	if last {
		d.Piece, d.Offset = 0, 0
		if forget {
			t.in.Take()
		} else {
			t.pass(end)
		}
	}
}

// pass hands the packet on; its pieces must have come to its length.
func (t *Translate) pass(end uint16) {
	j := t.in.Take()
	if end != j.Pkt.Len {
		t.Fail("pieces of %d bytes for a packet of %d", end, j.Pkt.Len)
	}
	out := t.out.Next()
	*out = *j
	if j.Hdr.BadAH {
		out.Pkt.Len = 0
	}
}

func (t *Translate) issue(j *job, piece *port.TxPiece, last bool) {
	q := &t.Q
	if !piece.Inline {
		*t.Mpt.Next() = port.MptReq{
			QPN: j.Pkt.QPN, Key: piece.Key, VA: piece.VA, Len: piece.Len, PD: j.Hdr.PD, Access: piece.Access,
		}
	}
	o := t.ops.Next()
	o.Resp, o.From = j.Pkt.Resp, j.origin()
	o.Inline, o.First, o.Last, o.Len = piece.Inline, q.Piece == 0, last, piece.Len
	o.Start, o.Beats = j.lane(), j.beats()
	o.Lane = uint8((int(o.Start) + int(q.Offset)) % beatBytes)
	o.Data = piece.Data
}
