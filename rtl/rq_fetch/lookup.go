package rqfetch

import (
	"math/bits"

	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// noneBad stands in tag.Bad for no unreadable entries.
const noneBad = 0xff

// tag describes a line. Entries are counted from the line's first.
type tag struct {
	QPN    port.QPN
	Base   uint16 // index of the first entry
	Lo     uint8  // first entry asked for
	Filled uint8  // entries before it have arrived
	End    uint8  // entries before it are asked for; End != Filled: a read is under way
	Bad    uint8  // entries from it on were unreadable
	Ticket uint8  // number of the last read
	Gets   uint8  // requests that Store has not answered
}

// held tells whether the line is needed by something on its way.
func (t *tag) held() bool { return t.Gets != 0 || t.End != t.Filled }

// ahead is the prefetch that a request left for the next cycle.
type ahead struct {
	Valid bool
	Found bool // Line holds the block already
	Evict bool // may displace a line not used lately
	Line  uint8
	QPN   port.QPN
	Base  uint16
	Addr  port.BusAddr // of the block
	Shift uint8        // log2 of the stride
	To    uint8        // entries posted
}

type lookupRegs struct {
	Valid  uint64 // a bit a line
	Used   uint64 // lines hit since the last sweep
	Hand   uint8  // line allocated last
	Ticket uint8  // of the last read
	Ahead  ahead
	Tags   [maxLines]tag
}

// Lookup finds lines by QP and index, and keeps the pool.
type Lookup struct {
	Get  hdl.In[port.RQGet]
	Read hdl.Out[port.ReadReq]

	Want     hdl.Out[want]
	Flight   hdl.Out[flight]
	Filled   hdl.In[filled]
	Answered hdl.In[answered]

	lines int
	hdl.Regs[lookupRegs]
}

// Eval takes what Store reports, then does a prefetch or a request.
func (l *Lookup) Eval() {
	d := &l.D
	if l.Filled.Valid() {
		f := l.Filled.Take()
		t := &d.Tags[f.Line]
		if f.Err {
			t.Bad = min(t.Bad, t.Filled)
		}
		t.Filled = t.End
	}
	if l.Answered.Valid() {
		d.Tags[l.Answered.Take().Line].Gets--
	}
	switch {
	case l.Q.Ahead.Valid:
		l.prefetch()
	case !l.Get.Valid() || !l.Want.Ready():
	case l.Get.Head().Purge:
		l.forget(l.Get.Take().QPN)
	default:
		l.request(l.Get.Head())
	}
}

// block is where an entry lies: in which line of which part of the ring.
type block struct {
	Shift  uint8        // log2 of the stride
	Per    uint16       // entries a line
	Entry  uint16       // of the line
	Base   uint16       // index of the line's first entry
	Posted uint32       // entries posted, from the line's first; may exceed Per
	Addr   port.BusAddr // of the line
	Next   port.BusAddr // of the line after it
}

// locate is the arithmetic of a request; ok is false if its stride is none.
func locate(g *port.RQGet) (b block, ok bool) {
	shift := bits.TrailingZeros16(g.Stride)
	if g.Stride != 1<<shift || shift < minLogStride || shift > maxLogStride {
		return b, false
	}
	ring := uint16(1) << min(g.Log, abi.MaxLogRing)
	b.Shift = uint8(shift)
	b.Per = min(LineBytes>>shift, ring)
	b.Entry = g.Idx & (b.Per - 1)
	b.Base = g.Idx - b.Entry
	b.Posted = uint32(b.Entry) + 1 + uint32(g.Next)
	b.Addr = g.Addr - port.BusAddr(b.Entry)<<shift
	b.Next = b.Addr + port.BusAddr(b.Per)<<shift
	if (b.Base+b.Per)&(ring-1) == 0 {
		b.Next -= port.BusAddr(ring) << shift
	}
	return b, true
}

// request serves a Get, or leaves it for a later cycle.
func (l *Lookup) request(g *port.RQGet) {
	d := &l.D
	b, ok := locate(g)
	if !ok {
		l.Get.Take()
		l.Want.Put(want{NoLine: true, Ready: true, Vendor: abi.VendorWQEFormat})
		return
	}
	entry, posted := uint8(b.Entry), uint8(min(b.Posted, uint32(b.Per)))
	cur, next := l.search(g.QPN, b.Base, b.Base+b.Per)
	if cur >= 0 && entry < d.Tags[cur].Lo {
		d.Valid &^= 1 << cur
		cur = -1
	}
	hit := cur >= 0
	if !hit {
		if !l.canFetch() {
			return
		}
		if cur = l.allocate(true, true); cur < 0 {
			return
		}
		if cur == next {
			next = -1
		}
		l.assign(cur, g.QPN, b.Base, entry)
	}
	t := &d.Tags[cur]
	if t.End < posted && t.End == t.Filled && l.canFetch() {
		l.fetch(cur, b.Addr, b.Shift, posted)
	}
	if entry >= t.End {
		return // wait for the read under way, or for dma, to read the rest
	}
	w := want{Line: uint8(cur), Idx: g.Idx, Entry: entry, LogStride: b.Shift, Ready: entry < t.Filled, Ticket: t.Ticket}
	if entry >= t.Bad {
		w.Vendor = abi.VendorWQERead
	}
	l.Want.Put(w)
	t.Gets++
	d.Used |= 1 << cur
	l.look(g.QPN, &b, next, hit)
	if g.Done && b.Entry == b.Per-1 {
		d.Valid &^= 1 << cur
	}
	l.Get.Take()
}

// search finds the lines of a QP with the given bases, or -1, and drops others.
func (l *Lookup) search(qpn port.QPN, base, nextBase uint16) (cur, next int) {
	cur, next = -1, -1
	for set := l.Q.Valid; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		t := &l.Q.Tags[i]
		switch {
		case t.QPN != qpn:
		case t.Base == base:
			cur = i
		case t.Base == nextBase:
			next = i
		default:
			l.D.Valid &^= 1 << i
		}
	}
	return cur, next
}

