package host

import (
	"slices"

	"rnic/pcie"
)

// read is a read of the NIC between memory and its last completion.
type read struct {
	*packet
	ready   uint64 // cycle in which its first completion may leave
	verdict Fault
	status  pcie.Status // of a failure
}

// read executes a read: it sees what landed before, and nothing that lands later.
func (r *RootComplex) read(p *packet) {
	r.Stats.Reads++
	v := Verdict{}
	if r.Params.Fault != nil {
		v = r.Params.Fault(&p.hdr)
	}
	n := p.hdr.Bytes()
	p.data = slices.Grow(p.data[:0], max(1, n))[:max(1, n)]
	clear(p.data)
	p.sent = 0
	j := &read{packet: p, verdict: v.Fault}
	if n > 0 && (r.Mem.Read(p.hdr.Start(), p.data) != nil || inMSI(p.hdr.Start())) {
		j.verdict = FaultUR
	}
	j.status = pcie.UnsupportedRequest
	if j.verdict == FaultCA {
		j.status = pcie.CompleterAbort
	}
	j.ready = max(r.Now(), p.at+r.cycles(r.Params.Read(r.rng))) + v.Delay
	if n := r.posted.len(); n > 0 {
		j.ready = max(j.ready, r.posted.q[len(r.posted.q)-1].due) // no passing
	}
	i := len(r.reads)
	for i > 0 && r.reads[i-1].ready > j.ready {
		i--
	}
	r.reads = slices.Insert(r.reads, i, j)
}

func inMSI(addr uint64) bool { return addr >= MSIBase && addr < MSIBase+MSISize }

// completion is the next completion of one of the reads that are ready, nil if
// there is none.
func (r *RootComplex) completion(now uint64) *packet {
	for len(r.reads) > 0 && r.reads[0].ready <= now {
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
			r.done(r.ready[i].packet)
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
func (r *RootComplex) cut(j *read) (c *packet, last bool) {
	left := len(j.data) - j.sent
	blocks := r.Params.MaxPayload / pcie.RCB
	switch r.Params.Split {
	case SplitRCB:
		blocks = 1
	case SplitRandom:
		blocks = 1 + r.rng.IntN(blocks)
	}
	n := pcie.CompletionChunk(j.hdr.Start()+uint64(j.sent), left, blocks)
	last = n == left
	strike := j.verdict != FaultNone && (last || r.rng.IntN(2) == 0)
	switch {
	case strike && j.verdict == FaultNever:
		r.release(j.hdr.Tag)
		return nil, true
	case strike && j.verdict != FaultPoison:
		r.release(j.hdr.Tag)
		return r.packet(pcie.Failure(&j.hdr, 0, j.sent, j.status)), true
	}
	c = r.packet(pcie.Completion(&j.hdr, 0, j.sent, n))
	if strike {
		c.hdr.Poison, j.verdict = true, FaultNone
	}
	c.data = append(c.data, j.data[j.sent:j.sent+n]...)
	j.sent += n
	if last {
		r.release(j.hdr.Tag)
	}
	return c, last
}

func (r *RootComplex) release(t pcie.Tag) {
	r.tags[t] = false
	r.open--
}
