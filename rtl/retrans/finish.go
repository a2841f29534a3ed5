package retrans

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// finish carries out the operation on l, and tells whether the QP's first entry
// ends in the next cycle. If it is done but can't, the QP waits for its turn.
func (m *Retrans) finish(l *list) (end bool) {
	q, d := &m.Q, &m.D
	turn := !l.Queued
	put := 0
	switch q.Op {
	case opAlarm:
		m.alarm(l)
		turn = false
	case opSent:
		m.sent(l)
	case opPurge:
		m.purge(l)
	case opAck:
		if l.Purged && m.Sent.Valid() {
			return false // the message may be there that it acknowledges
		}
		e := m.Ack.Take()
		if !l.Purged {
			m.event(l, e)
		}
	case opEvent:
		m.event(l, m.Event.Take())
	case opWalk:
		if !m.room(0) {
			return false // it stays at the head
		}
		m.walk.Take()
		l.Queued = false
		turn = true
	case opEnd:
		put = m.end(l)
		d.N++
		turn = int(d.N) < m.p.Burst && !m.due.Valid()
	}
	if l.ends() && turn && m.room(put) {
		return true
	}
	if l.ends() && !l.Queued {
		l.Queued = true
		m.walkIn.Put(q.QPN)
	}
	if q.Op == opEnd {
		m.close(l)
	}
	return false
}

// sent enters a message into the table.
func (m *Retrans) sent(l *list) {
	d := &m.D
	s := m.Sent.Take()
	if int(m.Q.Used) == m.p.Entries {
		m.Fail("QP %d has an entry more than the outstanding table", s.QPN)
		return
	}
	d.Used++
	index := d.Fresh
	if int(index) < m.p.Entries {
		d.Fresh++
	} else {
		index = *m.Spare.Data(0)
		d.Get = m.after(d.Get)
	}
	*m.Entries.WriteNext(1, int(index)) = entry{
		Opcode:   s.Op.WCOpcode(),
		Signaled: s.Signaled,
		CQN:      s.SendCQN,
		ByteLen:  s.ByteLen,
		Status:   s.Status,
		Vendor:   s.Vendor,
	}
	waiting := l.waiting()
	before, linked, r := l.push(s, index)
	if linked {
		m.Links.Write(1, int(before), &r)
	}
	if !waiting && l.waiting() {
		m.start(l, s.Arm)
	}
}

// after is the place behind i in the ring of spare entries.
func (m *Retrans) after(i uint16) uint16 {
	if i++; int(i) < m.p.Entries {
		return i
	}
	return 0
}

// event takes what qpc says of a QP.
func (m *Retrans) event(l *list, e *port.AckEvent) {
	progress := l.learn(e)
	switch {
	case !l.waiting():
		l.Armed, l.Expired = false, false
	case progress || l.Expired:
		m.start(l, e.Arm)
	}
}

// start starts the timer of a QP, counted from when its cause was at the head of
// its stream. The timer is told only if it would wake too late.
func (m *Retrans) start(l *list, cycles uint64) {
	l.Armed, l.Expired = cycles != 0, false
	if l.Armed {
		l.Deadline = m.Now() - 1 + cycles
		m.wake(l)
	}
}

// wake has the timer report the QP at its deadline, or earlier.
func (m *Retrans) wake(l *list) {
	if l.Keyed && l.Key <= l.Deadline {
		return
	}
	l.Keyed, l.Key = true, l.Deadline
	m.arm.Put(alarm{QPN: m.Q.QPN, At: l.Deadline})
}

// near is the number of cycles that another alarm takes to come, at least.
const near = 10

// alarm looks whether the timer has expired; if it was restarted meanwhile, the
// rest is still to come. That is waited for if another alarm would come too late.
func (m *Retrans) alarm(l *list) {
	if !m.Retire.Ready() || l.Armed && l.Deadline > m.Now() && l.Deadline < m.Now()+near {
		return
	}
	m.due.Take()
	l.Keyed = false
	switch {
	case !l.Armed:
	case l.Deadline > m.Now():
		m.wake(l)
	default:
		l.Armed, l.Expired = false, true
		m.Retire.Put(port.Retire{Kind: port.RetireTimeout, QPN: m.Q.QPN, Una: l.Una})
		s := m.Stats.Get()
		s.LocalAckTimeoutErr++
		m.Stats.Set(s)
	}
}

// end ends the first entry, and returns how many CQEs that took.
func (m *Retrans) end(l *list) (put int) {
	d := &m.D
	index, unit := l.First.Index, l.First.UnitIdx
	drop := l.Fail == failDrop
	e := m.Entries.Data(0)
	status, vendor := l.pop(e, m.Links.Data(0))
	m.Spare.Write(1, int(d.Put), &index)
	d.Put = m.after(d.Put)
	d.Used--
	if drop || !e.Signaled && status == abi.StatusSuccess {
		return 0
	}
	m.CQE.Put(port.CQEReq{
		CQN:     e.CQN,
		QPN:     m.Q.QPN,
		UnitIdx: unit,
		Opcode:  e.Opcode,
		Status:  status,
		Vendor:  vendor,
		ByteLen: e.ByteLen,
	})
	return 1
}

// close reports the entries that ended one after the other.
func (m *Retrans) close(l *list) {
	d := &m.D
	m.Free.Put(port.SentFree{N: d.N})
	if l.Fail != failDrop {
		m.Retire.Put(port.Retire{Kind: port.RetireDone, QPN: m.Q.QPN, Messages: d.N, Oldest: l.First.UnitIdx, Una: l.Una})
	}
	d.N, d.Hold = 0, false
	if !l.waiting() {
		l.Armed, l.Expired = false, false
	}
}

// purge forgets the QP, or has its entries dropped first.
func (m *Retrans) purge(l *list) {
	if l.Count > 0 {
		l.Fail, l.Armed = failDrop, false
		m.D.Hold = true
		return
	}
	if !m.CQE.Ready() {
		return
	}
	p := m.Purge.Take()
	*l = list{Purged: true} // with no entry left it is in no queue
	m.CQE.Put(port.CQEReq{Purge: true, QPN: p.QPN})
}
