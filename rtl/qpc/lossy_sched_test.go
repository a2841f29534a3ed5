package qpc

import (
	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// scheduler is wqe_sched: it executes one step of a service every few cycles.
type scheduler struct {
	want   bool // the QP was activated
	asking bool
	before roce.PSN // oldest PSN not acknowledged, as was known when it asked

	open   bool
	ctx    port.SQCtx
	put    port.SQPut
	budget uint8
}

func (s *scheduler) tick(l *lossy) {
	switch {
	case l.b.Put.Pending()+l.b.ReadPost.Pending() > 0: // they are at the block before what follows them
	case s.open && l.r.IntN(3) == 0:
		s.step(l)
	case s.want && !s.open && !s.asking && l.r.IntN(8) == 0:
		s.want, s.asking, s.before = false, true, l.una
		l.b.Get.Push(port.SQGet{QPN: l.qpn, Packets: 16})
	}
}

// context takes the answer to SQGet.
func (s *scheduler) context(l *lossy, c *port.SQCtx) {
	s.asking, s.open, s.ctx = false, c.Run || c.Flush, *c
	if !s.open || l.off > 0 {
		s.open = false
		return
	}
	s.budget = 16
	s.put = port.SQPut{
		QPN: l.qpn, ExecIdx: c.ExecIdx, Offset: c.Offset, NextPSN: c.NextPSN, Entered: c.Entered, EnteredPSN: c.EnteredPSN,
	}
	if c.Flush {
		require.Equal(l.t, c.Entered, c.ExecIdx)
		return
	}
	require.False(l.t, s.before.After(c.NextPSN), "sends again what is acknowledged")
	require.False(l.t, l.now < l.hold && !c.NextPSN.After(l.below), "cuts an RNR wait short")
}

// step executes a part of a WQE.
func (s *scheduler) step(l *lossy) {
	c, p := &s.ctx, &s.put
	if p.ExecIdx == c.PI {
		s.close(l, false)
		return
	}
	w := l.works[p.ExecIdx]
	if p.ExecIdx == p.Entered {
		if p.Messages == c.Messages || !c.Flush && w.kind != doSend && w.kind.wire() && c.Reads == 0 {
			s.close(l, false)
			return
		}
		s.enter(l, w)
	}
	offset := p.Offset / 4096
	if c.Flush || !w.kind.wire() {
		require.Zero(l.t, p.Offset)
		p.ExecIdx++
		if w.kind == doFault && !c.Flush {
			p.Fault, l.failed = true, true
			s.close(l, false)
		}
		return
	}
	require.Equal(l.t, w.first.Add(offset), p.NextPSN, "PSNs come out")
	if c.Window == 0 || s.budget == 0 {
		s.close(l, c.Window > 0)
		return
	}
	q := request{gen: c.Gen, unit: p.ExecIdx, offset: offset, psn: p.NextPSN, last: p.NextPSN, ack: true}
	if w.kind == doSend {
		q.ack = offset == w.packets-1 || c.Window == 1
	} else {
		q.last = w.first.Add(w.packets - 1)
	}
	l.tx = append(l.tx, q)
	n := q.last.Diff(q.psn) + 1
	p.NextPSN = p.NextPSN.Add(n)
	c.Window -= uint16(min(n, uint32(c.Window)))
	s.budget--
	p.Offset += n * 4096
	if p.Offset == w.packets*4096 {
		p.Offset = 0
		p.ExecIdx++
	}
}

// enter enters a WQE.
func (s *scheduler) enter(l *lossy, w *work) {
	c, p := &s.ctx, &s.put
	e := port.Sent{QPN: l.qpn, Kind: port.SentLocal, UnitIdx: p.Entered, Arm: c.Arm, FirstPSN: p.NextPSN, LastPSN: p.NextPSN}
	w.first = p.NextPSN
	switch {
	case c.Flush:
		e.Status = abi.StatusWRFlush
	case w.kind == doFault:
		e.Status = abi.StatusLocQPOp
	case w.kind.wire():
		e.Kind, e.LastPSN = port.SentWire, p.NextPSN.Add(w.packets-1)
		p.EnteredPSN = e.LastPSN.Add(1)
		p.Requests++
	}
	if w.kind == doSend && !c.Flush {
		p.Credited++
	} else if e.Kind == port.SentWire {
		c.Reads--
		op := abi.OpRead
		if w.kind == doAtomic {
			op = abi.OpFetchAdd
		}
		l.b.ReadPost.Push(port.ReadPost{QPN: l.qpn, Op: op, UnitIdx: p.Entered, FirstPSN: e.FirstPSN, LastPSN: e.LastPSN, Len: w.packets * 4096})
	}
	p.Messages++
	p.Entered++
	l.sent.send(e, l.now+1+l.r.Uint64N(20))
}

func (s *scheduler) close(l *lossy, more bool) {
	s.open = false
	s.want = s.want || more
	l.b.Put.Push(s.put)
}
