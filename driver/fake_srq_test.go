package driver_test

import "rnic/abi"

type fakeSRQ struct {
	abi.SRQMailbox
	pi, ci uint16 // numbers of WQEs posted and taken
	slot   uint16 // of the next
	qps    int
}

func (d *device) sharedQueue(c *abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) {
	s := d.srqs[c.Object]
	if c.Op == abi.AdminCreateSRQ {
		b := box(d, c, abi.SRQMailboxLayout.Decode)
		if s != nil || b.PD == 0 || !d.holds(b.Base, 1<<(b.LogSize+b.LogStride)) || 1<<b.LogStride < 16*(1+int(b.MaxSGE)) ||
			1<<b.LogSize > d.limit.MaxSRQEntries {
			d.m.fault("SRQ %d: %+v", c.Object, b)
		}
		d.srqs[c.Object] = &fakeSRQ{SRQMailbox: b}
		return abi.AdminOK, 0
	}
	switch {
	case s == nil:
		return abi.AdminBadObject, abi.SynObject
	case c.Op == abi.AdminModifySRQ:
		b := box(d, c, abi.SRQMailboxLayout.Decode)
		return d.modifySRQ(s, c.Object, &b)
	case c.Op == abi.AdminQuerySRQ:
		s.Producer, s.Consumer = s.pi, s.ci
		answer(d, c, abi.SRQMailboxLayout.Encode, &s.SRQMailbox)
	case s.qps != 0:
		return abi.AdminBusy, abi.SynObject
	default:
		delete(d.srqs, c.Object)
	}
	return abi.AdminOK, 0
}

func (d *device) modifySRQ(s *fakeSRQ, n uint32, b *abi.SRQMailbox) (abi.AdminStatus, abi.AdminSyndrome) {
	log := s.LogSize
	if b.Mask&abi.SRQRing != 0 {
		log = b.LogSize
		if log < s.LogSize || !d.holds(b.Base, 1<<(log+s.LogStride)) {
			d.m.fault("SRQ %d: %+v", n, b)
		}
	}
	if b.Mask&abi.SRQLimit != 0 {
		if b.Limit >= 1<<log {
			return abi.AdminBadParam, abi.SynLimit
		}
		s.Limit = b.Limit
	}
	if b.Mask&abi.SRQRing != 0 {
		s.Base, s.LogSize = b.Base, log
	}
	d.checkLimit(s, n)
	return abi.AdminOK, 0
}

func (d *device) checkLimit(s *fakeSRQ, n uint32) {
	if s.pi-s.ci < s.Limit {
		s.Limit = 0
		d.event(0, abi.Event{Type: abi.EventSRQLimitReached, Number: n})
	}
}

// available tells whether a QP has a receive WQE.
func (d *device) available(q *fakeQP) bool {
	if s := d.srqOf(q); s != nil {
		return s.pi != s.ci
	}
	return q.rqPI != q.rqCI
}

func (d *device) srqOf(q *fakeQP) *fakeSRQ {
	if q.Flags&abi.QPHasSRQ == 0 {
		return nil
	}
	return d.srqs[q.SRQN]
}

// takeRecv takes the next receive WQE: the index that completes it, its first SGE, and
// how many it has.
func (d *device) takeRecv(q *fakeQP) (index uint16, sges []byte, n int) {
	s := d.srqOf(q)
	addr, stride, max, number := q.RQBase+uint64(abi.RingSlot(q.rqCI, q.RQLogEntries))<<q.RQLogStride, q.RQLogStride, q.RQMaxSGE, q.rqCI
	if s != nil {
		addr, stride, max, number = s.Base+uint64(s.slot)<<s.LogStride, s.LogStride, s.MaxSGE, s.ci
	}
	b := make([]byte, 1<<stride)
	d.m.read(addr, b)
	var c abi.RWQEControl
	_ = abi.RWQEControlLayout.Decode(b, &c)
	if c.Index != number || c.NumSGE > max {
		d.m.fault("receive WQE %+v of QP %d at %d", c, q.num, number)
	}
	if s == nil {
		q.rqCI++
		return number, b[abi.RWQEDataOffset:], int(c.NumSGE)
	}
	if c.Next >= 1<<s.LogSize || c.Next == s.slot {
		d.m.fault("receive WQE %+v of SRQ %d names no slot", c, q.SRQN)
	}
	index, s.slot = s.slot, c.Next
	s.ci++
	d.checkLimit(s, q.SRQN)
	return index, b[abi.RWQEDataOffset:], int(c.NumSGE)
}

// begin has a QP hold the next WQE of its SRQ, as a message of several packets does.
func (d *device) begin(q *fakeQP) {
	q.slot, _, _ = d.takeRecv(q)
	q.holds = true
}

// letGo ends the WQE that a QP holds.
func (d *device) letGo(q *fakeQP) {
	if q.holds {
		q.holds = false
		d.cqe(q.RecvCQN, abi.CQE{Index: q.slot, QPN: q.num, Opcode: abi.WCRecv, Status: abi.StatusWRFlush, VendorErr: abi.VendorFlush}, true)
	}
}
