package rqfetch

import (
	"math/bits"

	"rnic/hdl"
	"rnic/rtl/port"
)

// tag describes a line. Entries of a receive queue are counted from the line's
// first; the entries of a send WQE are its units.
type tag struct {
	QPN    port.QPN // of a shared queue its number
	Base   uint16   // index of the first entry, or of the send WQE; of a shared queue the slot
	Lo     uint8    // first entry asked for
	Filled uint8    // entries before it have arrived
	End    uint8    // entries before it are asked for; End != Filled: a read is under way
	Gen    bool     // changes with each new use of the line
	Gets   uint8    // requests that Store has not answered
	Upto   uint16   // of a shared queue: number of the last entry posted when it was read
	Bad    bool     // of a shared queue: it could not be read
}

// held tells whether the line is needed by something on its way.
func (t *tag) held() bool { return t.Gets != 0 || t.End != t.Filled }

// prefetch is what a request left for the next cycle.
type prefetch struct {
	Valid bool
	Found bool // Line holds the block already
	Evict bool // may displace a line not used lately
	Line  uint8
	QPN   port.QPN
	Base  uint16
	Addr  port.BusAddr // of the block
	Shift uint8        // log2 of the stride
	To    uint8        // entries posted

	Shared bool // of a shared queue: entries From up to To are read
	From   uint8
	Upto   uint16
}

// rest is the second read of a send WQE that goes on at the ring's beginning.
type rest struct {
	Valid bool
	Line  uint8
	From  uint8 // unit of the WQE
	Addr  port.BusAddr
}

// recent is the entry of a receive queue that was asked for last. A datagram asks twice
// for its own: for its header and for its data.
type recent struct {
	Valid bool
	QPN   port.QPN
	Idx   uint16
	Row   bool // the one before was of the same queue
}

// same tells whether a request is for that entry again.
func (r *recent) same(g *port.RQGet) bool { return r.Valid && r.QPN == g.QPN && r.Idx == g.Idx }

// then is the entry asked for next.
func (r *recent) then(g *port.RQGet) recent {
	if r.same(g) {
		return *r
	}
	return recent{Valid: true, QPN: g.QPN, Idx: g.Idx, Row: r.Valid && r.QPN == g.QPN}
}

type lookupRegs struct {
	Valid  uint64 // a bit a line
	Used   uint64 // lines hit since the last sweep
	SQ     uint64 // lines that hold a send WQE
	Shared uint64 // lines that hold entries of a shared queue
	Hand   uint8  // line allocated last
	Last   recent
	Next   prefetch
	Srq    sharedRegs
	Rest   rest
	Tags   [maxLines]tag
}

// Lookup finds lines by QP and index, and keeps the pool.
type Lookup struct {
	Get   hdl.In[port.RQGet]
	Ahead hdl.In[port.SQAhead]
	Read  hdl.Out[port.ReadReq]

	Want     hdl.Out[want]
	Flight   hdl.Out[flight]
	Filled   hdl.In[filled]
	Answered hdl.In[answered]
	Link     hdl.In[links]

	// Port 0 reads, port 1 writes.
	Lists hdl.RAM[list]               // by SRQN
	Held  hdl.RAM[held]               // by QPN
	Links hdl.RAM[[linksPerWord]link] // by line and word, of those of shared queues

	lines int
	hdl.Regs[lookupRegs]
}

// Eval takes what Store reports, then starts a read ahead of its need or deals with
// a request.
func (l *Lookup) Eval() {
	q, d := &l.Q, &l.D
	if l.Filled.Valid() {
		f := l.Filled.Take()
		t := &d.Tags[f.Line]
		t.Filled, t.Bad = t.End, f.Err
	}
	if l.Link.Valid() {
		k := l.Link.Take()
		l.Links.Write(1, int(k.Line)*wordsPerLine+int(k.Word), &k.Link)
	}
	if l.Answered.Valid() {
		d.Tags[l.Answered.Take().Line].Gets--
	}
	switch {
	case q.Srq.Linked:
		l.follow(l.Get.Head())
	case q.Rest.Valid:
		l.rest()
	case q.Next.Valid:
		l.prefetch()
	case l.Ahead.Valid() && l.canFetch():
		l.ahead(l.Ahead.Take())
	case !l.Get.Valid() || !l.Want.Ready():
	case l.Get.Head().Purge:
		l.forget(l.Get.Head().QPN)
	case l.Get.Head().SQ:
		l.response(l.Get.Head())
	case l.Get.Head().SRQ:
		l.shared(l.Get.Head())
	default:
		l.request(l.Get.Head())
	}
}

// forget drops the lines of a QP. The answer comes when the reads so far have.
func (l *Lookup) forget(qpn port.QPN) {
	if !l.Flight.Ready() {
		return
	}
	for i := range l.lines {
		if l.D.Tags[i].QPN == qpn && l.D.Shared>>i&1 == 0 {
			l.D.Valid &^= 1 << i
		}
	}
	l.Get.Take()
	l.Flight.Put(flight{Mark: true})
	l.Want.Put(want{Mark: true})
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

// use is what a line is used for.
type use uint8

const (
	recvLine   use = iota // a block of a receive queue
	sendLine              // a send WQE
	sharedLine            // a block of a shared queue
)

// assign gives a line to a block of a ring or to a send WQE, with nothing read yet.
func (l *Lookup) assign(line int, t tag, u use) {
	d := &l.D
	t.Gen = !d.Tags[line].Gen
	t.Filled, t.End = t.Lo, t.Lo
	d.Tags[line] = t
	d.Valid |= 1 << line
	d.Used &^= 1 << line
	d.SQ &^= 1 << line
	d.Shared &^= 1 << line
	switch u {
	case sendLine:
		d.Used |= 1 << line
		d.SQ |= 1 << line
	case sharedLine:
		d.Shared |= 1 << line
	}
	d.Hand = uint8(line)
}

// canFetch tells whether a read may start in this cycle.
func (l *Lookup) canFetch() bool { return l.Read.Ready() && l.Flight.Ready() }

// fetch reads the entries from from up to to, from address addr on; more reads of
// the line may follow.
func (l *Lookup) fetch(line int, addr port.BusAddr, shift, from, to uint8, more bool) {
	at := uint16(from) << shift
	lane := uint8(at % port.BeatBytes)
	l.Read.Put(port.ReadReq{Addr: addr, Len: uint32(to-from) << shift, Shift: lane})
	l.Flight.Put(flight{
		Line: uint8(line), Word: uint8(at / port.BeatBytes), Shift: lane, From: from, To: to,
		Gen: l.D.Tags[line].Gen, More: more, Shared: l.D.Shared>>line&1 != 0,
	})
}

// lineSet is a loop's view of lines: the lowest of set, and the set without it.
func lineSet(set uint64) (line int, left uint64) { return bits.TrailingZeros64(set), set & (set - 1) }
