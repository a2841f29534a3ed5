package pkttx

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// lane works on the packet at the head of the payload lane while none of that lane
// is being sent. It tells whether that packet can be sent.
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
			s.drain(q.Drain)
		}
	case laneReport:
		if s.Fault.Space() == int(q.Room) {
			s.epoch.Set(s.epoch.Get() + 1)
			d.Lane = laneHead
		}
	default:
		return s.payload.Valid() && s.head(s.payload.Head())
	}
	return false
}

// head looks at a packet that has come to the head.
func (s *Send) head(j *job) (ready bool) {
	q, d := &s.Q, &s.D
	response := j.Pkt.Resp || j.Pkt.Purge
	switch {
	case response && s.overtakes(j):
	case response && q.Muted != 0 && !q.Know:
		s.Mute.Read(0, s.at(j.Pkt.QPN))
		d.Know = true
	case j.Pkt.Purge:
		s.purge(j.Pkt.QPN)
	case j.Hdr.Drop:
		s.forget()
	case j.Pkt.Resp && q.Muted != 0 && s.Mute.Data(0).silences(&j.Pkt):
		s.drop()
	case !j.Pkt.Resp && j.Epoch != s.epoch.Get() && !q.Fresh:
		if s.again.Ready() {
			s.again.Put(j.Pkt.QPN)
			d.Lane = laneAsk
		}
	case j.Pkt.Unread:
		s.report(j, abi.VendorDMARead)
	case j.Pkt.Len > 0 && !s.chunks.Valid():
	case j.Pkt.Len > 0 && s.chunks.Head().Vendor != abi.VendorNone:
		if s.report(j, s.chunks.Head().Vendor) {
			s.chunks.Take()
		}
	case !s.PortReg.Get().Enable:
		s.drop()
	default:
		return true
	}
	return false
}

// overtakes tells whether the fast lane still holds a response from before j.
func (s *Send) overtakes(j *job) bool {
	return j.Before-s.Q.Left-1 < uint16(s.fast.Len())
}

// purge passes the marker on; the QP may speak again.
func (s *Send) purge(n port.QPN) {
	q, d := &s.Q, &s.D
	if !s.Purge.Ready() {
		return
	}
	if q.Muted != 0 && s.Mute.Data(0).On {
		*s.Mute.WriteNext(0, s.at(n)) = mute{}
		d.Muted = q.Muted - 1
	}
	s.Purge.Put(port.Purge{QPN: n})
	s.forget()
}

// report tells of a packet that cannot be read. The requester waits until qpc
// knows. The responder, which is before what qpc may wait for, does not: it
// says no more for the QP. It tells whether that is done.
func (s *Send) report(j *job, vendor abi.VendorErr) bool {
	q, d := &s.Q, &s.D
	if j.Pkt.Resp {
		if s.RespFault.Ready() {
			s.RespFault.Put(fault(j, vendor))
			*s.Mute.WriteNext(0, s.at(j.Pkt.QPN)) = mute{On: true, PSN: j.Pkt.PSN}
			d.Muted = q.Muted + 1
			s.forget()
			return true
		}
		return false
	}
	if s.Fault.Ready() {
		s.Fault.Put(fault(j, vendor))
		d.Lane, d.Room = laneReport, uint8(s.Fault.Space())
		s.forget()
		return true
	}
	return false
}

// drop throws away the packet at the head, and its payload.
func (s *Send) drop() {
	n := s.payload.Head().beats()
	s.forget()
	if n > 0 {
		s.D.Lane, s.D.Drain = laneDrain, n
	}
}

// drain throws away a beat of payload; one that reports a fault is the only one.
func (s *Send) drain(left uint8) {
	if s.chunks.Take().Vendor != abi.VendorNone {
		left = 1
	}
	s.D.Drain = left - 1
	if left == 1 {
		s.D.Lane = laneHead
	}
}

// forget takes the packet at the head away.
func (s *Send) forget() {
	if s.payload.Take().Pkt.Resp {
		s.gone.Set(s.gone.Get() + 1)
	}
	s.D.Fresh, s.D.Know = false, false
}
