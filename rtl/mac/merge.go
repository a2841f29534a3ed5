package mac

import "rnic/rtl/port"

// maxWait is for how many beats of the wire, all without a free cycle between frames, a
// frame of the loop waits. Then it is lost, so that what is behind it can go on.
const maxWait = 4096

// merge is the state of the way to RxOut. Beats of the wire take it at once. A frame of
// the loop takes it between two frames of the wire, when no beat of the wire is late; from
// then on until its end beats of the wire go to the store of late ones, and so do those
// that come before that is empty again. One comes and one goes then, so the store never
// has more beats than the longest frame.
type merge struct {
	Loop   bool // inside a frame of the loop
	Inside bool // inside a frame of the wire, as RxOut sees it
	Busy   bool // the store's output register holds the oldest late beat
	Count  uint16
	Rd, Wr uint16
	Wait   uint16 // beats of the wire that the head of the loop has waited for
	Lost   bool   // it is being thrown away
}

// Eval moves at most one beat to RxOut.
func (r *Receive) Eval() {
	if !r.RxOut.Ready() {
		return
	}
	q, d := &r.Q.Merge, &r.D.Merge
	turn := r.turning()
	sent := r.wire()
	switch {
	case turn:
		d.Wait = 0
		r.turn()
		if q.Busy { // the first late beat waits in the output register
			return
		}
	case q.Busy:
		r.catchUp()
	}
	r.fetch()
	if turn || !r.loop.Valid() {
		return
	}
	switch {
	case q.Lost:
		r.lose()
	case q.Wait == maxWait:
		d.Lost = true
		r.Losses.Set(r.Losses.Get() + 1)
	case sent:
		d.Wait = q.Wait + 1
	}
}

// turning tells whether this cycle is the loop's.
func (r *Receive) turning() bool {
	q := &r.Q.Merge
	return q.Loop || r.loop.Valid() && !q.Lost && !q.Inside && !q.Busy && q.Count == 0
}

// next is where a beat of the wire goes.
func (r *Receive) next(last bool) *port.EthBeat {
	q, d := &r.Q.Merge, &r.D.Merge
	if !r.turning() && !q.Busy && q.Count == 0 {
		d.Inside = !last
		return r.RxOut.Next()
	}
	if int(q.Count) == r.late.Depth() {
		r.Fail("%d late beats", q.Count)
	}
	d.Count++
	d.Wr = after(q.Wr, r.late.Depth())
	return r.late.WriteNext(0, int(q.Wr))
}

// turn sends a beat of the loop.
func (r *Receive) turn() {
	if !r.loop.Valid() {
		return
	}
	b := r.loop.Take()
	*r.RxOut.Next() = *b
	r.D.Merge.Loop = !b.Last
}

// lose throws a beat of the loop away.
func (r *Receive) lose() {
	if r.loop.Take().Last {
		r.D.Merge.Lost, r.D.Merge.Wait = false, 0
	}
}

// catchUp sends the oldest late beat.
func (r *Receive) catchUp() {
	b := r.late.Data(1)
	*r.RxOut.Next() = *b
	r.D.Merge.Busy, r.D.Merge.Inside = false, !b.Last
}

// fetch reads the next late beat, and be it the one that comes now: a cycle that is free on
// the wire is one in which there are fewer of them.
func (r *Receive) fetch() {
	q, d := &r.Q.Merge, &r.D.Merge
	if d.Count > 0 {
		r.late.Read(1, int(q.Rd))
		d.Busy = true
		d.Count--
		d.Rd = after(q.Rd, r.late.Depth())
	}
}
