package wqesched

import "rnic/rtl/port"

// readPhase is what the reader is at.
type readPhase uint8

const (
	readFirst   readPhase = iota // the first unit of WQE Idx is at the RAM's output
	readSecond                   // the second is, the first is held
	readMissing                  // the second is not in a line: it has to be asked for
	readEnd                      // that was done: the service ends here
)

// Width is 2 bits.
func (readPhase) Width() int { return 2 }

func (p readPhase) String() string { return [...]string{"FIRST", "SECOND", "MISSING", "END"}[p&3] }

// reader reads the WQEs of the open service, as far as they were in the lines
// when it began.
type reader struct {
	On      bool
	Phase   readPhase
	Here    bool // readEnd: the second unit has come meanwhile, or nobody asked
	Count   uint8
	Idx     uint16
	Packets uint32 // of the WQEs read so far
	First   unit
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
	r, d := &f.Q.Reader, &f.D.Reader
	u := f.units.Data(0)
	var w wqe
	switch r.Phase {
	case readFirst:
		switch {
		case r.Lines.find(r.Idx).void(r.Idx):
			w = unreadable()
		case !parseFirst(u, r.Idx, r.Ctx.PI-r.Idx, &w) || r.Ctx.Flush:
		default:
			l := r.Lines.find(r.Idx + 1)
			if l == nil {
				// Units before this WQE may still be needed, so only the first
				// of a service asks.
				d.Phase, d.Here = readEnd, true
				if r.Count == 0 {
					d.Phase = readMissing
				}
				return
			}
			if !l.void(r.Idx + 1) {
				d.Phase, d.First = readSecond, *u
				f.units.Read(0, r.Lines.address(r.Idx+1))
				return
			}
			w = unreadable()
		}
	case readSecond:
		parseFirst(&r.First, r.Idx, r.Ctx.PI-r.Idx, &w)
		parseSecond(u, &w)
	case readEnd:
		if f.wqe.Ready() {
			w = wqe{Kind: kindEnd, Last: true, Outcome: parked}
			if r.Here {
				w.Outcome = more
			}
			f.wqe.Put(w)
			d.On = false
		}
		return
	default:
		return
	}
	if f.wqe.Ready() {
		f.emit(&w)
	}
}

// emit hands a WQE to Exec, and goes on to the next if the service has room for
// it and it is there.
func (f *Fetch) emit(w *wqe) {
	r, d := &f.Q.Reader, &f.D.Reader
	if r.Ctx.Flush {
		w.flush()
	}
	if w.Kind == kindSend {
		length := w.Len
		if r.Count == 0 {
			length -= min(length, r.Ctx.Msg.Offset)
		}
		d.Packets += packetsOf(length, mtuShift(r.Ctx.MTU))
	}
	d.Count++
	next := r.Idx + uint16(w.Units)
	switch {
	case w.Kind == kindFault || next == r.Ctx.PI:
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
