package host

import (
	"math"
	"slices"

	"rnic/pcie"
)

// read executes a read: it sees what landed before, and nothing that lands later.
func (r *RootComplex) read(p *packet) {
	r.Stats.Reads++
	v := Verdict{}
	if r.Params.Fault != nil {
		v = r.Params.Fault(&p.hdr)
		r.struck(p, v)
	}
	r.stop(v.Stop)
	n := p.hdr.Bytes()
	p.data = slices.Grow(p.data[:0], max(1, n))[:max(1, n)]
	clear(p.data)
	p.sent = 0
	p.verdict, p.status = v.Fault, pcie.UnsupportedRequest
	if n > 0 && (r.Mem.Read(p.hdr.Start(), p.data) != nil || inMSI(p.hdr.Start())) {
		p.verdict = FaultUR
	}
	if p.verdict == FaultCA {
		p.status = pcie.CompleterAbort
	}
	p.due = max(r.Now(), p.at+r.cycles(r.Params.Read(r.rng))) + v.Delay
	if n := r.posted.len(); n > 0 {
		p.due = max(p.due, r.posted.q[len(r.posted.q)-1].due) // no passing
	}
	i := len(r.reads)
	for i > 0 && r.reads[i-1].due > p.due {
		i--
	}
	r.reads = slices.Insert(r.reads, i, p)
}

func inMSI(addr uint64) bool { return addr >= MSIBase && addr < MSIBase+MSISize }

// completion is the next completion of one of the reads that are ready, nil if
// there is none.
func (r *RootComplex) completion(now uint64) *packet {
	for len(r.reads) > 0 && r.reads[0].due <= now {
		r.ready = append(r.ready, r.reads[0])
		r.reads = slices.Delete(r.reads, 0, 1)
	}
	for len(r.ready) > 0 {
		i := 0
		if r.Params.Shuffle {
			i = r.rng.IntN(len(r.ready))
		}
		c, last := r.cut(r.ready[i])
		if last {
			r.done(r.ready[i])
			r.ready = slices.Delete(r.ready, i, i+1)
		}
		if c != nil {
			return c
		}
	}
	return nil
}

// cut takes the next completion from a read; last says that there is no further
// one. It is nil if the read is never to be answered.
func (r *RootComplex) cut(p *packet) (c *packet, last bool) {
	left := len(p.data) - p.sent
	blocks := r.Params.MaxPayload / pcie.RCB
	switch r.Params.Split {
	case SplitRCB:
		blocks = 1
	case SplitRandom:
		blocks = 1 + r.rng.IntN(blocks)
	}
	n := pcie.CompletionChunk(p.hdr.Start()+uint64(p.sent), left, blocks)
	last = n == left
	strike := p.verdict != FaultNone && (last || r.rng.IntN(2) == 0)
	switch {
	case strike && p.verdict == FaultNever:
		r.asked[p.hdr.Tag].Due = math.MaxUint64
		r.release(p.hdr.Tag)
		return nil, true
	case strike && p.verdict != FaultPoison:
		r.release(p.hdr.Tag)
		return r.packet(pcie.Failure(&p.hdr, 0, p.sent, p.status)), true
	}
	c = r.packet(pcie.Completion(&p.hdr, 0, p.sent, n))
	if strike {
		c.hdr.Poison, p.verdict = true, FaultNone
	}
	c.data = append(c.data, p.data[p.sent:p.sent+n]...)
	p.sent += n
	if last {
		r.release(p.hdr.Tag)
	}
	return c, last
}

func (r *RootComplex) release(t pcie.Tag) {
	r.tags[t] = false
	r.open--
}
