package dma

import (
	"rnic/hdl"
	"rnic/pcie"
	"rnic/rtl/port"
)

// maxRead is the longest read that a client may ask for, bytes.
const maxRead = 128 << 10

// shape says how the lines of a request become its beats: lane s of beat b is
// byte Rot+s of lines b and b+1, or with Lag of lines b-1 and b.
type shape struct {
	Rot   uint8 // 0..63
	Lag   bool
	Tail  uint8  // Len of the last beat
	Beats uint16 // of the answer, up to 2,049
}

// cursor is a request that is being cut into TLPs.
type cursor struct {
	Valid bool
	Begun bool // a TLP of it is out
	Addr  port.BusAddr
	Left  uint32
	Shape shape
}

// piece is one TLP of a request. Shape counts on the first alone.
type piece struct {
	Valid bool
	First bool
	Tag   pcie.Tag
	Base  uint8 // its first line, modulo those of a tag
	Lines uint8
	Shape shape
}

// cut loads the next requests and issues one TLP of one client.
func (r *Read) cut() {
	q, d := &r.Q, &r.D
	var want uint64
	for c := range d.Ask {
		if !q.Ask[c].Valid && r.Req[c].Valid() {
			d.Ask[c] = r.open(r.Req[c].Take())
		}
		if d.Ask[c].Valid {
			want |= 1 << c
		}
	}
	if want == 0 || !r.TLP.Ready() {
		return
	}
	free := ^(q.Busy | q.Late) & (^uint64(0) >> (MaxTags - r.Params.Tags))
	if t := hdl.RoundRobin(free, int(q.LastTag)); t >= 0 {
		r.issue(hdl.RoundRobin(want, int(q.Turn)), t)
	}
}

// open is the cursor of a new request.
func (r *Read) open(req *port.ReadReq) cursor {
	if req.Len == 0 || req.Len > maxRead || req.Shift >= port.BeatBytes {
		r.Fail("read of %d bytes in lane %d", req.Len, req.Shift)
	}
	end := uint32(req.Shift) + req.Len
	off := uint8(req.Addr % port.BeatBytes)
	return cursor{
		Valid: true, Addr: req.Addr, Left: req.Len,
		Shape: shape{
			Rot: (off - req.Shift) % port.BeatBytes, Lag: off < req.Shift,
			Tail: uint8((end-1)%port.BeatBytes + 1), Beats: uint16((end + port.BeatBytes - 1) / port.BeatBytes),
		},
	}
}

// issue sends the next TLP of client c under tag t.
func (r *Read) issue(c, t int) {
	d := &r.D
	a := &d.Ask[c]
	n := r.chunk(uint64(a.Addr), int(a.Left))
	off := int(a.Addr % port.BeatBytes)
	base := uint8(int(a.Addr/port.BeatBytes) & (r.lines() - 1))

	h := r.TLP.Next()
	*h = pcie.Request(pcie.MRd, uint64(a.Addr), n)
	h.ID, h.Tag = r.Params.ID, pcie.Tag(t)
	r.Issued[c].Put(piece{
		Valid: true, First: !a.Begun, Tag: pcie.Tag(t), Base: base,
		Lines: uint8((off + n + port.BeatBytes - 1) / port.BeatBytes), Shape: a.Shape,
	})

	bit := uint64(1) << t
	d.Busy |= bit
	d.Open |= bit
	d.Bad &^= bit
	d.Old &^= bit
	d.Tags[t] = tag{Left: pcie.ByteCount(n), Lower: pcie.LowerAddr(a.Addr & 0x7f), Base: base}
	d.LastTag, d.Turn = uint8(t), uint8(c)

	a.Begun = true
	a.Addr += port.BusAddr(n)
	a.Left -= uint32(n)
	a.Valid = a.Left != 0
}

// chunk is the number of bytes of the next TLP: all that is left if it lies in
// one page and in the lines of a tag, else up to a multiple of MaxReadRequest.
func (r *Read) chunk(addr uint64, left int) int {
	page := pcie.PageSize - int(addr%pcie.PageSize)
	if left <= page && int(addr%port.BeatBytes)+left <= r.Params.MaxReadRequest {
		return left
	}
	limit := r.Params.MaxReadRequest
	return min(left, limit-int(addr%uint64(limit)))
}
