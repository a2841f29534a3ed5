package accept

import (
	"rnic/abi"
	"rnic/roce"
)

// drops are what the counters of packets that are dropped at the QP must show.
type drops struct {
	noQP                             uint64 // for a QP that the acceptor does not know: it is none, or another program's
	vague                            uint64 // for a QP that comes or goes: dropped under whatever counter, or not
	transport, pkey, addresses, qkey uint64
}

// vague tells whether the acceptor cannot know in which state the QP takes a packet.
func (q *qp) vague() bool {
	return q.broken || q.failed != 0 || q.phase == starting || q.phase >= stopping || q.a.p.FaultyReads || q.responds.mayBeDead()
}

// silently tells whether a packet is dropped without an answer, whatever it asks for
// (roce.md, Responder: check order), and counts it.
func (a *Acceptor) silently(q *qp, p *roce.Packet) bool {
	d, op := &a.drops, p.BTH.Opcode
	count := func(n *uint64) bool {
		*n++
		return true
	}
	switch {
	case q == nil:
		return count(&d.noQP)
	case op == roce.CNP:
		q.requests.n.other.once()
		return true
	}
	vague := q.vague()
	if vague {
		d.vague++
	}
	switch {
	case q.broken:
	case op.Transport() != q.transport():
		return vague || count(&d.transport)
	case q.phase == idle:
		q.requests.n.state.once()
	case (p.BTH.PKey^roce.DefaultPKey)&0x7fff != 0:
		return vague || count(&d.pkey)
	case !q.addressed(p):
		return vague || count(&d.addresses)
	case op.HasDETH() && p.DETH.QKey != q.QKey:
		return vague || count(&d.qkey)
	default:
		return false
	}
	return true
}

// once counts something that is certain.
func (s *span) once() { s.lo, s.hi = s.lo+1, s.hi+1 }

// shown adds what the counters must show; t is the sum over the QPs.
func (d *drops) shown(t *tally, to map[abi.Counter]span) {
	or := func(lo, hi uint64) span { return span{lo, hi + d.vague} }
	to[abi.RxDropBadQPN] = or(0, d.noQP)
	to[abi.RxDropBadState] = or(t.state.lo, t.state.hi+d.noQP)
	to[abi.RxDropBadTransport] = or(d.transport, d.transport)
	to[abi.RxDropBadPKey] = or(d.pkey, d.pkey)
	to[abi.RxDropBadAddress] = or(d.addresses, d.addresses)
	to[abi.RxDropBadQKey] = or(d.qkey, d.qkey)
	to[abi.RxDropOther] = or(t.other.lo, t.other.hi)
}

// Overflow takes a frame, without FCS, that was good and for which the port had no room.
func (a *Acceptor) Overflow(now uint64, data []byte) {
	a.watch(now)
	c := &a.counts
	if _, err := roce.ParseFrame(data); err != nil {
		a.fail(now, "frame of %d bytes counted as one without room: %v (roce.md, Packet)", len(data), err)
	}
	c.RxPackets++
	c.RxBytes += uint64(len(data))
	c.Overflow++
}
