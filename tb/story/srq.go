package story

// srq is a shared receive queue: its receives that no QP has taken, in order.
type srq struct {
	n      uint32
	posted uint16 // number of the next entry, in the order in which they are taken
	open   []*wr
}

// mostShared is more than an SRQ holds.
const mostShared = 1 << 16

// shared is an SRQ, which begins when it is first heard of.
func (s *side) shared(n uint32) *srq {
	q := s.srqs[n]
	if q == nil {
		q = &srq{n: n}
		s.srqs[n] = q
	}
	return q
}

// postShared takes a doorbell of an SRQ: so many entries are posted. They are taken in
// the order in which they were posted.
func (s *side) postShared(n uint32, index uint16, begin func(*wr)) {
	q := s.shared(n)
	for ; q.posted != index; q.posted++ {
		w := s.newWR(&qp{QP: QP{}}, "srq", q.posted)
		w.Op, w.Signalled, w.SRQ = "RECV", true, n
		begin(w)
		if q.open = append(q.open, w); len(q.open) > mostShared {
			q.open = q.open[1:]
		}
	}
}

// take gives a QP the entry of an SRQ that a packet of it has taken.
func (s *side) take(q *qp, n uint32, number uint16) *wr {
	k := s.shared(n)
	for i, w := range k.open {
		if w.Index != number {
			continue
		}
		k.open = append(k.open[:i:i], k.open[i+1:]...)
		w.QPN, w.Transport = q.QPN, q.Transport
		q.recvs = append(q.recvs, w)
		return w
	}
	return nil
}

// ended finds the receive of a QP that a completion is of. That of an SRQ names the slot of
// its entry; but a QP ends those in the order in which it has taken them.
func (q *qp) ended(index uint16) *wr {
	for i, w := range q.recvs {
		if w.Queue == "srq" || w.Index == index {
			q.recvs = append(q.recvs[:i:i], q.recvs[i+1:]...)
			return w
		}
	}
	return nil
}
