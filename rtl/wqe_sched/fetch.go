package wqesched

import (
	"math/bits"

	"rnic/hdl"
	"rnic/rtl/port"
)

// fetchOp is the operation on a QP's lines: read in one cycle, done in the next.
type fetchOp uint8

const (
	fetchNone    fetchOp = iota
	fetchFilled          // the last beat of a read has come
	fetchRelease         // a service has ended
	fetchPush            // a pushed unit was accepted
	fetchForget          // a marker came by
	fetchFurther         // the reader lacks a further unit of a WQE
	fetchWake            // a slot is free for one that found none
	fetchOpen            // a service begins
	fetchEvict           // a slot is to be taken away
	fetchResume          // the service that waits for its line can go on
	fetchRecall          // the QP was rewound
)

// Width is 4 bits.
func (fetchOp) Width() int { return 4 }

func (o fetchOp) String() string {
	if int(o) < len(fetchOpNames) {
		return fetchOpNames[o]
	}
	return "RESERVED"
}

var fetchOpNames = [...]string{"NONE", "FILLED", "RELEASE", "PUSH", "FORGET", "FURTHER", "WAKE", "OPEN", "EVICT", "RESUME", "RECALL"}

// pending is a read on its way.
type pending struct {
	QPN   port.QPN
	Line  uint8
	Slot  uint8
	Unit  uint8 // in the line, of the first beat
	Count uint8
}

type fetchRegs struct {
	Op       fetchOp
	QPN      port.QPN
	Err      bool   // fetchFilled
	Line     uint8  // fetchFilled
	Exec     uint16 // fetchRelease
	Starved  bool   // fetchRelease
	Free     uint64 // slots, a bit each
	Promised uint8  // slots set aside for those that found none
	Kept     uint8  // QPs whose line is kept until there is an entry
	Spent    uint8  // QPs of which a line is kept for a rewind
	More     uint8  // and lines besides, one a QP
	Hand     uint8  // the slot to be taken away next
	Looked   bool   // its owner has been read
	Beat     uint8  // of the read at the head of reads
	Hold     bool   // a marker waits for a read of its QP
	Stats    port.SchedStats
	Reader   reader
	Stay     stay
	Rewound  rewound
	Recall   bool // its QP has still to be looked at
}

// stay is the one service that waits for its line open, so that it need not be
// opened again.
type stay struct {
	On      bool
	Here    bool // the line has come
	Service service
}

// Fetch holds WQEs.
type Fetch struct {
	Ctx   hdl.In[port.SQCtx]
	Push  hdl.In[port.PushedWQE]
	Data  hdl.In[port.ReadBeat]
	Stale hdl.In[port.Stale]
	Read  hdl.Out[port.ReadReq]
	Stats hdl.Sig[port.SchedStats]

	grant   hdl.In[grant]
	token   hdl.In[token]
	forget  hdl.In[port.QPN]
	release hdl.In[release]
	ready   hdl.Out[port.QPN]
	service hdl.Out[service]
	wqe     hdl.Out[wqe]
	newest  hdl.Sig[rewound]

	dir    hdl.RAM[lines]
	units  hdl.RAM[unit]     // 8 a slot
	owners hdl.RAM[port.QPN] // of each slot
	reads  queue[pending]    // on their way
	hungry queue[port.QPN]   // QPs that found no slot

	hdl.Regs[fetchRegs]
	p    Params
	mask int
}

func (f *Fetch) init(p Params) {
	f.p, f.mask = p, 1<<p.LogQP-1
	f.dir.Init(1<<p.LogQP, hdl.WriteFirst)
	f.units.Init(p.Lines*lineUnits, hdl.WriteFirst)
	f.owners.Init(p.Lines, hdl.WriteFirst)
	f.reads.init(p.Lines)
	f.hungry.init(1 << p.LogQP)
	f.Q.Free = 1<<p.Lines - 1
	f.D.Free = f.Q.Free
}

