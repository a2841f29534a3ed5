package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// Shared is a shared receive queue with what it has to tell, as a QP has: see Note. It
// is its own, since the QP that took an entry may be gone when there is room to tell.
type Shared struct {
	SRQ
	Limited bool // SRQ_LIMIT_REACHED
	Failed  bool // SRQ_ERR
	Queued  bool // it is in the queue of those with something to tell
}

// admin executes an operation on a queue. known tells whether the number is one of the
// device's. What fails changes nothing.
func (s *Shared) admin(a *port.QPAdmin, known bool) (res port.QPAdminRes, w Bank) {
	var r result
	w = InShared
	switch {
	case !known:
		r = result{abi.AdminBadObject, abi.SynObject}
	case a.Op == port.SRQCreate:
		r = s.SRQ.create(&a.SRQ)
	case a.Op == port.SRQModify:
		var limit bool
		r, limit = s.SRQ.modify(&a.SRQ)
		s.Limited = s.Limited || limit
	case a.Op == port.SRQQuery:
		r = s.SRQ.query(&res.SRQ)
		w = 0
	default:
		if r = s.SRQ.destroy(); r.ok() {
			s.Limited, s.Failed = false, false
		}
	}
	res.Status, res.Syndrome = r.status, uint8(r.syndrome)
	if !r.ok() {
		w = 0
	}
	return res, w
}

// ring takes a doorbell.
func (s *Shared) ring(d *port.QPDoorbell) Bell {
	ok, badPage := s.SRQ.ring(d.Index, d.Page)
	if !ok {
		return Bell{BadPage: badPage, BadNumber: !badPage}
	}
	return Bell{Write: InShared}
}

// news tells whether there is something to tell.
func (s *Shared) news() bool { return s.Limited || s.Failed }

// tell takes one event out. Another one needs another turn.
func (s *Shared) tell(n port.SRQN) (v port.EventReq, has bool) {
	s.Queued = false
	v.Number = uint32(n)
	switch {
	case s.Failed:
		s.Failed, v.Type = false, abi.EventSRQErr
	case s.Limited:
		s.Limited, v.Type = false, abi.EventSRQLimitReached
	default:
		return port.EventReq{}, false
	}
	return v, true
}
