package dma

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// reader is what deliver knows of a client: its two oldest TLPs and where it is
// in their lines.
type reader struct {
	Cur, Next piece
	At        uint8  // lines of Cur that are done with
	Left      uint16 // beats of the request still to send, 0: none at hand
	Rot       uint8
	Tail      uint8
	Lag       bool // the next beat is the first, and has no lower line
	Bad       bool // a TLP of the request failed
}

// fetch is a beat whose lines are being read from the RAM.
type fetch struct {
	Valid  bool
	Client uint8
	Low    uint8 // bank of the lower line
	Rot    uint8
	Len    uint8
	Last   bool
	Err    bool
}

// deliver hands out the beat whose lines were read, and reads those of the next.
func (r *Read) deliver() {
	q, d := &r.Q, &r.D
	if !q.Beat.Valid || r.Data[q.Beat.Client].Ready() {
		d.Beat.Valid = false
		if q.Beat.Valid {
			r.send()
		}
		var can uint64
		for c := range q.Get {
			if q.Get[c].Left != 0 && r.Data[c].Ready() && r.complete(&q.Get[c]) {
				can |= 1 << c
			}
		}
		if c := hdl.RoundRobin(can, int(q.Pick)); c >= 0 {
			d.Pick = uint8(c)
			r.fetch(c)
		}
	}
	for c := range d.Get {
		r.refill(c)
	}
}

// send puts the beat whose lines are there.
func (r *Read) send() {
	f := &r.Q.Beat
	b := r.Data[f.Client].Next()
	b.Len, b.Last, b.Err = f.Len, f.Last, f.Err
	n := copy(b.Data[:], r.Bank[f.Low].Data(1)[f.Rot:])
	copy(b.Data[n:], r.Bank[f.Low^1].Data(1)[:])
}

// upper tells whether the next beat has bytes of an upper line.
func (g *reader) upper() bool {
	return g.Lag || g.Rot != 0 && (g.Left > 1 || g.Tail > port.BeatBytes-g.Rot)
}

// complete tells whether the lines of the next beat have come.
func (r *Read) complete(g *reader) bool {
	switch {
	case !g.Cur.Valid || !r.came(&g.Cur, g.At):
		return false
	case g.Lag || !g.upper():
		return true
	case g.At+1 < g.Cur.Lines:
		return r.came(&g.Cur, g.At+1)
	}
	return g.Next.Valid && r.came(&g.Next, 0)
}

// came tells whether line i of a TLP has come, or will never come.
func (r *Read) came(p *piece, i uint8) bool {
	return r.Q.Open>>p.Tag&1 == 0 || r.Q.Tags[p.Tag].Lines > i
}

// fetch reads the lines of the next beat of client c and steps on.
func (r *Read) fetch(c int) {
	q, d := &r.Q, &r.D
	g, n := &q.Get[c], &d.Get[c]
	last := g.Left == 1
	low, addr := r.slot(int(g.Cur.Tag), int(g.Cur.Base)+int(g.At))
	r.Bank[low].Read(1, addr)
	used := g.At + 1 // lines of Cur that are done with after the beat
	bad := g.Bad || q.Bad>>g.Cur.Tag&1 != 0
	across := false // the beat ends in Next
	if g.Lag {
		low ^= 1
		if !last {
			used = 0
		}
	} else if g.upper() {
		p, i := &g.Cur, int(g.At)+1
		if across = g.At+1 == g.Cur.Lines; across {
			p, i = &g.Next, 0
			bad = bad || q.Bad>>p.Tag&1 != 0
		}
		bank, addr := r.slot(int(p.Tag), int(p.Base)+i)
		r.Bank[bank].Read(1, addr)
	}
	d.Beat = fetch{
		Valid: true, Client: uint8(c), Low: uint8(low), Rot: g.Rot,
		Len: port.BeatBytes, Last: last, Err: last && bad,
	}
	n.Left, n.Lag, n.At = g.Left-1, false, used
	switch {
	case last:
		d.Beat.Len = g.Tail
		n.Cur.Valid, n.Bad = false, false
		d.Busy &^= 1 << g.Cur.Tag
		if across {
			n.Next.Valid = false
			d.Busy &^= 1 << g.Next.Tag
		}
	case used == g.Cur.Lines:
		n.Cur.Valid = false
		n.Bad = g.Bad || q.Bad>>g.Cur.Tag&1 != 0
		d.Busy &^= 1 << g.Cur.Tag
	}
}

// refill moves the TLPs of client c up and starts on a request.
func (r *Read) refill(c int) {
	g := &r.D.Get[c]
	if !g.Cur.Valid && g.Next.Valid {
		g.Cur, g.At = g.Next, 0
		g.Next.Valid = false
	}
	if r.Queue[c].Valid() {
		if !g.Cur.Valid {
			g.Cur, g.At = *r.Queue[c].Take(), 0
		} else if !g.Next.Valid {
			g.Next = *r.Queue[c].Take()
		}
	}
	if g.Cur.Valid && g.Left == 0 {
		s := &g.Cur.Shape
		g.Left, g.Rot, g.Tail, g.Lag = s.Beats, s.Rot, s.Tail, s.Lag
	}
}
