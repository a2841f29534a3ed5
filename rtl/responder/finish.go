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
	j := r.Jobs.Head()
	if j.Purge {
		r.purge(l, j)
		return false
	}
	r.Jobs.Take()
	if j.Kind == port.JobNone && !j.Again {
		return false
	}
	e := enter(j)
	ack := isAck(j)
	if ack && l.Count > 0 && l.Ack && !r.p.NoCoalesce {
		r.Pool.Write(1, int(l.Last), &e)
		return false
	}
	n := ref{Index: d.Fresh, PSN: j.PSN, Slot: slot(j.Slot % slots)}
	if int(n.Index) < r.p.Jobs {
		d.Fresh++
	} else {
		n.Index = d.Free
		d.Free = r.Links.Data(0).Index
	}
	d.Used++
	if isFatal(j) {
		r.cancel(l, j)
	}
	r.Pool.Write(1, int(n.Index), &e)
	if before, linked := l.push(n, ack); linked {
		r.Links.Write(1, int(before), &n)
	}
	return !l.Waits
}

// purge forgets a QP. The job stays at the head until what has been described of the
// QP is in pkt_tx.
func (r *Responder) purge(l *list, j *port.Job) {
	r.D.Mark, r.D.Last = true, r.D.Sent
	r.drop(l)
	if r.D.Slice.QPN == j.QPN {
		r.D.Slice.Valid = false
	}
	*l = list{Queued: l.Queued}
}

// cancel forgets what a fatal NAK leaves unanswered: the rest of a READ whose memory
// could not be read, and all behind it.
func (r *Responder) cancel(l *list, j *port.Job) {
	if s := &r.D.Slice; s.QPN == j.QPN && j.PSN.Before(s.Job.PSN) {
		s.Valid = false
	}
	if l.Count > 0 && j.PSN.Before(l.First.PSN) {
		r.drop(l)
		l.Waits = false
	}
}

// drop puts the whole list of a QP before the entries that are free.
func (r *Responder) drop(l *list) {
	d := &r.D
	if l.Count == 0 {
		return
	}
	r.Links.Write(1, int(l.Last), &ref{Index: d.Free})
	d.Free = l.First.Index
	d.Used -= l.Count
	l.Count = 0
}

// result stores what an atomic has read, for its answer and for those of duplicates,
// and tells whether the QP waited for it.
func (r *Responder) result(l *list) bool {
	a := r.AtomicRes.Take()
	if l.Come-l.Used == slots {
		r.Fail("QP %d has more results than atomics outstanding", a.QPN)
		return false
	}
	r.Values.Write(1, r.at(a.QPN, slot(a.Slot%slots)), &value{PSN: a.PSN, Original: a.Value, Err: a.Err})
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
		d.Has, d.Turn = true, l.turn(q.Turn.QPN)
		return
	}
	first := e.Kind == port.JobAtomic && !e.Again
	if first && l.Come == l.Used {
		l.Waits = true
		return
	}
	s, packets, rest, left := cut(q.Turn.QPN, e, q.Left)
	s.Value = *r.Values.Data(0)
	if e.Again && e.Kind == port.JobAtomic && s.Value.lacks(e.PSN) {
		s.Job.Kind = port.JobNone
	}
	d.Slice = s
	d.Left -= packets
	if left {
		r.Pool.Write(1, int(l.First.Index), &rest)
		l.First.PSN = rest.PSN
	} else {
		if first {
			l.Used++
		}
		r.Links.Write(1, int(l.First.Index), &ref{Index: q.Free})
		d.Free = l.First.Index
		d.Used--
		l.pop(r.Links.Data(0))
	}
	if l.Count > 0 {
		l.Queued = true
		d.Has, d.Turn = true, l.turn(q.Turn.QPN)
	}
}
