package scatter

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// buckets is how many counters Front has for all QPs.
const buckets = 64

// bucket is the counter of a QP.
func bucket(n port.QPN) int { return int(n % buckets) }

type frontRegs struct {
	// Counted are the elements on their way to Finish that an event must not
	// overtake: responses and events of the QPs of a bucket, and a response that
	// could not be placed, until that has been dealt with.
	Counted [buckets]uint16
}

// Front takes Places and asks rq_fetch for the WQE that a packet needs: one with
// payload for the receive queue to know where it goes, the last of a SEND to know
// that the WQE is sound, a response that brings data, whatever may end a WQE of a shared
// queue. A marker has rq_fetch forget the
// QP, and waits for that.
//
// An acknowledgement with nothing of its QP's send queue before it waits for no WQE
// and no payload of others: its event goes straight to Finish.
type Front struct {
	Place hdl.In[port.Place]
	RQGet hdl.Out[port.RQGet]
	Out   hdl.Out[packet]
	Aside hdl.Out[aside]
	Fast  hdl.Out[port.AckEvent]
	Left  hdl.In[left]
	hdl.Regs[frontRegs]
}

// Eval passes a Place on.
func (f *Front) Eval() {
	d := &f.D
	if f.Left.Valid() {
		l := f.Left.Take()
		d.Counted[bucket(l.QPN)] -= uint16(l.N)
	}
	if !f.Place.Valid() || !f.Out.Ready() || !f.RQGet.Ready() || !f.Aside.Ready() || !f.Fast.Ready() {
		return
	}
	p := f.Place.Take()
	v := &p.V
	out := newPacket(p)
	n := &d.Counted[bucket(v.QPN)]
	if out.Kind == frameOnly && out.Event && *n == 0 {
		f.Fast.Put(v.Event)
		out.Event = false
	}
	if out.Counted = out.Event || out.Kind == deliver && out.Target == port.TargetSend; out.Counted {
		*n++
	}
	if out.Kept = out.Event || out.Answer == answerJob; out.Kept {
		f.Aside.Put(aside{Job: v.Job, Event: v.Event})
	}
	if out.Fetch || out.Kind == deliver && out.WQE && out.Write {
		f.get(p, &out)
	}
	f.Out.Put(out)
}

// get asks rq_fetch; the receive WQE of a WRITE is only used up. One of a shared queue
// is asked for whenever it may end, since rq_fetch knows its slot.
func (f *Front) get(p *port.Place, out *packet) {
	v := &p.V
	g := f.RQGet.Next()
	*g = port.RQGet{
		Purge: p.Purge, QPN: v.QPN, Idx: v.RQIdx, Addr: v.RQAddr, Stride: v.RQStride,
		Next: v.RQNext, Log: v.RQLog, Done: v.EndsWQE && !p.GRH, Skip: !out.Fetch,
	}
	switch {
	case out.Kind == deliver && out.Target == port.TargetSend:
		g.SQ, g.Ref, g.Done = true, v.SQ, v.SQ.Last
	case out.SRQ && out.WQE:
		g.SRQ, g.SRQN, g.Idx = true, v.SRQN, out.RQIdx
		g.Take = v.TakesWQE && !p.Broken && (p.GRH || !v.GRH) // once a message
		g.First = g.Take && v.First
	}
}
