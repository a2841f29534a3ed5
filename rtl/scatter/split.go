package scatter

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

type splitRegs struct {
	Piece uint8 // of the packet at the head
	Waits bool  // it has been passed on; Collect has yet to say what becomes of its key
}

// Split cuts a packet along the scatter list of its WQE, a piece a cycle, or has
// mpt look at the memory that the packet itself names.
//
// A SEND with invalidate stays until Collect knows that all of its data can be
// placed. Then mpt makes the key invalid, behind all that was translated before and
// before all that comes later.
type Split struct {
	In    hdl.In[packet]
	RQWQE hdl.In[port.RQWQE]
	Mpt   hdl.Out[port.MptReq]
	Out   hdl.Out[checked]
	Kill  hdl.In[bool]
	hdl.Regs[splitRegs]
}

// Eval sends one piece, or a packet that has none.
func (s *Split) Eval() {
	if !s.In.Valid() || !s.Mpt.Ready() {
		return
	}
	p := s.In.Head()
	if s.Q.Waits {
		s.kill(p)
		return
	}
	if !s.Out.Ready() || p.Fetch && !s.RQWQE.Valid() {
		return
	}
	out := s.Out.Next()
	*out = checked{Last: true, P: *p}
	if p.Fetch && p.SRQ {
		out.P.Slot = s.RQWQE.Head().Slot
	}
	switch {
	case p.Kind != deliver:
	case p.Fetch && s.RQWQE.Head().Err:
		out.P.Status, out.P.Vendor = abi.StatusLocQPOp, s.RQWQE.Head().Vendor
	case p.Fetch && p.scattered():
		s.cut(s.RQWQE.Head(), out)
	case p.Target == port.TargetRemote:
		s.Mpt.Put(port.MptReq{
			QPN: p.QPN, Key: p.Remote.Key, VA: p.Remote.VA, Len: p.Len, Range: p.Remote.Range, PD: p.PD, Access: p.Remote.Access,
		})
		out.Mpt = true
	}
	if !out.Last {
		s.D.Piece++
		return
	}
	s.D.Piece = 0
	if p.Fetch {
		s.RQWQE.Take()
	}
	if p.Kill {
		s.D.Waits = true
		return
	}
	s.In.Take()
}

// kill lets a packet go on whose key Collect has decided on.
func (s *Split) kill(p *packet) {
	if !s.Kill.Valid() {
		return
	}
	if *s.Kill.Take() {
		s.Mpt.Put(port.MptReq{QPN: p.QPN, Key: port.Key(p.Imm), PD: p.PD, Invalidate: true})
	}
	s.D.Waits = false
	s.In.Take()
}

// cut fills in the next piece, or the fault, of the packet in out. The pieces of a
// packet with a key to invalidate are not its last element.
func (s *Split) cut(w *port.RQWQE, out *checked) {
	p := &out.P
	pieces, n, fits := overlap(w, p.Offset, p.Len, p.Need)
	i, pd := s.Q.Piece, p.PD
	if p.Target == port.TargetRecv {
		pd = p.RQPD
	}
	switch {
	case !fits:
		p.Status, p.Vendor = abi.StatusLocLen, abi.VendorRecvTooLong
		if p.Target == port.TargetSend {
			p.Vendor = abi.VendorRespLength
		}
	case i < n:
		s.Mpt.Put(port.MptReq{
			QPN: p.QPN, Key: pieces[i].Key, VA: pieces[i].VA, Len: pieces[i].Len, PD: pd, Access: uint8(abi.AccessLocalWrite),
		})
		out.Mpt, out.Last = true, i == n-1 && !p.Kill
	}
}
