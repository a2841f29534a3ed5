package tb

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// Frame is a frame on the wire, without FCS, as a port of the bench saw it.
type Frame struct {
	TimePs  int64 // of its last beat
	BeganPs int64 // of its first beat; of a frame that a Fault is asked about as TimePs
	// Number is its place among the frames that left the host, or, of one that arrived, among
	// those that left the other; from 1. 0: a fault, or Inject, has made it.
	Number uint64
	Tx     bool // it left the host; else it arrived
	BadFCS bool
	Data   []byte // good until the Tap returns
}

// Tap sees every frame of a port in the order of TimePs. The taps of one host all
// run on the goroutine of its kernel, those of another host on another.
type Tap func(Frame)

// wire is a host's end of the cable: it moves beats between the MAC and the links
// of the world, without ever holding the wire up, and shows frames to taps.
type wire struct {
	hdl.Behave
	FromNIC hdl.In[port.EthBeat]
	ToNIC   hdl.Out[port.EthBeat]

	out, in *hdl.Link[port.EthBeat]
	gate    gate
	taps    []Tap
	tx, rx  assembly
	sent    uint64 // frames that have left
}

// assembly is a frame of which the last beat is still to come.
type assembly struct {
	frame []byte
	began int64 // ps
}

// Tick moves at most one beat each way.
func (w *wire) Tick() {
	now := w.Now()
	if w.FromNIC.Valid() {
		b := w.FromNIC.Take()
		w.out.Send(*b)
		if b.Last {
			w.sent++
		}
		w.observe(&w.tx, b, w.sent, true)
	}
	w.gate.release(now)
	b, ok := w.in.Recv()
	number := w.gate.count.Came + 1 // of what comes as it is
	if ok {
		if _, more := w.in.Peek(); more {
			w.WakeAt(now + 1)
		}
		ok = w.arrive(&b, now)
	}
	if !ok {
		b, number, ok = w.gate.next(now)
	}
	if len(w.gate.queue) > 0 {
		w.WakeAt(max(now+1, w.gate.silent))
	}
	if !ok {
		return
	}
	if !w.ToNIC.Ready() {
		w.Fail("the MAC does not keep up with the wire")
	}
	w.ToNIC.Put(b)
	w.observe(&w.rx, &b, number, false)
}

// arrive gives a beat to the gate, and wakes the wire for each frame that is held.
func (w *wire) arrive(b *port.EthBeat, now uint64) bool {
	g := &w.gate
	before := g.holds
	pass := g.arrive(b, now)
	for _, h := range g.held[len(g.held)-(g.holds-before):] {
		w.WakeAt(h.due)
	}
	return pass
}

// observe adds a beat to a frame and shows it when it is complete.
func (w *wire) observe(a *assembly, b *port.EthBeat, number uint64, tx bool) {
	if len(w.taps) == 0 {
		return
	}
	now := int64(w.Now()) * PeriodPs
	if len(a.frame) == 0 {
		a.began = now
	}
	a.frame = append(a.frame, b.Data[:b.Len]...)
	if !b.Last {
		return
	}
	data, bad := splitFCS(a.frame)
	for _, t := range w.taps {
		t(Frame{TimePs: now, BeganPs: a.began, Number: number, Tx: tx, BadFCS: bad, Data: data})
	}
	a.frame = a.frame[:0]
}
