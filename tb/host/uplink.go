package host

import (
	"encoding/binary"

	"rnic/pcie"
)

// receive takes a beat of the NIC if the link has time for it.
func (r *RootComplex) receive(now uint64) {
	if !r.FromNIC.Valid() || now < r.stopped || !r.up.free(now) || !r.Params.Up.Go("up", now) {
		return
	}
	b := r.FromNIC.Take()
	if b.First != (r.receiving == nil) {
		r.Fail("a TLP of the NIC starts or goes on at the wrong beat: %+v", b.Hdr)
	}
	cost := int(b.Len)
	if b.First {
		r.receiving = r.packet(b.Hdr)
		r.receiving.came = now
		cost += b.Hdr.LinkBytes()
		if b.Hdr.Kind.HasData() {
			cost -= b.Hdr.Bytes()
		}
		r.Stats.UpTLPs++
		r.Stats.UpBytes += uint64(b.Hdr.LinkBytes())
	}
	p := r.receiving
	p.data = append(p.data, b.Data[:b.Len]...)
	r.up.use(now, cost)
	if !b.Last {
		if b.Len != pcie.BeatBytes {
			r.Fail("a beat of %d bytes within %+v", b.Len, p.hdr)
		}
		return
	}
	r.receiving = nil
	r.check(p)
	p.at = max(now, (r.up.busy-1)/r.up.rate)
	p.due = p.at + r.cycles(r.Params.Write(r.rng)) + r.judge(p)
	if n := r.landing.len(); n > 0 {
		p.due = max(p.due, r.landing.q[len(r.landing.q)-1].due)
	}
	r.landing.push(p)
}

// judge asks what becomes of a write, and gives the cycles that it is late.
func (r *RootComplex) judge(p *packet) uint64 {
	if p.hdr.Kind != pcie.MWr || r.Params.WriteFault == nil {
		return 0
	}
	v := r.Params.WriteFault(&p.hdr)
	r.struck(p, v)
	r.stop(v.Stop)
	p.verdict = v.Fault
	return v.Delay
}

// struck tells of a Fault.
func (r *RootComplex) struck(p *packet, v Verdict) {
	if r.OnFault != nil && v != (Verdict{}) {
		r.OnFault(p.came, &p.hdr, v)
	}
}

// check holds a TLP of the NIC against the specification and the limits.
func (r *RootComplex) check(p *packet) {
	h := &p.hdr
	n := h.Bytes()
	if h.Kind.HasData() && len(p.data) != n || !h.Kind.HasData() && len(p.data) != 0 {
		r.Fail("%d bytes of payload in %+v", len(p.data), *h)
	}
	limit := r.Params.MaxPayload
	if h.Kind == pcie.MRd {
		limit = r.Params.MaxReadRequest
		if r.tags[h.Tag] {
			r.Fail("the tag of %+v is in use", *h)
		}
		r.tags[h.Tag] = true
		r.asked[h.Tag] = OpenRead{Tag: h.Tag, Addr: h.Start(), Bytes: n, At: r.Now()}
		r.open++
		r.Stats.MaxReads = max(r.Stats.MaxReads, r.open)
	}
	if int(h.Len)*4 > limit {
		r.Fail("more than %d bytes: %+v", limit, *h)
	}
	if !h.Kind.IsRequest() {
		return
	}
	if dws, first, last := pcie.Span(h.Start(), max(1, n)); n > 0 && (dws != h.Len || first != h.First || last != h.Last) {
		r.Fail("length or byte enables wrong: %+v", *h)
	}
	if h.Addr&3 != 0 || h.Addr%pcie.PageSize+uint64(h.Len)*4 > pcie.PageSize {
		r.Fail("unaligned, or across 4 KiB: %+v", *h)
	}
}

// land does what has reached the host, in order.
func (r *RootComplex) land(now uint64) {
	for r.landing.len() > 0 && (*r.landing.head()).due <= now {
		p := r.landing.pop()
		switch p.hdr.Kind {
		case pcie.MWr:
			r.write(p)
			r.done(p)
		case pcie.MRd:
			r.read(p)
		default:
			r.answer(p)
			r.done(p)
		}
	}
}

// write puts a write of the NIC into memory, or raises an interrupt.
func (r *RootComplex) write(p *packet) {
	addr := p.hdr.Start()
	switch {
	case p.hdr.Poison || p.verdict != FaultNone && p.verdict != FaultNever:
		r.Stats.Stray++
		return
	case addr >= MSIBase && addr < MSIBase+MSISize:
		v := uint64(len(r.vectors))
		if len(p.data) == 4 && addr%4 == 0 {
			v = uint64(binary.LittleEndian.Uint32(p.data))
		}
		if v >= uint64(len(r.vectors)) {
			r.Stats.Stray++
			return
		}
		r.Stats.Messages++
		r.vectors[v].raise()
	default:
		if r.Mem.DMAWrite(addr, p.data) != nil {
			r.Stats.Stray++
			return
		}
		r.Stats.Writes++
	}
	if r.OnWrite != nil {
		r.OnWrite(r.Now(), addr, p.data)
	}
}
