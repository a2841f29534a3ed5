package retrans_test

import (
	"slices"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/rtl/port"
)

// retired checks what qpc is told.
func (p *program) retired(v port.Retire) {
	qpn := int(v.QPN)
	l := p.qps[qpn]
	if !l.purging {
		require.False(p.t, v.Una.After(l.una))
	}
	if v.Kind == port.RetireTimeout {
		p.timeouts++
		if l.purging {
			return
		}
		require.True(p.t, p.timers)
		if !l.failed && l.una != l.next && p.entered(l) && p.r.IntN(2) == 0 {
			p.b.Event.Push(p.rewound(qpn))
			return
		}
		if l.una != l.limit() && !l.flush && p.onTable(l, l.una) {
			l.fault(l.una, abi.StatusRetryExc)
		}
		p.b.Event.Push(p.event(qpn))
		return
	}
	if v.Kind == port.RetireRewind {
		p.answer(l, v)
		return
	}
	if v.Messages == 0 {
		require.True(p.t, l.unacked || l.purging)
	}
	l.retired += int(v.Messages)
	require.LessOrEqual(p.t, l.retired, len(l.messages))
	if l.retired == 0 {
		return
	}
	if s := &l.messages[l.retired-1].sent; s.Kind == port.SentWire && !l.failed {
		require.True(p.t, v.Una.After(s.LastPSN))
	}
	if l.retired < len(l.messages) && v.Oldest != 0 {
		require.Equal(p.t, l.messages[l.retired].sent.UnitIdx, v.Oldest)
	}
}

// answer checks that to a rewind, and sends again.
func (p *program) answer(l *life, v port.Retire) {
	if v.Gen != l.gen || l.purging || l.failed {
		return // what came meanwhile was on its way
	}
	require.True(p.t, l.rewinding, "QP %d is answered twice", v.QPN)
	require.GreaterOrEqual(p.t, p.b.k.Cycle(), l.ready)
	l.rewinding = false
	want := port.Retire{Kind: port.RetireRewind, QPN: v.QPN, Gen: l.gen, Una: v.Una}
	if l.retired < len(l.messages) {
		s := &l.messages[l.retired].sent
		require.Equal(p.t, port.SentWire, s.Kind)
		require.False(p.t, s.LastPSN.Before(l.at))
		want.Any, want.Oldest, want.First, want.Last = true, s.UnitIdx, s.FirstPSN, s.LastPSN
	}
	require.Equal(p.t, want, v)
	for _, m := range l.messages[l.retired:] {
		if s := &m.sent; s.Kind == port.SentWire && p.r.IntN(8) > 0 {
			p.b.leave(v.QPN, s.LastPSN)
		}
	}
}

// completion checks a CQE, and those of messages before it that have none.
func (p *program) completion(c port.CQEReq) {
	qpn := int(c.QPN)
	l := p.qps[qpn]
	if c.Purge {
		require.True(p.t, l.purging)
		require.Equal(p.t, port.CQEReq{Purge: true, QPN: c.QPN}, c)
		l.purged = true
		return
	}
	for ; ; l.completed++ {
		require.Less(p.t, l.completed, len(l.messages))
		m := l.messages[l.completed]
		if m.sent.UnitIdx == c.UnitIdx {
			break
		}
		require.True(p.t, p.silent(l, l.completed), "QP %d unit %d is missing", qpn, m.sent.UnitIdx)
	}
	m := l.messages[l.completed]
	require.Contains(p.t, l.outcomes(l.completed), c.Status, "QP %d unit %d", qpn, c.UnitIdx)
	require.True(p.t, m.sent.Signaled || c.Status != abi.StatusSuccess)
	vendor := m.sent.Vendor
	switch {
	case c.Status == abi.StatusWRFlush && !(m.sent.Kind == port.SentLocal && m.sent.Status == c.Status):
		vendor = abi.VendorFlush
	case c.Status == abi.StatusWRFlush:
		vendor = c.Vendor // its own or that of the QP
	case m.sent.Kind == port.SentWire:
		vendor = abi.VendorErr(c.Status)
	}
	require.Equal(p.t, port.CQEReq{
		CQN: m.sent.SendCQN, QPN: c.QPN, UnitIdx: m.sent.UnitIdx, Opcode: m.sent.Op.WCOpcode(),
		Status: c.Status, Vendor: vendor, ByteLen: m.sent.ByteLen,
	}, c)
	l.completed++
}

func (p *program) silent(l *life, i int) bool {
	return !l.messages[i].sent.Signaled && slices.Contains(l.outcomes(i), abi.StatusSuccess)
}

// outcomes are the ways in which a message may end by what is known by now; none
// if it must still wait.
func (l *life) outcomes(i int) []abi.WCStatus {
	flushed := false // those before have all ended, one of them in failure of the QP
	maybe := false   // or that may be so
	for j, m := range l.messages[:i+1] {
		s := &m.sent
		acked := l.una.After(s.LastPSN)
		var may []abi.WCStatus
		switch {
		case flushed:
			may = []abi.WCStatus{abi.StatusWRFlush}
		case s.Kind == port.SentLocal:
			may = []abi.WCStatus{s.Status}
			if (l.flush || maybe) && !acked {
				may = append(may, abi.StatusWRFlush)
			}
		case acked:
			may = []abi.WCStatus{abi.StatusSuccess}
		default:
			may = slices.Clone(m.ends)
			if l.flush || maybe {
				may = append(may, abi.StatusWRFlush)
			}
			switch {
			case l.flush || len(m.ends) > 0:
				flushed = true
			default:
				maybe = maybe || len(may) > 0
			}
		}
		if j == i {
			return may
		}
		if len(may) == 0 {
			return nil
		}
	}
	return nil
}
