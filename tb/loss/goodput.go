package loss

import (
	"maps"
	"slices"

	"rnic/abi"
	"rnic/tb"
	"rnic/tb/fault"
)

// Result is what a load came to.
type Result struct {
	Load
	// GoodputGbps is payload in order at the receiver's MAC, from the end of the first
	// message of each QP to the end of the last one of the QP that is done first.
	GoodputGbps float64
	LimitGbps   float64 // what the wire leaves without loss
	FormulaGbps float64 // what go-back-N leaves of that, with W
	Lost        uint64  // frames, all kinds
	Again       int     // packets with data that were sent again
	AgainBytes  int64   // their payload
	Naks        uint64  // sequence NAKs, and answers beyond a missing one, that the requester obeyed
	Timeouts    uint64
	Rewinds     int     // how often a flow went back
	Loop        float64 // mean time from a packet to when it is sent again, in packets
	LoopNAK     float64 // of those loops alone that were shorter than the timeout; of one QP
	Flight      float64 // mean number of packets of the QP sent in that time
	Us          float64 // from the first packet to the last completion
}

// Formula is the share of the wire that go-back-N leaves when packets are lost with
// probability p and each loss costs w packets.
func Formula(p, w float64) float64 { return (1 - p) / (1 - p + p*w) }

// W is what a loss costs the wire, in packets. While one QP alone waits for the packet
// the wire waits too; with several only what the QP had in flight is sent in vain.
func (r *Result) W() float64 {
	if r.QPs == 1 {
		return r.Loop
	}
	return r.Flight
}

// frameBytes is what a full packet takes of the wire, preamble and gap included.
func frameBytes(mtu int) int { return mtu + 82 }

// Run does a load on a fresh bench.
func (l Load) Run(c tb.Config) (Result, error) {
	b, err := tb.New(c)
	if err != nil {
		return Result{}, err
	}
	defer b.Close()
	from, to := b.Hosts[0], b.Hosts[1]
	if l.Op == abi.OpRead {
		from, to = to, from
	}
	sent, came := newSide(true), newSide(false)
	from.Tap(sent.frame)
	to.Tap(came.frame)
	l.lose(b, c.Seed)
	t, err := l.transfer(b, fault.New(0))
	if err != nil {
		return Result{}, err
	}
	r := Result{Load: l, LimitGbps: t.WireLimitGbps, Us: t.CyclesPerMessage * float64(l.Messages) * tb.PeriodPs / 1e6}
	counters := &t.Counters[0]
	r.Naks, r.Timeouts = counters[abi.PacketSeqErr]+counters[abi.ImpliedNakSeqErr], counters[abi.LocalAckTimeoutErr]
	for _, h := range b.Hosts {
		r.Lost += h.Cable().Lost
	}
	r.follow(sent, came, b.Config)
	return r, nil
}

// follow finds out what became of the packets.
func (r *Result) follow(sent, came *side, c tb.Config) {
	var all repairs
	var flows []delivered
	begin, end := int64(0), int64(0)
	for _, n := range slices.Sorted(maps.Keys(sent.flows)) {
		s := sent.flows[n]
		all.add(s)
		d := inOrder(came.flows[n], s[0].psn)
		flows = append(flows, d)
		begin = max(begin, d.first)
		if end == 0 || d.last < end {
			end = d.last
		}
	}
	r.Again, r.AgainBytes = all.again, all.bytes
	payload := int64(0)
	for i := range flows {
		payload += flows[i].until(end) - flows[i].until(begin)
	}
	if end > begin {
		r.GoodputGbps = float64(payload) * 8 * 1000 / float64(end-begin)
	}
	rate := 100.0
	if c.NIC.Mac.RateNum != 0 {
		rate = float64(c.NIC.Mac.RateNum) / float64(c.NIC.Mac.RateDen)
	}
	packet := float64(frameBytes(r.MTU)) * 8 * 1000 / rate // ps
	timeout, naks := int64(r.timeUnit()*tb.PeriodPs)<<r.Timeout, 0
	for i, l := range all.loops {
		r.Loop += float64(l) / packet
		r.Flight += float64(all.flight[i])
		if r.QPs == 1 && l < timeout {
			r.LoopNAK += float64(l) / packet
			naks++
		}
	}
	r.Rewinds = len(all.loops)
	r.Loop /= float64(max(1, r.Rewinds))
	r.Flight /= float64(max(1, r.Rewinds))
	r.LoopNAK /= float64(max(1, naks))
	r.FormulaGbps = r.LimitGbps * Formula(float64(r.Drop)/1e6, r.W())
}
