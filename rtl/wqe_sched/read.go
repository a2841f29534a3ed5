package wqesched

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// readPhase is what the reader is at.
type readPhase uint8

const (
	readFirst   readPhase = iota // the first unit of WQE Idx is at the RAM's output
	readRest                     // a further unit is, those before are held
	readMissing                  // one is not in a line: it has to be asked for
	readEnd                      // that was done: the service ends here
)

// Width is 2 bits.
func (readPhase) Width() int { return 2 }

func (p readPhase) String() string { return [...]string{"FIRST", "REST", "MISSING", "END"}[p&3] }

// reader reads the WQEs of the open service, as far as they were in the lines
// when it began.
type reader struct {
	On      bool
	Phase   readPhase
	Here    bool // readEnd: all units have come meanwhile, or nobody asked
	Count   uint8
	Idx     uint16
	Unit    uint8  // readRest: of the WQE, the one at the output
	Rest    uint8  // readRest, readMissing: units behind the first
	Packets uint32 // of the WQEs read so far
	Held    [heldUnits]unit
	Lines   lines
	Ctx     port.SQCtx
}

// start begins a service whose first unit is there.
func (f *Fetch) start(e *lines, c *port.SQCtx) {
	r := &f.D.Reader
	r.On, r.Phase, r.Count, r.Packets = true, readFirst, 0, 0
	r.Idx, r.Lines, r.Ctx = c.ExecIdx, *e, *c
	f.units.Read(0, e.address(c.ExecIdx))
}

// read takes the unit that the RAM shows.
func (f *Fetch) read() {
	r := &f.Q.Reader
	switch r.Phase {
	case readFirst:
		f.readFirst()
	case readRest:
		f.readRest()
	case readEnd:
		if !f.wqe.Ready() {
			return
		}
		w := wqe{Kind: kindEnd, Last: true, Outcome: parked}
		if r.Here {
			w.Outcome = more
		}
		f.wqe.Put(w)
		f.D.Reader.On = false
	}
}

// readFirst looks at the first unit of a WQE, and asks the RAM for the next one.
func (f *Fetch) readFirst() {
	r, d := &f.Q.Reader, &f.D.Reader
	var w wqe
	if r.Lines.find(r.Idx).void(r.Idx) {
		w = unreadable()
	} else {
		rest := parse(f.units.Data(0), r.Idx, r.Ctx.PI-r.Idx, r.Ctx.Type, &w)
		if rest > 0 && !r.Ctx.Flush {
			d.Rest = rest
			if _, ok := r.Lines.whole(r.Idx, rest+1); !ok {
				// Units before this WQE may still be needed, so only the first of
				// a service asks.
				d.Phase, d.Here = readEnd, true
				if r.Count == 0 {
					d.Phase = readMissing
				}
				return
			}
			d.Phase, d.Unit = readRest, 1
			d.Held[0] = *f.units.Data(0)
			f.units.Read(0, r.Lines.address(r.Idx+1))
			return
		}
	}
	if f.wqe.Ready() {
		f.emit(&w)
	}
}

// readRest takes a further unit of a WQE. With the last one, or one that could not
// be read, the WQE is complete.
func (f *Fetch) readRest() {
	r, d := &f.Q.Reader, &f.D.Reader
	u := f.units.Data(0)
	idx := r.Idx + uint16(r.Unit)
	void := r.Lines.find(idx).void(idx)
	if !void && r.Unit < r.Rest {
		d.Held[r.Unit], d.Unit = *u, r.Unit+1
		f.units.Read(0, r.Lines.address(idx+1))
		return
	}
	if !f.wqe.Ready() {
		return
	}
	var w wqe
	parse(&r.Held[0], r.Idx, r.Ctx.PI-r.Idx, r.Ctx.Type, &w)
	if void {
		w.fault(abi.StatusLocQPOp, abi.VendorWQERead)
		f.emit(&w)
		return
	}
	for i := uint8(1); i < r.Rest; i++ {
		parseRest(&r.Held[i], i, r.Rest, &w)
	}
	parseRest(u, r.Rest, r.Rest, &w)
	f.emit(&w)
}

// emit hands a WQE to Exec, and goes on to the next if the service has room for
// it and it is there.
func (f *Fetch) emit(w *wqe) {
	r, d := &f.Q.Reader, &f.D.Reader
	if w.fit(&r.Ctx); r.Ctx.Flush {
		w.flush()
	}
	switch w.Kind {
	case kindSend:
		length := w.Len
		if r.Count == 0 {
			length -= min(length, r.Ctx.Offset)
		}
		d.Packets += packetsOf(length, mtuShift(&r.Ctx))
	case kindRead:
		d.Packets++
	}
	d.Count++
	next := r.Idx + uint16(w.Units)
	switch {
	case w.Kind == kindFault || next == r.Ctx.PI || f.Q.Rewound.old(&r.Ctx):
		w.Last = true
	case int(d.Count) == f.p.MessageBudget || d.Packets >= uint32(f.p.PacketBudget) || r.Lines.find(next) == nil:
		w.Last, w.Outcome = true, more
	default:
		d.Idx, d.Phase = next, readFirst
		f.units.Read(0, r.Lines.address(next))
	}
	d.On = !w.Last
	f.wqe.Put(*w)
}
