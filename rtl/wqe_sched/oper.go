package wqesched

import (
	"math/bits"

	"rnic/rtl/port"
)

// finish carries out the operation on the lines of its QP.
func (f *Fetch) finish(e *lines) {
	q, d := &f.Q, &f.D
	switch q.Op {
	case fetchFilled:
		d.Hold = false
		switch {
		case !e.filled(q.Line, q.Err):
		case !q.Stay.On || q.Stay.Service.Ctx.QPN != q.QPN:
			f.ready.Put(q.QPN)
		case f.canStart():
			f.resume(e)
		default:
			d.Stay.Here = true
		}
	case fetchRelease:
		d.Free |= e.done(q.Exec, q.Starved, f.keep(e))
		if q.Starved && e.starve(q.Exec, int(d.Kept)+1 < f.p.Lines) {
			d.Kept++
		}
	case fetchPush:
		f.pushed(e)
	case fetchForget:
		if e.busy() {
			d.Hold = true
			break
		}
		// The entry in the queue of the hungry stays, and is passed over there.
		if e.Promise {
			d.Promised--
		}
		if e.Kept {
			d.Kept--
		}
		for i := range e.Line {
			d.Free |= e.drop(i)
		}
		*e = lines{Hungry: e.Hungry}
		f.service.Put(service{Verdict: forget, Ctx: port.SQCtx{QPN: q.QPN}})
		f.forget.Take()
	case fetchFurther:
		f.missing(e)
	case fetchWake:
		if e.Hungry {
			e.Hungry, e.Promise = false, true
			d.Promised++
			f.ready.Put(q.QPN)
		}
	case fetchOpen:
		f.open(e)
	case fetchResume:
		f.resume(e)
	case fetchRecall:
		f.recall(e)
	case fetchEvict:
		d.Free |= e.evict(q.Hand)
		d.Hand++
		if int(d.Hand) == f.p.Lines {
			d.Hand = 0
		}
	}
}

// slot is a free slot that may be used: those set aside are for whom they were
// promised to, and as long as somebody is hungry nobody else takes one.
func (f *Fetch) slot(promise bool) int {
	d := &f.D
	free := bits.OnesCount64(d.Free)
	if free == 0 || !promise && (free <= int(d.Promised) || f.hungry.head.Valid()) {
		return noSlot
	}
	return bits.TrailingZeros64(d.Free)
}

func (f *Fetch) take(slot int, qpn port.QPN) {
	f.D.Free &^= 1 << slot
	f.owners.Write(1, slot, &qpn)
}

// pushed stores a pushed unit, or forgets it.
func (f *Fetch) pushed(e *lines) {
	f.token.Take()
	w := f.Push.Take()
	slot := f.slot(false)
	took, ok := e.push(w.Idx, slot)
	if !ok {
		f.D.Stats.PushedIgnored++
		return
	}
	if took {
		f.take(slot, w.QPN)
	}
	f.units.Write(1, e.address(w.Idx), (*unit)(&w.Data))
	f.D.Stats.PushedWQEs++
}

// open begins a service: WQEs are read if the first is there, else the QP is
// parked until it has come. The next line is read ahead.
func (f *Fetch) open(e *lines) {
	d := &f.D
	c := f.Ctx.Take()
	g := f.grant.Take()
	v := service{Verdict: run, Entries: g.Entries, Ctx: *c}
	promise := e.Promise
	if promise {
		e.Promise = false
		d.Promised--
	}
	if e.Kept {
		e.Kept = false
		d.Kept--
	}
	e.stale()
	e.back(c.ExecIdx)
	var p plan
	slot := f.slot(promise)
	switch {
	case !c.Run && !c.Flush:
		v.Verdict = nothing
	case c.ExecIdx == c.PI || f.Q.Rewound.old(c):
		v.Verdict = wait
	case e.seek(c.ExecIdx):
		v.Verdict, v.Outcome = wait, parked
	case e.find(c.ExecIdx) == nil:
		p = e.demand(c.ExecIdx, c, slot)
		v.Verdict, v.Outcome = wait, parked
		if p.Hungry && !e.Hungry {
			e.Hungry = true
			f.hungry.tail.Put(c.QPN)
		}
		if !p.Hungry && !p.Read {
			p = e.ahead(c.ExecIdx, c, slot)
		}
		if !p.Hungry && f.canStay(&v) {
			v.Verdict, v.Outcome = run, idle
			d.Stay = stay{On: true, Service: v}
			f.issue(&p, c, slot)
			return
		}
	default:
		p = f.serve(e, c, slot)
	}
	f.issue(&p, c, slot)
	f.service.Put(v)
}

// serve has the WQEs read from ExecIdx on, which is there.
func (f *Fetch) serve(e *lines, c *port.SQCtx, slot int) plan {
	e.Locked = true
	e.stale()
	f.start(e, c)
	return e.ahead(c.ExecIdx, c, slot)
}

// canStart tells whether a service can be handed on in this cycle, in which no
// other operation does.
func (f *Fetch) canStart() bool {
	return !f.Q.Reader.On && f.service.Ready() && f.Read.Ready()
}

// canStay tells whether a service may wait for its line open: one at a time, and
// not if somebody may need the entries that it was given. A WQE that has its
// entry would not wait: if the QP failed, its work request would end and its place
// in the ring be used again.
func (f *Fetch) canStay(v *service) bool {
	return !f.D.Stay.On && f.p.Services > 1 && int(v.Entries) == f.p.MessageBudget && v.Ctx.ExecIdx == v.Ctx.Entered
}

// resume goes on with the service that stayed open. A line that was on its way
// for less than is wanted now leads to another turn.
func (f *Fetch) resume(e *lines) {
	s := &f.Q.Stay.Service
	v, c := *s, &s.Ctx
	f.D.Stay = stay{}
	if e.find(c.ExecIdx) == nil {
		v.Verdict, v.Outcome = wait, more
	} else {
		slot := f.slot(false)
		p := f.serve(e, c, slot)
		f.issue(&p, c, slot)
	}
	f.service.Put(v)
}

// missing has the next unit read that the WQE of the reader lacks.
func (f *Fetch) missing(e *lines) {
	r, q := &f.D.Reader, &f.Q.Reader
	r.Phase = readEnd
	if r.Here = f.Q.Rewound.old(&q.Ctx); r.Here {
		return
	}
	idx, ok := e.whole(q.Idx, q.Rest+1)
	if r.Here = ok; ok {
		return
	}
	slot := f.slot(false)
	p := e.further(q.Idx, idx, &q.Ctx, slot)
	f.issue(&p, &q.Ctx, slot)
}

// issue sends a read to dma.
func (f *Fetch) issue(p *plan, c *port.SQCtx, slot int) {
	if p.Took {
		f.take(slot, c.QPN)
	}
	if !p.Read {
		return
	}
	at := p.First & (1<<c.SQLog - 1)
	f.Read.Put(port.ReadReq{Addr: c.SQBase + port.BusAddr(at)*64, Len: uint32(p.Count) * 64})
	f.reads.tail.Put(pending{QPN: c.QPN, Line: p.Line, Slot: p.Slot, Unit: uint8(p.First % lineUnits), Count: p.Count})
	f.D.Stats.WQEFetches++
}