// look leaves a prefetch of the next line, if it has posted entries that are not
// yet asked for. Only a QP that found its line, so that lines live long enough to
// be of use, may displace another's.
func (l *Lookup) look(qpn port.QPN, b *block, next int, hit bool) {
	if b.Posted <= uint32(b.Per) {
		return
	}
	to := uint8(min(b.Posted-uint32(b.Per), uint32(b.Per)))
	a := ahead{Valid: true, Evict: hit, QPN: qpn, Base: b.Base + b.Per, Addr: b.Next, Shift: b.Shift, To: to}
	if next >= 0 {
		t := &l.D.Tags[next]
		if t.End >= to || t.End != t.Filled {
			return
		}
		a.Found, a.Line = true, uint8(next)
	}
	l.D.Ahead = a
}

// prefetch does what look left, if there is room now; else a later request will.
func (l *Lookup) prefetch() {
	a := l.Q.Ahead
	l.D.Ahead = ahead{}
	if !l.canFetch() {
		return
	}
	line := int(a.Line)
	if !a.Found {
		if line = l.allocate(a.Evict, false); line < 0 {
			return
		}
		l.assign(line, a.QPN, a.Base, 0)
	}
	l.fetch(line, a.Addr, a.Shift, a.To)
}

// forget drops the lines of a QP. The answer comes when the reads so far have.
func (l *Lookup) forget(qpn port.QPN) {
	for i := range l.lines {
		if l.D.Tags[i].QPN == qpn {
			l.D.Valid &^= 1 << i
		}
	}
	l.Want.Put(want{NoLine: true, Ticket: l.Q.Ticket})
}

// allocate picks a line for new use: a free one, else with evict one not used
// since the last sweep; sweep starts a new one if need be. It returns -1 if
// there is none.
func (l *Lookup) allocate(evict, sweep bool) int {
	d := &l.D
	idle := uint64(0)
	for i := range l.lines {
		if !d.Tags[i].held() {
			idle |= 1 << i
		}
	}
	set := idle &^ d.Valid
	if set == 0 && evict {
		set = idle &^ d.Used
		if set == 0 && sweep && idle != 0 {
			set, d.Used = idle, 0
		}
	}
	return hdl.RoundRobin(set, int(d.Hand))
}

// assign gives a line to a block of a ring, with nothing read yet.
func (l *Lookup) assign(line int, qpn port.QPN, base uint16, lo uint8) {
	d := &l.D
	d.Tags[line] = tag{QPN: qpn, Base: base, Lo: lo, Filled: lo, End: lo, Bad: noneBad}
	d.Valid |= 1 << line
	d.Used &^= 1 << line
	d.Hand = uint8(line)
}

// canFetch tells whether a read may start in this cycle.
func (l *Lookup) canFetch() bool { return l.Read.Ready() && l.Flight.Ready() }

// fetch reads the entries from those asked for so far up to to.
func (l *Lookup) fetch(line int, addr port.BusAddr, shift, to uint8) {
	d := &l.D
	t := &d.Tags[line]
	at := uint16(t.End) << shift
	lane := uint8(at % port.BeatBytes)
	l.Read.Put(port.ReadReq{Addr: addr + port.BusAddr(at), Len: uint32(to-t.End) << shift, Shift: lane})
	l.Flight.Put(flight{Line: uint8(line), Word: uint8(at / port.BeatBytes), Shift: lane})
	d.Ticket++
	t.Ticket, t.End = d.Ticket, to
}
