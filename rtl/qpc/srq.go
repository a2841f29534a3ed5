package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// SRQ is a shared receive queue. Its entries are a list that rq_fetch follows; here are
// only numbers: entries in the order of posting, modulo 2^16. One that was taken belongs
// to the QP that took it, and has a slot until that has completed it, which only the
// driver keeps account of.
type SRQ struct {
	Exists bool
	Dead   bool  // an entry could not be read: SRQ_ERR was told
	Taken  bool  // an entry has been taken since the creation
	Page   uint8 // doorbell page
	Log    uint8 // log2 of the slots of the ring
	Stride uint8 // log2 of the bytes of a slot
	MaxSGE uint8
	PD     port.PD
	Base   port.BusAddr
	PI, CI uint16 // number of the next entry to be posted, and to be taken
	Limit  uint16 // SRQ_LIMIT_REACHED when fewer entries are left; 0: never
}

// create makes an empty queue. A limit that it begins with holds from the first take
// on, since nothing can have been posted.
func (s *SRQ) create(m *abi.SRQMailbox) result {
	lim := &abi.DefaultLimits0
	switch {
	case s.Exists:
		return result{abi.AdminExists, abi.SynObject}
	case m.UARPage >= abi.UARPages:
		return badParam(abi.SynUARPage)
	case m.MaxSGE > lim.MaxSGE:
		return badParam(abi.SynMaxSGE)
	case m.LogStride < minStrideLog, m.LogStride > maxStrideLog, 1<<m.LogStride < abi.SGESize*(1+uint32(m.MaxSGE)):
		return badParam(abi.SynRQ)
	}
	if r := checkSRQRing(m, 1, m.LogStride); !r.ok() {
		return r
	}
	if m.Limit > slots(m.LogSize) {
		return badParam(abi.SynLimit)
	}
	*s = SRQ{
		Exists: true, Page: uint8(m.UARPage), Log: m.LogSize, Stride: m.LogStride, MaxSGE: m.MaxSGE,
		PD: port.PD(m.PD), Base: port.BusAddr(m.Base), Limit: m.Limit,
	}
	return result{}
}

// checkSRQRing judges the ring of a mailbox, of at least 2^least slots.
func checkSRQRing(m *abi.SRQMailbox, least, stride uint8) result {
	switch {
	case m.LogSize < least, m.LogSize > abi.MaxLogRing:
		return badParam(abi.SynLogSize)
	case !ringFits(m.Base, 1<<(m.LogSize+stride)):
		return badParam(abi.SynBase)
	}
	return result{}
}

// slots is the number of entries that a ring has room for: one slot stays free.
func slots(log uint8) uint16 { return 1<<log - 1 }

// modify moves the queue to a larger ring, or arms the limit, or both. limit tells that
// fewer entries are left than that: SRQ_LIMIT_REACHED at once.
func (s *SRQ) modify(m *abi.SRQMailbox) (r result, limit bool) {
	log := s.Log
	switch {
	case !s.Exists:
		return result{abi.AdminBadObject, abi.SynObject}, false
	case m.Mask&^(abi.SRQRing|abi.SRQLimit) != 0:
		return badParam(abi.SynSRQ), false
	}
	if m.Mask&abi.SRQRing != 0 {
		if r = checkSRQRing(m, s.Log, s.Stride); !r.ok() {
			return r, false
		}
		log = m.LogSize
	}
	if m.Mask&abi.SRQLimit != 0 && m.Limit > slots(log) {
		return badParam(abi.SynLimit), false
	}
	if m.Mask&abi.SRQRing != 0 {
		s.Base, s.Log = port.BusAddr(m.Base), log
	}
	if m.Mask&abi.SRQLimit != 0 {
		s.Limit = m.Limit
	}
	return r, m.Mask&abi.SRQLimit != 0 && s.reached()
}

// query describes the queue.
func (s *SRQ) query(m *abi.SRQMailbox) result {
	if !s.Exists {
		return result{abi.AdminBadObject, abi.SynObject}
	}
	*m = abi.SRQMailbox{
		Base: uint64(s.Base), LogSize: s.Log, LogStride: s.Stride, MaxSGE: s.MaxSGE, PD: uint32(s.PD),
		UARPage: uint16(s.Page), Limit: s.Limit, Producer: s.PI, Consumer: s.CI,
	}
	return result{}
}

// destroy ends the queue. That no QP uses it, admin has seen to.
func (s *SRQ) destroy() result {
	if !s.Exists {
		return result{abi.AdminBadObject, abi.SynObject}
	}
	*s = SRQ{}
	return result{}
}

// ring takes the number of entries posted of a doorbell: not less than before, and not
// more than the ring has room for beyond what was taken. It is false for one that can't
// be, as of a queue that does not exist.
func (s *SRQ) ring(index uint16, page uint8) (ok, badPage bool) {
	switch ahead := index - s.CI; {
	case !s.Exists:
		return false, false
	case page != s.Page:
		return false, true
	case ahead < s.left(), ahead > slots(s.Log):
		return false, false
	}
	s.PI = index
	return true, false
}

// left is the number of entries posted and not taken.
func (s *SRQ) left() uint16 { return s.PI - s.CI }

// take takes the next entry, of which there must be one left. first: it is the first
// ever, that in slot 0. limit: SRQ_LIMIT_REACHED.
func (s *SRQ) take() (number uint16, first, limit bool) {
	number, first = s.CI, !s.Taken
	s.Taken = true
	s.CI++
	return number, first, s.reached()
}

// reached tells whether fewer entries are left than the limit, which is then off.
func (s *SRQ) reached() bool {
	if s.left() >= s.Limit {
		return false
	}
	s.Limit = 0
	return true
}

// fail notes that an entry could not be read. It is true the first time: SRQ_ERR.
func (s *SRQ) fail() bool {
	first := s.Exists && !s.Dead
	s.Dead = s.Dead || first
	return first
}

// describe puts an entry that was taken into a verdict. SRQN and First are the
// caller's.
func (s *SRQ) describe(number uint16, v *port.RxVerdict) {
	v.SRQ = true
	v.RQPD = s.PD
	v.RQIdx = number
	v.RQAddr = s.Base
	v.RQStride = 1 << s.Stride
	v.RQLog = s.Log
	v.RQNext = s.left()
}