// Eval finishes the operation that was begun, reads on in the lines of the open
// service, takes a beat of data, and begins the next operation.
func (f *Fetch) Eval() {
	q, d := &f.Q, &f.D
	d.Op = fetchNone
	if q.Op != fetchNone {
		e := *f.dir.Data(0)
		f.finish(&e)
		if e != *f.dir.Data(0) {
			f.dir.Write(1, int(q.QPN)&f.mask, &e)
			f.tally(f.dir.Data(0), &e)
		}
	}
	if q.Reader.On {
		f.read()
	}
	f.rewound()
	f.fill()
	if d.Op == fetchNone {
		f.begin()
	}
	if d.Op != fetchNone {
		f.dir.Read(0, int(d.QPN)&f.mask)
	}
	if d.Stats != q.Stats {
		f.Stats.Set(d.Stats)
	}
}

// fill stores a beat of data; after the last of a read, the line is filled.
func (f *Fetch) fill() {
	q, d := &f.Q, &f.D
	if !f.Data.Valid() || q.Op == fetchPush {
		return
	}
	r := f.reads.head.Head()
	last := q.Beat+1 == r.Count
	if last && f.spareReady() < 1 {
		return
	}
	b := f.Data.Take()
	f.units.Write(1, int(r.Slot)*lineUnits+int(r.Unit+q.Beat), (*unit)(&b.Data))
	d.Beat++
	if last {
		f.reads.head.Take()
		d.Beat = 0
		d.Op, d.QPN, d.Line, d.Err = fetchFilled, r.QPN, r.Line, b.Err
	}
}

// spareReady is the room for QPs that are no longer parked, less one for the
// operation being finished.
func (f *Fetch) spareReady() int {
	n := f.ready.Space()
	switch f.Q.Op {
	case fetchFilled, fetchWake, fetchRecall:
		n--
	}
	return n
}

// begin chooses the next operation: first what others wait for.
func (f *Fetch) begin() {
	q, d := &f.Q, &f.D
	r := &q.Reader
	putting := q.Op == fetchOpen || q.Op == fetchFurther || q.Op == fetchForget || q.Stay.On && !d.Stay.On // to service or Read
	spare := bits.OnesCount64(d.Free) > int(d.Promised)
	switch {
	case d.Recall && !putting && f.service.Ready() && f.spareReady() > 0:
		d.Op, d.QPN, d.Recall = fetchRecall, d.Rewound.QPN, false
	case f.release.Valid():
		v := f.release.Take()
		d.Op, d.QPN, d.Exec, d.Starved = fetchRelease, v.QPN, v.ExecIdx, v.Starved
	case f.token.Valid() && f.Push.Valid() && q.Op != fetchPush:
		if f.token.Head().Refuse {
			f.token.Take()
			f.Push.Take()
			d.Stats.PushedIgnored++
			break
		}
		d.Op, d.QPN = fetchPush, f.Push.Head().QPN
	case f.forget.Valid() && !putting && f.service.Ready() && !q.Hold:
		d.Op, d.QPN = fetchForget, *f.forget.Head()
	case r.On && r.Phase == readMissing && f.Read.Ready() && !putting:
		d.Op, d.QPN = fetchFurther, r.Ctx.QPN
	case d.Stay.Here && !putting && f.canStart():
		d.Op, d.QPN = fetchResume, d.Stay.Service.Ctx.QPN
	case f.hungry.head.Valid() && spare && f.spareReady() > 0:
		d.Op, d.QPN = fetchWake, *f.hungry.head.Take()
	case f.Ctx.Valid() && !r.On && !putting && f.service.Ready() && f.Read.Ready():
		d.Op, d.QPN = fetchOpen, f.Ctx.Head().QPN
	case f.hungry.head.Valid() && !spare && !q.Looked && q.Op != fetchEvict:
		f.owners.Read(0, int(q.Hand))
		d.Looked = true
	case f.hungry.head.Valid() && !spare && q.Looked:
		d.Op, d.QPN, d.Looked = fetchEvict, *f.owners.Data(0), false
	}
}
