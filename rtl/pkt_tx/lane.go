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
			if x := s.answer.Take(); x.Drop {
				if !x.Stale {
					s.epoch.Set(s.epoch.Get() + 1)
				}
				s.drop()
			}
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
	response, from := j.Pkt.Resp || j.Pkt.Purge, j.origin()
	stale, known := s.fence.stale(&q.Fence, &d.Fence, &from)
	switch {
	case !known:
	case stale:
		s.drop()
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
			s.again.Put(question(&j.Pkt))
			d.Lane = laneAsk
		}
	case j.Pkt.Unread:
		s.report(j, abi.VendorDMARead)
	case j.Hdr.BadAH:
		s.report(j, abi.VendorAH)
	case j.Pkt.Len > 0 && !s.paid():
	case j.Pkt.Len > 0 && s.chunks.Head().Vendor != abi.VendorNone:
		s.report(j, s.chunks.Head().Vendor)
	case !s.PortReg.Get().Enable: // lost, as if on the wire
		s.left(&j.Pkt)
		s.drop()
	default:
		return true
	}
	return false
}

// paid tells whether the payload of the packet at the head is there.
func (s *Send) paid() bool {
	return s.chunks.Valid() && !passed(s.chunks.Head().Number, s.taken.Get())
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

// report tells of a packet that cannot be read, and drops it. The requester waits
// until qpc knows. The responder, which is before what qpc may wait for, does not: it
// says no more for the QP. Of the answer of a duplicate nothing is told.
func (s *Send) report(j *job, vendor abi.VendorErr) {
	q, d := &s.Q, &s.D
	switch {
	case j.Pkt.Resp && j.Pkt.Again:
		s.drop()
	case j.Pkt.Resp:
		if s.RespFault.Ready() {
			s.RespFault.Put(fault(j, vendor))
			*s.Mute.WriteNext(0, s.at(j.Pkt.QPN)) = mute{On: true, PSN: j.Pkt.PSN}
			d.Muted = q.Muted + 1
			s.drop()
		}
	case s.Fault.Ready():
		s.Fault.Put(fault(j, vendor))
		d.Lane, d.Room = laneReport, uint8(s.Fault.Space())
		s.drop()
	}
}

// drop takes the packet at the head away, and its payload: Buffer and Eval throw
// away what there is of it.
func (s *Send) drop() {
	if s.payload.Head().Pkt.Len > 0 {
		s.taken.Set(s.taken.Get() + 1)
	}
	s.forget()
}

// forget takes a packet without payload away.
func (s *Send) forget() {
	if s.payload.Take().Pkt.Resp {
		s.gone.Set(s.gone.Get() + 1)
	}
	s.D.Fresh, s.D.Know = false, false
}
