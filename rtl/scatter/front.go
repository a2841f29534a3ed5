package scatter

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// Front takes Places and asks rq_fetch for the receive WQE that a packet needs:
// one with payload to know where it goes, and the last of a message to know that
// the WQE is sound. A marker has rq_fetch forget the QP, and waits for that.
type Front struct {
	Place hdl.In[port.Place]
	RQGet hdl.Out[port.RQGet]
	Out   hdl.Out[packet]
	hdl.Regs[struct{}]
}

// Eval passes a Place on.
func (f *Front) Eval() {
	if !f.Place.Valid() || !f.Out.Ready() || !f.RQGet.Ready() {
		return
	}
	p := f.Place.Take()
	out := newPacket(p)
	if out.Fetch {
		v := &p.V
		f.RQGet.Put(port.RQGet{
			Purge: p.Purge, QPN: v.QPN, Idx: v.RQIdx, Addr: v.RQAddr, Stride: v.RQStride,
			Next: v.RQNext, Log: v.RQLog, Done: v.EndsWQE,
		})
	}
	f.Out.Put(out)
}

type splitRegs struct {
	Piece uint8 // of the packet at the head
}

// Split cuts a packet along its receive WQE's scatter list, a piece a cycle.
type Split struct {
	In    hdl.In[packet]
	RQWQE hdl.In[port.RQWQE]
	Mpt   hdl.Out[port.MptReq]
	Out   hdl.Out[checked]
	hdl.Regs[splitRegs]
}

// Eval sends one piece, or a packet that has none.
func (s *Split) Eval() {
	if !s.In.Valid() || !s.Out.Ready() || !s.Mpt.Ready() {
		return
	}
	p := s.In.Head()
	if p.Fetch && !s.RQWQE.Valid() {
		return
	}
	out := s.Out.Next()
	*out = checked{Last: true, P: *p}
	if p.Fetch && p.Kind == deliver {
		s.cut(s.RQWQE.Head(), out)
	}
	if !out.Last {
		s.D.Piece++
		return
	}
	s.D.Piece = 0
	s.In.Take()
	if p.Fetch {
		s.RQWQE.Take()
	}
}

// cut fills in the next piece, or the fault, of the packet in out.
func (s *Split) cut(w *port.RQWQE, out *checked) {
	p := &out.P
	if w.Err {
		p.Status, p.Vendor = abi.StatusLocQPOp, w.Vendor
		return
	}
	pieces, n, fits := overlap(w, p.Offset, p.Len)
	i := s.Q.Piece
	switch {
	case !fits:
		p.Status, p.Vendor = abi.StatusLocLen, abi.VendorRecvTooLong
	case i < n:
		s.Mpt.Put(port.MptReq{
			Key: pieces[i].Key, VA: pieces[i].VA, Len: pieces[i].Len, PD: p.PD, Access: uint8(abi.AccessLocalWrite),
		})
		out.Mpt, out.Last = true, i == n-1
	}
}
