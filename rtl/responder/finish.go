package responder

import (
	"rnic/rtl/port"
)

// finish does the operation that was begun, and tells whether it put a turn into
// the queue.
func (r *Responder) finish() (queued bool) {
	q := &r.Q
	l := *r.Lists.Data(0)
	n := q.QPN
	wants := false
	switch q.Op {
	case opJob:
		wants = r.enqueue(&l)
	case opResult:
		wants = r.result(&l)
	case opTurn:
		n = q.Turn.QPN
		r.serve(&l)
	}
	if wants && !l.Queued {
		l.Queued = true
		queued = r.want(l.turn(n))
	}
	r.Lists.Write(1, int(n)&r.mask, &l)
	return queued
}

// want gives a QP a turn: the next one if nobody waits.
func (r *Responder) want(t turn) (queued bool) {
	d := &r.D
	if !d.Has && !r.next.Valid() {
		d.Has, d.Turn, d.Left = true, t, uint8(r.p.Budget)
		return false
	}
	r.queue.Put(t)
	return true
}

// enqueue enters a job into its list, and tells whether the QP wants a turn.
func (r *Responder) enqueue(l *list) bool {
	d := &r.D
	j := r.Jobs.Take()
	switch {
	case j.Purge:
		r.purge(l, j.QPN)
		return false
	case j.Kind == port.JobNone:
		return false
	}
	e := enter(j)
	ack := isAck(j)
	if ack && l.Count > 0 && l.Ack && !r.p.NoCoalesce {
		r.Pool.Write(1, int(l.Last), &e)
		return false
	}
	index := d.Fresh
	if int(index) < r.p.Jobs {
		d.Fresh++
	} else {
		index = d.Free
		d.Free = *r.Links.Data(0)
	}
	d.Used++
	r.Pool.Write(1, int(index), &e)
	if before, linked := l.push(index, ack); linked {
		r.Links.Write(1, int(before), &index)
	}
	return !l.Waits
}

// purge forgets a QP: its list is put before those that are free.
func (r *Responder) purge(l *list, n port.QPN) {
	d := &r.D
	if l.Count > 0 {
		r.Links.Write(1, int(l.Last), &r.Q.Free)
		d.Free = l.First
		d.Used -= l.Count
	}
	if d.Slice.QPN == n {
		d.Slice.Valid = false
	}
	*l = list{Queued: l.Queued}
}

// result stores what an atomic has read, and tells whether the QP waited for it.
func (r *Responder) result(l *list) bool {
	a := r.AtomicRes.Take()
	if l.Come-l.Used == 1<<r.p.LogAtomics {
		r.Fail("QP %d has more results than atomics outstanding", a.QPN)
		return false
	}
	r.Values.Write(1, r.at(a.QPN, l.Come), &value{Original: a.Value, Err: a.Err})
	l.Come++
	waits := l.Waits
	l.Waits = false
	return waits
}

// serve begins to send the first job of a QP, or as much of it as is left of its
// turn.
func (r *Responder) serve(l *list) {
	q, d := &r.Q, &r.D
	e := r.Pool.Data(0)
	d.Has, l.Queued = false, false
	if l.Count == 0 {
		return
	}
	if l.turn(q.Turn.QPN) != q.Turn { // purged since, and begun anew
		l.Queued = true
		d.Has, d.Turn.First, d.Turn.Used = true, l.First, l.Used
		return
	}
	if e.Kind == port.JobAtomic && l.Come == l.Used {
		l.Waits = true
		return
	}
	s, packets, rest, left := cut(q.Turn.QPN, e, q.Left)
	s.Value = *r.Values.Data(0)
	d.Slice = s
	d.Left -= packets
	if left {
		r.Pool.Write(1, int(l.First), &rest)
	} else {
		if e.Kind == port.JobAtomic {
			l.Used++
		}
		r.Links.Write(1, int(l.First), &q.Free)
		d.Free = l.First
		d.Used--
		l.pop(*r.Links.Data(0))
	}
	if l.Count > 0 {
		l.Queued = true
		d.Has, d.Turn = true, l.turn(q.Turn.QPN)
	}
}
