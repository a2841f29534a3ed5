package loss

import (
	"errors"
	"fmt"

	"rnic/roce"
	"rnic/tb"
	"rnic/tb/fault"
)

// Stage is a part of the way from a loss to its repair.
type Stage struct {
	Name   string
	Block  string // that works in it; PCIe or Wire
	Cycles uint64
	Since  uint64 // its end, cycles since the first bit of the lost packet was sent
}

// Blocks of stages that no NIC has a part in.
const (
	PCIe = "pcie"
	Wire = "wire"
)

// Repair is the way of one loss. All times are cycles.
type Repair struct {
	Load
	Nth    int // data packet that was lost, from 1
	Stages []Stage
	// Nak is from the last bit of the packet beyond the gap at the responder's MAC to the
	// first bit of the NAK on the wire; Busy is how much of that the wire was taken by a
	// frame that had begun before.
	Nak, Busy uint64
	// Reaction is from the last bit of the NAK at the requester's MAC to the first bit of
	// the packet that is sent again; Taken is how much of that another frame was being
	// sent.
	Reaction, Taken uint64
	Loop            uint64 // from the first bit of the lost packet to when it is sent again
	InFlight        int    // packets of its QP that were sent in that time
	Crossings       []Crossing
}

// Trace loses the nth packet with data of a load, and follows its repair by a NAK.
func (l Load) Trace(c tb.Config, nth int) (Repair, error) {
	b, err := tb.New(c)
	if err != nil {
		return Repair{}, err
	}
	defer b.Close()
	a, err := newTrace(b.Hosts[0], signals(againPath)...)
	if err != nil {
		return Repair{}, err
	}
	p, err := newTrace(b.Hosts[1], signals(nakPath)...)
	if err != nil {
		return Repair{}, err
	}
	n := 0
	b.Hosts[1].SetLoss(func() bool { n++; return n == nth })
	if _, err := l.transfer(b, fault.New(0)); err != nil {
		return Repair{}, err
	}
	a.finish()
	p.finish()
	r := Repair{Load: l, Nth: nth}
	return r, r.follow(a, p)
}

var errNoNAK = errors.New("the loss was not repaired by a NAK")

// follow finds the frames of the repair, and what happened between.
func (r *Repair) follow(a, b *trace) error {
	isNAK := func(p *roce.Packet) bool {
		return p.BTH.Opcode == roce.RCAck && p.AETH.Syndrome == roce.NAKSyndrome(roce.NAKSequence)
	}
	in, out := a.find(0, false, isNAK), b.find(0, true, isNAK)
	if in < 0 || out < 0 {
		return errNoNAK
	}
	nakIn, nakOut := &a.frames[in], &b.frames[out]
	qp := b.frames[out].pkt.BTH.DestQP // of the requester
	psn := nakOut.pkt.BTH.PSN
	dest := a.destination(psn, in)
	isLost := func(p *roce.Packet) bool { return p.BTH.DestQP == dest && p.BTH.PSN == psn }
	lost := a.find(0, true, isLost)
	again := a.find(in, true, isLost)
	gap := -1
	for i := 0; i < out; i++ { // the last that came before the NAK and is beyond
		f := &b.frames[i]
		if gap < 0 && !f.tx && f.pkt.BTH.DestQP == dest && f.pkt.BTH.PSN.After(psn) {
			gap = i
		}
	}
	if lost < 0 || again < 0 || gap < 0 {
		return fmt.Errorf("QP %d, PSN %d: no gap, or never sent again", qp, psn)
	}
	first, beyond, second := &a.frames[lost], &b.frames[gap], &a.frames[again]
	r.Nak, r.Busy = nakOut.first-beyond.last, b.sending(beyond.last, nakOut.first)
	r.Reaction, r.Taken = second.first-nakIn.last, a.sending(nakIn.last, second.first)
	r.Loop = second.first - first.first
	for i := lost; i < again; i++ {
		if f := &a.frames[i]; f.tx && f.pkt.BTH.DestQP == dest && f.pkt.BTH.Opcode != roce.RCAck {
			r.InFlight++
		}
	}
	r.Crossings = crossings(a, b, lost, again, out)
	w := walk{dst: &r.Stages, at: first.first, begin: first.first}
	w.until("the lost packet and the next", Wire, beyond.first)
	w.until("the next arrives", Wire, beyond.last)
	w.steps(b, nakPath)
	w.until("first bit of the NAK", "mac", nakOut.first)
	w.until("link", Wire, nakIn.last)
	w.steps(a, againPath)
	w.until("payload read, frame complete, first bit", "pcie, dma, pkt_tx, mac", second.first)
	return w.err
}

// destination is the QP to which a packet of that PSN was sent before frame i.
func (t *trace) destination(psn roce.PSN, i int) roce.QPN {
	for i--; i >= 0; i-- {
		if f := &t.frames[i]; f.tx && f.pkt.BTH.PSN == psn && f.pkt.BTH.Opcode != roce.RCAck {
			return f.pkt.BTH.DestQP
		}
	}
	return 0
}

// sending is how much of the time between two cycles frames were being sent.
func (t *trace) sending(from, to uint64) (n uint64) {
	for i := range t.frames {
		if f := &t.frames[i]; f.tx && f.last >= from && f.first < to {
			n += min(f.last+1, to) - max(f.first, from)
		}
	}
	return n
}
