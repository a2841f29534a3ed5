package loss

import (
	"rnic/roce"
	"rnic/tb"
)

// seen is a packet with data, as a port saw it.
type seen struct {
	ps    int64 // last bit
	psn   roce.PSN
	bytes int // of payload
	ends  bool
}

// side gathers the packets with data that pass a port one way, of each QP in order.
type side struct {
	tx    bool
	flows map[roce.QPN][]seen // by destination
}

func newSide(tx bool) *side { return &side{tx: tx, flows: map[roce.QPN][]seen{}} }

// frame is a tb.Tap.
func (p *side) frame(f tb.Frame) {
	if f.Tx != p.tx || f.BadFCS {
		return
	}
	pkt, err := roce.ParseFrame(f.Data)
	op := pkt.BTH.Opcode
	if err != nil || op == roce.RCAck || op == roce.RCReadRequest {
		return
	}
	p.flows[pkt.BTH.DestQP] = append(p.flows[pkt.BTH.DestQP], seen{f.TimePs, pkt.BTH.PSN, len(pkt.Payload), op.Ends()})
}

// repairs is what the sender of a flow did to repair losses.
type repairs struct {
	again  int     // packets that were sent before
	bytes  int64   // their payload
	loops  []int64 // of each rewind: ps from the first packet that is sent again to when it is
	flight []int   // and packets of the flow in that time
}

// add goes through what was sent of a flow.
func (r *repairs) add(sent []seen) {
	if len(sent) == 0 {
		return
	}
	first := sent[0].psn
	last := map[uint32]int{} // by distance from the first: where the packet was sent last
	top, before := uint32(0), uint32(0)
	for i := range sent {
		s := &sent[i]
		at := s.psn.Diff(first)
		if i > 0 && at < top {
			r.again++
			r.bytes += int64(s.bytes)
		}
		if i > 0 && at <= before {
			r.loops = append(r.loops, s.ps-sent[last[at]].ps)
			r.flight = append(r.flight, i-last[at])
		}
		last[at], before = i, at
		top = max(top, at+1)
	}
}

// delivered is what came of a flow in order.
type delivered struct {
	first, last int64 // ps: ends of the first and the last message
	at          []int64
	bytes       []int64 // of payload up to at
}

// inOrder keeps of what arrived what the receiver can use.
func inOrder(arrived []seen, first roce.PSN) (d delivered) {
	next, sum := first, int64(0)
	for _, s := range arrived {
		if s.psn != next {
			continue
		}
		next = next.Add(1)
		sum += int64(s.bytes)
		d.at, d.bytes = append(d.at, s.ps), append(d.bytes, sum)
		if s.ends {
			if d.first == 0 {
				d.first = s.ps
			}
			d.last = s.ps
		}
	}
	return d
}

// until is the payload that had come at a time.
func (d *delivered) until(ps int64) (n int64) {
	for i := range d.at {
		if d.at[i] > ps {
			break
		}
		n = d.bytes[i]
	}
	return n
}
