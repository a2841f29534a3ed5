package story

import (
	"fmt"

	"rnic/hdl"
	"rnic/tb"
)

// Options are the choices of a Recorder. The zero value keeps 100,000 packets.
type Options struct {
	Limit int // packets, and work requests, of both hosts that are kept; the oldest go first
}

// Recorder watches a run.
type Recorder struct {
	bench *tb.Bench
	limit int
	sides [2]*side
	done  *Story

	onPacket []func(*Packet)
	onWR     []func(*WR)
}

// Attach puts a Recorder on a bench that has not run yet.
func Attach(b *tb.Bench, o Options) (*Recorder, error) {
	hdl.Default(&o.Limit, 100_000)
	if o.Limit < 2 {
		return nil, fmt.Errorf("story: a limit of %d packets: must be at least 2", o.Limit)
	}
	r := &Recorder{bench: b, limit: o.Limit}
	for n, h := range b.Hosts {
		r.sides[n] = newSide(r, n, h)
		if err := r.sides[n].hub.err; err != nil {
			return nil, err
		}
	}
	for n, s := range r.sides {
		s.hub.start()
		s.h.Tap(s.frame)
		b.Hosts[n].OnFault(s.struck)
		s.h.Machine.RC.OnFault = s.struckTLP
	}
	return r, nil
}

// OnPacket has f told of each packet when its last bit has left its host, on the
// goroutine of that host's kernel. What becomes of it is not known then, nor, of an
// answer, the WR at the other host.
func (r *Recorder) OnPacket(f func(*Packet)) { r.onPacket = append(r.onPacket, f) }

// OnWR has f told of each work request when the host has seen its end, or, of one
// without a CQE, when the NIC has; on the goroutine of its host's kernel. Those that do not
// end are told of by Finish.
func (r *Recorder) OnWR(f func(*WR)) { r.onWR = append(r.onWR, f) }

func (r *Recorder) packet(p *Packet) {
	for _, f := range r.onPacket {
		f(p)
	}
}

func (r *Recorder) wr(w *WR) {
	for _, f := range r.onWR {
		f(w)
	}
}
