package pkttx

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// lane works on the request at the head of its lane while no request is being
// sent. It tells whether that request can be sent.
func (s *Send) lane() (ready bool) {
	q, d := &s.Q, &s.D
	switch q.Lane {
	case laneAsk:
		if s.answer.Valid() {
			d.Lane, d.Fresh = laneHead, true
			if s.answer.Take().Drop {
				s.epoch.Set(s.epoch.Get() + 1)
				s.drop()
			}
		}
	case laneDrain:
		if s.chunks.Valid() {
			s.drain(q.Left)
		}
	case laneReport:
		if s.Fault.Space() == int(q.Room) {
			s.epoch.Set(s.epoch.Get() + 1)
			d.Lane = laneHead
		}
	case lanePurge:
		if q.Await == 0 && s.Purge.Ready() {
			s.Purge.Put(port.Purge{QPN: s.request.Take().Pkt.QPN})
			d.Lane = laneHead
		}
	default:
		return s.head()
	}
	return false
}

// head looks at a request that has come to the head.
func (s *Send) head() (ready bool) {
	q, d := &s.Q, &s.D
	if !s.request.Valid() {
		return false
	}
	j := s.request.Head()
	switch {
	case j.Pkt.Purge:
		d.Lane, d.Await = lanePurge, uint8(min(s.response.Len(), 255))
	case j.Epoch != s.epoch.Get() && !q.Fresh:
		if s.again.Ready() {
			s.again.Put(j.Pkt.QPN)
			d.Lane = laneAsk
		}
	case j.Pkt.Len > 0 && !s.chunks.Valid():
	case j.Pkt.Len > 0 && s.chunks.Head().Vendor != abi.VendorNone:
		if s.Fault.Ready() {
			s.Fault.Put(fault(j, s.chunks.Take().Vendor))
			d.Lane, d.Room = laneReport, uint8(s.Fault.Space())
			s.forget()
		}
	case !s.PortReg.Get().Enable:
		s.drop()
	default:
		return true
	}
	return false
}

// drop throws away the request at the head, and its payload.
func (s *Send) drop() {
	n := s.request.Head().beats()
	s.forget()
	if n > 0 {
		s.D.Lane, s.D.Left = laneDrain, n
	}
}

// drain throws away a beat of payload; one that reports a fault is the only one.
func (s *Send) drain(left uint8) {
	if s.chunks.Take().Vendor != abi.VendorNone {
		left = 1
	}
	s.D.Left = left - 1
	if left == 1 {
		s.D.Lane = laneHead
	}
}

func (s *Send) forget() {
	s.request.Take()
	s.D.Fresh = false
}
