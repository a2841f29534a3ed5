package retrans

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// finish carries out the operation on l, and tells whether the QP's first entry
// ends in the next cycle. If it is done but can't, or if the answer to a rewind is due,
// the QP waits for its turn.
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
	case opLeft:
		if l.Purged && m.Sent.Valid() || !m.Retire.Ready() {
			return false // as above; or qpc can't be told
		}
		if g := m.gone.Take(); !l.Purged && l.leave(g.End) {
			m.Retire.Put(port.Retire{Kind: port.RetireDone, QPN: g.QPN, Oldest: l.First.UnitIdx, Una: l.Una})
		}
	case opWalk:
		if !m.room(0) {
			return false // it stays at the head
		}
		m.walk.Take()
		l.Queued = false
		turn = true
		if l.answers() {
			m.answer(l)
		}
	case opEnd:
		put = m.end(l)
		d.N++
		turn = int(d.N) < m.p.Burst && !m.expired.Valid()
	}
	if l.ends() && turn && m.room(put) {
		return true
	}
	if (l.ends() || l.answers()) && !l.Queued {
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
	before, linked, r := l.push(s, index)
	if linked {
		m.Links.Write(1, int(before), &r)
	} else {
		m.tell.Put(news{Kind: newsSent, QPN: s.QPN, Una: l.Una, Arm: s.Arm})
	}
}

// after is the place behind i in the ring of spare entries.
func (m *Retrans) after(i uint16) uint16 {
	if i++; int(i) < m.p.Entries {
		return i
	}
	return 0
}

// event takes what qpc says of a QP, and tells Clock.
func (m *Retrans) event(l *list, e *port.AckEvent) {
	rewind := l.learn(e)
	n := m.tell.Next()
	*n = news{Kind: newsEvent, QPN: e.QPN, Una: l.Una, Arm: e.Arm}
	switch {
	case l.Fail == failAt:
		n.Kind, n.End = newsFail, l.FailPSN
	case l.Fail != failNone:
		n.Kind, n.End = newsFail, l.Una
	case rewind:
		n.Kind, n.End, n.Wait, n.Gen = newsRewind, e.At, e.Wait, e.Gen
	}
}

// alarm takes a report of Clock, unless an event has overtaken it that Clock is
// being told of.
func (m *Retrans) alarm(l *list) {
	if !m.Retire.Ready() {
		return
	}
	x := m.expired.Take()
	switch {
	case x.Waited && x.Gen == l.Gen:
		l.Wait = false
	case !x.Waited && l.Known && l.Una == x.Una && l.Fail < failFlush && !l.Rewind:
		m.Retire.Put(port.Retire{Kind: port.RetireTimeout, QPN: m.Q.QPN, Una: l.Una})
	}
}

// answer tells qpc from where the QP may send again.
func (m *Retrans) answer(l *list) {
	l.Rewind = false
	r := m.Retire.Next()
	*r = port.Retire{Kind: port.RetireRewind, QPN: m.Q.QPN, Gen: l.Gen, Una: l.Una}
	if l.Count > 0 {
		r.Any, r.Oldest, r.First, r.Last = true, l.First.UnitIdx, l.Start, l.First.LastPSN
	}
	m.tell.Put(news{Kind: newsAnswer, QPN: m.Q.QPN})
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
}

// purge forgets the QP, or has its entries dropped first.
func (m *Retrans) purge(l *list) {
	if l.Count > 0 {
		l.Fail, l.Rewind = failDrop, false
		m.D.Hold = true
		return
	}
	if !m.CQE.Ready() {
		return
	}
	p := m.Purge.Take()
	*l = list{Queued: l.Queued, Purged: true}
	m.tell.Put(news{Kind: newsPurge, QPN: p.QPN})
	m.CQE.Put(port.CQEReq{Purge: true, QPN: p.QPN})
}
