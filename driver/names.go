package driver

import "rnic/abi"

// A work request names objects by number, and the device looks them up when it begins
// it. So the number of an address handle, a window or a region for FAST_REG is not
// handed out again while a work request that names it may still be begun: it rests
// from Destroy on, until it is needed, and then for as long as a work request that is
// not done names it. A key in a work request that moves data, or invalidates, has the low byte
// besides, which is another one for each object of the index.

// name is the number that must rest for a work request, if there is one.
func (q *QP) name(w *SendWR) (n uint32, ok bool) {
	switch {
	case q.typ == abi.QPTypeUD:
		if w.Op != abi.OpNop {
			return w.AH.num, true
		}
	case w.Op == abi.OpBindMW:
		return w.Bind.MW.RKey.Index(), true
	case w.Op == abi.OpFastReg:
		return w.FastReg.MR.key.Index(), true
	}
	return 0, false
}

// namesAHs and namesKeys tell what the work requests of a QP name.
func (q *qp) namesAHs() bool  { return q.typ == abi.QPTypeUD }
func (q *qp) namesKeys() bool { return q.connected() }

// takeUnnamed takes a number that no work request names. If there is none at first it
// asks the device, too, how far the queues are: what is not signalled may be done and
// have no completion yet.
func (d *Device) takeUnnamed(n *numbers, by func(*qp) bool) (v uint32, err error) {
	if v, err = n.take(); err == nil || len(n.resting) == 0 {
		return v, err
	}
	n.wake(d.named(by))
	if v, err = n.take(); err == nil || len(n.resting) == 0 {
		return v, err
	}
	for _, q := range d.qps {
		if q != nil && by(q) && q.sq.count > 0 {
			d.look(q)
		}
	}
	n.wake(d.named(by))
	return n.take()
}

// named are the numbers that work requests name which may not be done.
func (d *device) named(by func(*qp) bool) map[uint32]bool {
	m := map[uint32]bool{}
	for _, q := range d.qps {
		if q != nil && by(q) {
			q.sq.named(m)
		}
	}
	return m
}

func (w *workQueue) named(m map[uint32]bool) {
	at := w.passed
	for i := w.ci; i != w.pi; {
		r := &w.wr[abi.RingSlot(i, w.log)]
		if r.named && at >= w.done {
			m[r.names] = true
		}
		i, at = i+uint16(r.units), at+uint64(r.units)
	}
}

// look asks the device how far it is with a send queue. A QP that is destroyed or
// reset meanwhile tells nothing.
func (d *Device) look(q *qp) {
	s := &q.sq
	life := s.resets
	m, err := (&QP{qp: q, dev: d}).Query()
	if n := m.SQConsumer - s.ci; err == nil && s.resets == life && n <= s.pi-s.ci {
		s.done = s.passed + uint64(n)
	}
}
