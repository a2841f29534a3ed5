package agent

import "rnic/hdl"

// Responder models a block that answers requests in order: each answer leaves
// Latency cycles after its request was taken, or later when throttled.
type Responder[Q, A any] struct {
	hdl.Behave
	In       hdl.In[Q]
	Out      hdl.Out[A]
	Throttle Throttle
	Latency  func() uint64 // cycles, drawn for each request; nil: 3
	Answer   func(q Q) A
	Max      int // requests held at once; 0: 64
	queue    []due[A]
	Seen     []Q
}

type due[A any] struct {
	at uint64
	a  A
}

// Tick answers what is due and takes the next request.
func (r *Responder[Q, A]) Tick() {
	now := r.Now()
	if len(r.queue) > 0 && r.queue[0].at <= now && r.Out.Ready() {
		r.Out.Put(r.queue[0].a)
		r.queue = r.queue[1:]
	}
	limit := r.Max
	if limit == 0 {
		limit = 64
	}
	if r.In.Valid() && len(r.queue) < limit {
		if r.Throttle.Go(r.Path(), now) {
			q := *r.In.Take()
			r.Seen = append(r.Seen, q)
			latency := uint64(3)
			if r.Latency != nil {
				latency = max(1, r.Latency())
			}
			r.queue = append(r.queue, due[A]{now + latency - 1, r.Answer(q)})
		} else {
			r.WakeAt(now + 1)
		}
	}
	if len(r.queue) > 0 && (r.queue[0].at > now || r.Out.Ready()) {
		r.WakeAt(max(now+1, r.queue[0].at))
	}
}
