package transfer

import (
	"fmt"
	"math/rand/v2"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/tb"
	"rnic/tb/host"
)

// Retries are attributes of a connection, as verbs have them; nil: what is usual.
type Retries struct {
	Timeout  *uint8 // of an acknowledgement, 4.096 us << Timeout: 1 to 31
	RetryCnt *uint8 // retries after a timeout or a sequence error, 0 to 7
	RNRRetry *uint8 // retries after an RNR NAK, 0 to 7; 7: no limit
}

func (r *Retries) check() error {
	for _, c := range []struct {
		name      string
		v         *uint8
		least, to uint8
	}{{"a timeout", r.Timeout, 1, 31}, {"a retry count", r.RetryCnt, 0, 7}, {"an RNR retry count", r.RNRRetry, 0, 7}} {
		if c.v != nil && (*c.v < c.least || *c.v > c.to) {
			return fmt.Errorf("%s of %d: must be %d to %d", c.name, *c.v, c.least, c.to)
		}
	}
	return nil
}

// options are the attributes of a connection.
func (s *side) options() driver.ConnectOptions {
	o := driver.ConnectOptions{MTU: abi.MTU(s.j.MTU)}
	if s.j.VLAN != nil {
		o.VLANValid, o.VLAN = true, *s.j.VLAN
	}
	if s.j.Faults != nil {
		o.Timeout = s.timeout
		o.RetryCnt, o.RNRRetry = min(7, s.dev.Attr.MaxRetry), min(7, s.dev.Attr.MaxRNRRetry)
	}
	set := func(to, v *uint8) {
		if v != nil {
			*to = *v
		}
	}
	r := &s.j.Retries
	set(&o.Timeout, r.Timeout)
	set(&o.RetryCnt, r.RetryCnt)
	set(&o.RNRRetry, r.RNRRetry)
	return o
}

// timeout is the least that is four times as long as a message, all that the job has
// posted before it, and its answer can take.
func (r *run) timeout() uint8 {
	j := &r.j
	ps := 2*r.bench.Config.LinkLatencyPs + r.pciePs()
	posted := min(r.messages, j.QPs*j.Depth) * (j.MsgSize + frameExtra)
	ps += int64(2 * float64(posted) * 8 * 1000 / r.gbps())
	unit := int64(1024)
	if j.Driver.TimeUnit != 0 {
		unit = int64(j.Driver.TimeUnit)
	}
	t := uint8(1)
	for t < 31 && unit*tb.PeriodPs<<t < 4*ps {
		t++
	}
	return t
}

// pciePs is longer than the reads and writes of a message at one host take, ps.
func (r *run) pciePs() int64 {
	rng := rand.New(rand.NewPCG(1, 1))
	most := func(l host.Latency) (ps int64) {
		for range 64 {
			ps = max(ps, l(rng))
		}
		return ps
	}
	p := &r.bench.Hosts[0].Machine.RC.Params
	return 4*most(p.Read) + 4*most(p.Write)
}

// gbps is the rate of the wire.
func (r *run) gbps() float64 {
	if mac := r.bench.Config.NIC.Mac; mac.RateNum != 0 {
		return float64(mac.RateNum) / float64(mac.RateDen)
	}
	return 100
}

// calm waits until all that was under way has landed. Where frames may be lost that is
// when both hosts have seen no frame for a while, and none is held back; and of UC and
// UD, whose sender knows of nothing that is under way, when all is at rest.
func (r *run) calm(t *hdl.Thread, s *side) {
	if r.j.Faults == nil && !r.j.unreliable() {
		t.Sleep(settle)
		return
	}
	rest := settle + uint64(r.bench.Config.LinkLatencyPs/tb.PeriodPs)
	restless := 0
	if r.j.unreliable() {
		rest += uint64(r.pciePs() / tb.PeriodPs)
		restless = 100 // a host that never rests is told in the end
	}
	for before := s.h.Cable().Came; ; {
		t.Sleep(rest)
		for c := s.h.Cable(); c.Waiting > 0; c = s.h.Cable() {
			t.Sleep(c.Until + 1 - t.Now())
		}
		word := "calm"
		switch c := s.h.Cable(); {
		case c.Came != before:
			word, before = "busy", c.Came
		case restless > 0 && s.rest.Check() != nil:
			word = "busy"
			restless--
		}
		s.h.OOB.Send([]byte(word))
		if other := s.h.OOB.Recv(t); word == "calm" && string(other) == "calm" {
			return
		}
	}
}

// lossyGoodput is in Gb/s, and cycles a message: of all messages that come to one
// side, until they are complete at the other; of UC and UD of those that arrive, until
// the last packet.
func (r *run) lossyGoodput(to, asked *side) (gbps, cycles float64) {
	m := &to.meter.marks
	ps := float64(asked.ended)*tb.PeriodPs - float64(m.FirstPacket)
	if r.j.unreliable() {
		ps = float64(m.LastPacket - m.FirstPacket)
		if to.arrived < 2 || ps <= 0 {
			return 0, 0
		}
		return float64(r.received) * 8 * 1000 / ps, ps / tb.PeriodPs / float64(to.arrived)
	}
	if r.messages < 2 || r.j.atomic() || ps <= 0 {
		return 0, 0
	}
	return float64(r.j.Data.Size()) * 8 * 1000 / ps, ps / tb.PeriodPs / float64(r.messages)
}
