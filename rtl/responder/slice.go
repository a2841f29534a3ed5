package responder

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// slice is what is being sent: a job, or as much of a READ as a turn allows.
type slice struct {
	Valid bool
	QPN   port.QPN
	Ends  bool // the job ends with it
	Job   entry
	Value value // of an atomic
}

// cut takes up to budget packets off a job. left tells whether rest remains of it.
func cut(n port.QPN, e *entry, budget uint8) (s slice, packets uint8, rest entry, left bool) {
	s = slice{Valid: true, QPN: n, Ends: true, Job: *e}
	if e.Kind != port.JobRead {
		return s, 1, rest, false
	}
	whole := uint32(budget) * uint32(e.MTU)
	if e.Len <= whole {
		return s, uint8(max(1, (e.Len+uint32(e.MTU)-1)/uint32(e.MTU))), rest, false
	}
	s.Ends, s.Job.Len = false, whole
	rest = *e
	rest.Begun = true
	rest.PSN = e.PSN.Add(uint32(budget))
	rest.VA += port.VA(whole)
	rest.Len -= whole
	return s, budget, rest, true
}

// send describes the next packet of the slice, if pkt_tx and qpc take it.
func (r *Responder) send() {
	s := &r.D.Slice
	if !s.Valid || !r.Pkt.Ready() || !r.Piece.Ready() || !r.Done.Ready() {
		return
	}
	e := &s.Job
	if e.Kind == port.JobNone {
		r.done(s)
		return
	}
	p := r.Pkt.Next()
	r.D.Sent++
	*p = port.TxPkt{QPN: s.QPN, Resp: true, PSN: e.PSN}
	switch e.Kind {
	case port.JobRead:
		r.sendRead(p)
		return
	case port.JobAtomic:
		p.Opcode, p.Syndrome, p.MSN = roce.RCAtomicAck, e.Syndrome, e.MSN
		p.Reth.Swap, p.Unread = s.Value.Original, s.Value.Err
		r.done(s)
	default:
		p.Opcode, p.Syndrome, p.MSN = roce.RCAck, e.Syndrome, e.MSN
		s.Valid = false
	}
}

// done ends a slice that is the end of a READ or atomic.
func (r *Responder) done(s *slice) {
	s.Valid = false
	r.Done.Put(port.RespDone{QPN: s.QPN, Again: s.Job.Again})
}

// sendRead describes a READ response.
func (r *Responder) sendRead(p *port.TxPkt) {
	s := &r.D.Slice
	e := &s.Job
	p.Again = e.Again
	last := e.Len <= uint32(e.MTU)
	n := uint16(min(e.Len, uint32(e.MTU)))
	switch ends := last && s.Ends; {
	case ends && !e.Begun:
		p.Opcode = roce.RCReadRespOnly
	case ends:
		p.Opcode = roce.RCReadRespLast
	case !e.Begun:
		p.Opcode = roce.RCReadRespFirst
	default:
		p.Opcode = roce.RCReadRespMiddle
	}
	if p.Opcode.HasAETH() {
		p.Syndrome, p.MSN = e.Syndrome, e.MSN
	}
	if n > 0 {
		p.Len, p.NumPieces = n, 1
		r.Piece.Put(port.TxPiece{Access: uint8(abi.AccessRemoteRead), Key: e.Key, VA: e.VA, Len: n})
	}
	e.Begun = true
	e.PSN = e.PSN.Add(1)
	e.VA += port.VA(n)
	e.Len -= uint32(n)
	switch {
	case last && s.Ends:
		r.done(s)
	case last:
		s.Valid = false
	}
}
