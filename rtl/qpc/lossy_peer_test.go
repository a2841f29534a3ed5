package qpc

import (
	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/rtl/port"
)

// peer is a responder (IBTA 9.7.5.1).
type peer struct {
	expected roce.PSN
	nak, rnr bool
}

// take judges a request.
func (p *peer) take(l *lossy, q *request) {
	w := l.works[q.unit]
	require.Equal(l.t, w.first.Add(q.offset), q.psn, "a request is the same each time")
	switch {
	case q.psn.Before(p.expected): // a duplicate
		switch {
		case w.kind != doSend:
			p.answer(l, w, q)
		case q.ack:
			p.ack(l, p.expected.Sub(1), 31)
		}
		return
	case q.psn != p.expected:
		if !p.nak && !p.rnr {
			p.nak = true
			p.ack(l, p.expected, 0x60)
		}
		return
	}
	p.nak, p.rnr = false, false
	if w.kind == doSend && q.offset == 0 && l.r.IntN(8) == 0 {
		p.rnr = true
		p.ack(l, q.psn, roce.RNRSyndrome(uint8(10+l.r.IntN(8))))
		return
	}
	p.expected = q.last.Add(1)
	if w.kind != doSend || q.offset == w.packets-1 {
		w.executed++
	}
	switch {
	case w.kind != doSend:
		p.answer(l, w, q)
	case q.ack:
		p.ack(l, q.psn, 31)
	}
}

func (p *peer) ack(l *lossy, psn roce.PSN, s roce.Syndrome) { p.send(l, ackOf(psn, s)) }

// answer sends the answer of a READ, or the rest of it, or that of an atomic.
func (p *peer) answer(l *lossy, w *work, q *request) {
	if w.kind == doAtomic {
		p.send(l, answerOf(roce.RCAtomicAck, q.psn, 0))
		return
	}
	if q.offset > 0 {
		l.count.Partial++
	}
	for psn := q.psn; ; psn = psn.Add(1) {
		op := roce.RCReadRespMiddle
		switch {
		case psn == q.psn && psn == q.last:
			op = roce.RCReadRespOnly
		case psn == q.psn:
			op = roce.RCReadRespFirst
		case psn == q.last:
			op = roce.RCReadRespLast
		}
		p.send(l, answerOf(op, psn, 4096))
		if psn == q.last {
			return
		}
	}
}

func (p *peer) send(l *lossy, x port.RxPkt) {
	x.QPN = l.qpn
	if !l.drop() {
		l.in.send(x, l.now+20+l.r.Uint64N(60))
	}
}

// table is retrans.
type table struct {
	entries []port.Sent
	start   roce.PSN // after the last message of the wire that ended
	una     roce.PSN

	rewind bool
	at     roce.PSN
	gen    uint8
	wait   uint64 // cycle

	on       bool // the ACK timer
	expired  bool
	fail     bool
	failPSN  roce.PSN
	deadline uint64
	end      roce.PSN // after what has left
	arm      uint64
}

// left takes a request that has left.
func (x *table) left(l *lossy, last roce.PSN) {
	if x.rewind {
		return
	}
	if end := last.Add(1); end.After(x.end) {
		x.end = end
	}
	x.restart(l, !x.on && !x.expired)
}

// restart starts the timer, if something waits for an answer.
func (x *table) restart(l *lossy, anew bool) {
	waits := x.una.Before(x.end)
	if anew && waits {
		x.on, x.deadline = true, l.now+x.arm
	}
	x.on = x.on && waits
}

// tick takes what has arrived, ends messages, and answers.
func (x *table) tick(l *lossy) {
	if s, ok := l.sent.arrived(l.now); ok {
		require.Equal(l.t, x.arm, s.Arm)
		x.entries = append(x.entries, s)
	}
	if e, ok := l.acks.arrived(l.now); ok {
		x.event(l, &e)
	}
	if e, ok := l.events.arrived(l.now); ok {
		x.event(l, &e)
	}
	switch {
	case len(x.entries) > 0 && x.ends(&x.entries[0]):
		x.pop(l)
	case x.rewind && l.now >= x.wait && (len(x.entries) == 0 || !x.entries[0].LastPSN.Before(x.at)):
		x.answer(l)
	case x.on && l.now >= x.deadline:
		x.on, x.expired = false, true
		l.count.Timeouts++
		l.b.Retire.Push(port.Retire{Kind: port.RetireTimeout, QPN: l.qpn, Una: x.una})
	}
}

func (x *table) ends(s *port.Sent) bool {
	return s.Kind == port.SentLocal || s.LastPSN.Before(x.una) || x.fails(s)
}

func (x *table) fails(s *port.Sent) bool { return x.fail && !s.LastPSN.Before(x.failPSN) }

// pop ends the first message.
func (x *table) pop(l *lossy) {
	s := x.entries[0]
	x.entries = x.entries[1:]
	w := l.works[s.UnitIdx]
	require.False(l.t, w.done)
	w.done, w.failed = true, s.Status != 0 || x.fails(&s)
	if s.Kind == port.SentWire {
		x.start = s.LastPSN.Add(1)
	}
	r := port.Retire{Kind: port.RetireDone, QPN: l.qpn, Messages: 1, Una: x.una}
	if len(x.entries) > 0 {
		r.Oldest = x.entries[0].UnitIdx
	}
	l.b.Retire.Push(r)
}

func (x *table) event(l *lossy, e *port.AckEvent) {
	moved := e.Una.After(x.una)
	if moved {
		x.una = e.Una
	}
	if e.Fail {
		x.fail, x.failPSN, x.rewind = true, e.FailPSN, false
	}
	if e.Rewind {
		require.False(l.t, x.rewind, "one question at a time")
		require.Equal(l.t, x.gen+1, e.Gen)
		x.rewind, x.at, x.gen, x.wait = true, e.At, e.Gen, l.now+e.Wait
		x.on, x.expired, x.end = false, false, e.At
		l.count.Rewinds++
		return
	}
	x.restart(l, moved && x.on || x.expired && !x.rewind)
	x.expired = false
}

func (x *table) answer(l *lossy) {
	x.rewind = false
	r := port.Retire{Kind: port.RetireRewind, QPN: l.qpn, Gen: x.gen, Una: x.una}
	if len(x.entries) > 0 {
		r.Any, r.Oldest, r.First, r.Last = true, x.entries[0].UnitIdx, x.start, x.entries[0].LastPSN
	}
	l.b.Retire.Push(r)
}
