package check

import "rnic/roce"

// read is a READ or atomic that a responder has still to answer.
type read struct {
	next   roce.PSN // of the next response
	last   roce.PSN
	left   int // bytes
	begun  bool
	atomic bool
}

// readRequest notes a READ or atomic. A READ takes as many PSNs as its responses.
func (w *Wire) readRequest(ps int64, f *flow, p *roce.Packet) {
	psn := p.BTH.PSN
	r := read{next: psn, last: psn, left: int(p.RETH.Length), atomic: p.BTH.Opcode.IsAtomic()}
	if !r.atomic {
		n := max(1, (r.left+f.mtu-1)/f.mtu)
		r.last = psn.Add(uint32(n - 1))
	}
	f.next = r.last.Add(1)
	switch {
	case f.inside:
		w.fail(ps, "QP %06x PSN %06x: %v inside a message", p.BTH.DestQP, psn, p.BTH.Opcode)
	case len(p.Payload) != 0 || !p.BTH.AckReq || p.BTH.SE:
		w.fail(ps, "QP %06x PSN %06x: %v with payload or wrong flags", p.BTH.DestQP, psn, p.BTH.Opcode)
	case r.atomic && p.AtomicETH.VA%8 != 0:
		w.fail(ps, "QP %06x PSN %06x: atomic at %#x", p.BTH.DestQP, psn, p.AtomicETH.VA)
	}
	f.reads = append(f.reads, r)
	f.messages = f.messages.Add(1)
	f.ends = append(f.ends, ending{r.last, f.messages})
}

// response checks an answer against the READs and atomics that wait: answers leave
// in the order of the requests, and no acknowledgement passes a READ.
func (w *Wire) response(ps int64, f *flow, p *roce.Packet) {
	op, psn, dest := p.BTH.Opcode, p.BTH.PSN, p.BTH.DestQP
	if op == roce.RCAck {
		if p.AETH.Syndrome.Kind() == roce.KindACK && len(f.reads) > 0 && !psn.Before(f.reads[0].next) {
			w.fail(ps, "QP %06x: ACK of PSN %06x before the answer of %06x", dest, psn, f.reads[0].next)
		}
		return
	}
	if len(f.reads) == 0 || f.reads[0].next != psn {
		w.fail(ps, "QP %06x: %v of PSN %06x, which nobody waits for", dest, op, psn)
		return
	}
	r := &f.reads[0]
	n := len(p.Payload)
	want := roce.RCReadRespMiddle
	switch last := psn == r.last; {
	case r.atomic:
		want = roce.RCAtomicAck
	case !r.begun && last:
		want = roce.RCReadRespOnly
	case !r.begun:
		want = roce.RCReadRespFirst
	case last:
		want = roce.RCReadRespLast
	}
	size := min(r.left, f.mtu)
	if r.atomic {
		size = 0
	}
	if op != want || n != size {
		w.fail(ps, "QP %06x PSN %06x: %v with %d bytes, expected %v with %d", dest, psn, op, n, want, size)
	}
	r.begun, r.left, r.next = true, r.left-n, psn.Add(1)
	if psn == r.last {
		f.reads = f.reads[1:]
	}
}
