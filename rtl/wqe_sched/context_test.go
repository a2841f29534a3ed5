package wqesched_test

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// get answers as qpc does.
func (b *bench) get(g port.SQGet) port.SQCtx {
	q := b.qps[g.QPN]
	c := port.SQCtx{QPN: g.QPN, Type: q.Type, PD: port.PD(0x100 + g.QPN), State: q.State, MTU: uint16(q.MTU.Bytes()), SQBase: q.Base, SQLog: q.Log, PI: q.PI,
		ExecIdx: q.Exec, Offset: q.Offset, NextPSN: q.Next, Entered: q.Entered, EnteredPSN: q.EnterPSN, Gen: q.gen(),
		Arm: 1000, SendCQN: q.CQN, SigAll: q.Sig}
	if q.Busy {
		b.t.Errorf("QP %d: a Get while a service is open", g.QPN)
	}
	if q.PI == q.Exec || q.State == abi.QPReset || q.State == abi.QPRTS && (q.Rewinding || q.Paused && q.Exec == q.Entered) {
		return c
	}
	c.Run, c.Flush = q.State == abi.QPRTS, q.down()
	if c.Run {
		c.Window = uint16(q.Window - min(q.Window, q.Next.Diff(q.Una)))
	}
	if !q.Paused || q.State != abi.QPRTS {
		c.Messages = uint8(q.Messages - q.Entries)
	}
	c.Reads, c.Reading, c.Idle = uint8(q.Depth-len(q.Reads)), len(q.Reads) > 0, q.Next == q.Una
	if c.Credits = 0xffff; q.Limited {
		c.Credits = uint16(q.Credits)
	}
	if q.unacked() {
		c.Credits, c.Reads, c.Window = 0xffff, 0, 0
		if c.Run && q.Next.Diff(q.Una)+1<<16 < 1<<23 {
			c.Window = 0xffff
		}
	}
	q.Busy = c.Run || c.Flush
	q.Open, q.Granted = c.Gen, c.Messages
	return c
}

func (b *bench) put(p port.SQPut) {
	q := b.qps[p.QPN]
	if !q.Busy {
		b.t.Errorf("QP %d: a Put without service", p.QPN)
	}
	q.Busy = false
	q.Entries += int(p.Messages)
	q.Wire -= int(p.Requests)
	q.Takers -= int(p.Credited)
	if q.Credits -= int(p.Credited); q.Limited && q.Credits < 0 && !q.unacked() {
		b.t.Errorf("QP %d: more requests than credits", p.QPN)
	}
	if p.Messages > q.Granted {
		b.t.Errorf("QP %d: %d entries where %d were granted", p.QPN, p.Messages, q.Granted)
	}
	if q.State == abi.QPRTS && p.ExecIdx == p.Entered && !p.Fault && (p.Offset != 0 || p.NextPSN != p.EnteredPSN) {
		b.t.Errorf("QP %d: all is sent but PSNs up to %v: %v", p.QPN, p.EnteredPSN, p)
	}
	q.Counted += int(p.Messages)
	q.Entered, q.EnterPSN = p.Entered, p.EnteredPSN
	now := q.Open == q.gen()
	if now {
		q.Exec, q.Next, q.Offset = p.ExecIdx, p.NextPSN, p.Offset
	}
	if q.Top.Before(p.NextPSN) {
		q.Top = p.NextPSN
	}
	if q.down() {
		q.Exec, q.Offset = q.Entered, 0
	}
	switch {
	case p.Fault && now:
		b.fail(int(p.QPN))
	case p.Fault:
		q.Faulty = true
	case q.beyond():
		b.again(int(p.QPN))
	}
	b.progress.Notify()
}

// down tells whether what is posted is flushed.
func (q *queuePair) down() bool { return q.State == abi.QPErr || q.State == abi.QPSQE }

// reset ends the life of a QP, in any state, and begins another.
func (b *bench) reset(th *hdl.Thread, qpn int) {
	q := b.qps[qpn]
	q.State, q.Reset = abi.QPReset, true
	for b.Activate.Pending()+b.Push.Pending() > 0 {
		th.Sleep(10) // qpc told all that it had to tell before it answered admin
	}
	th.Sleep(4)
	b.Purge.Push(port.Purge{QPN: port.QPN(qpn)})
	for q.out.purged == 0 || q.Busy { // what qpc was told before is on another stream
		if !th.Wait(&b.progress, th.Now()+100000) {
			b.t.Errorf("QP %d: the marker got lost", qpn)
			return
		}
	}
	if n := len(q.Live); n > 0 {
		b.Free.Push(port.SentFree{N: uint8(n)})
		b.entries += n
	}
	next := b.life(qpn, q.Log, q.MTU, q.Window, q.Messages)
	next.start(q.Exec, next.First)
	b.qps[qpn] = next
}

// fail takes a QP to ERR: what is outstanding ends, what is posted is flushed.
func (b *bench) fail(qpn int) {
	q := b.qps[qpn]
	if q.State == abi.QPReset {
		return
	}
	q.State, q.Failed, q.Rewinding = abi.QPErr, true, false
	if q.unacked() {
		q.State = abi.QPSQE
	}
	if !q.Busy {
		q.Exec, q.Offset = q.Entered, 0
	}
	b.acks = append(b.acks, ack{at: b.k.Cycle() + b.ackDelay(), qpn: qpn, una: q.Next.Add(1 << 22), cqn: q.CQN})
	b.ackEvent.Notify()
	b.Activate.Push(port.Activate{QPN: port.QPN(qpn)})
}
