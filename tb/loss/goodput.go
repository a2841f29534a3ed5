package loss

import (
	"math/rand/v2"

	"rnic/abi"
	"rnic/tb"
	"rnic/tb/fault"
)

// Load is a stream of messages some of whose packets are lost.
type Load struct {
	Op       abi.WQEOp
	MTU, QPs int
	MsgSize  int
	Messages int
	Depth    int    // messages that a QP has posted at once
	Batch    int    // work requests a PostSend; 0: 1
	Drop     int    // lost of a million frames
	Both     bool   // acknowledgements and requests of READs too; else only what brings data
	Timeout  uint8  // 4.096 us << Timeout
	TimeUnit uint16 // cycles for 4.096 us; 0: 1,024
}

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

// ShortTimeout is the least timeout of a connection that no answer of a load exceeds
// while nothing is lost, so that a retry which was not needed does not hide what a loss
// costs: of READs the answers to all that is posted may be in the way.
func (l *Load) ShortTimeout() uint8 {
	cycles := 1024 // a round trip, and room
	if l.Op == abi.OpRead {
		cycles += 2 * l.QPs * l.Depth * (l.MsgSize/l.MTU + 1) * frameBytes(l.MTU) / 50
	}
	t := uint8(1)
	for l.timeUnit()<<t < cycles {
		t++
	}
	return t
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

// lose has frames of a bench lost, by its seed.
func (l *Load) lose(b *tb.Bench, seed uint64) {
	for i, h := range b.Hosts {
		if data := (i == 0) == (l.Op == abi.OpRead); l.Drop > 0 && (data || l.Both) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			h.SetLoss(func() bool { return rng.IntN(1e6) < l.Drop })
		}
	}
}

// follow finds out what became of the packets.
func (r *Result) follow(sent, came *side, c tb.Config) {
	var all repairs
	var flows []delivered
	begin, end := int64(0), int64(0)
	for n, s := range sent.flows {
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

// timeUnit is in cycles.
func (l *Load) timeUnit() int {
	if l.TimeUnit == 0 {
		return 1024
	}
	return int(l.TimeUnit)
}
