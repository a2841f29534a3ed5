package qpc

import (
	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// begin begins a life of the QP: WQEs, and attributes for the way to RTS.
func (l *lossy) begin(faults bool) abi.QPMailbox {
	l.works = nil
	for range 4 + l.r.IntN(36) {
		w := &work{kind: workKind(l.r.IntN(5)) % doFault, packets: 1}
		if w.kind == doSend || w.kind == doRead {
			w.packets = 1 + l.r.Uint32N(1+l.r.Uint32N(40))
		}
		l.works = append(l.works, w)
	}
	if faults && l.r.IntN(3) == 0 {
		l.works[len(l.works)-1-l.r.IntN(3)].kind = doFault
	}
	a := connected()
	a.PathMTU, a.RetryCnt, a.RNRRetry, a.Timeout = abi.MTU4096, 7, 7, 8+uint8(l.r.IntN(4))
	a.SQPSN = 0xffffff - l.r.Uint32N(80)
	a.DestQPN = uint32(l.qpn)
	first := roce.PSN(a.SQPSN)
	l.una, l.peer = first, peer{expected: first}
	l.table = table{una: first, start: first, end: first, arm: 17 << a.Timeout / 16, gen: l.b.context(l.qpn).Requester.Gen}
	return a
}

// quiet is how long a reset lasts: longer than anything of the QP is under way.
const quiet = 600

// reset takes the QP to RESET. All that is around the block forgets it.
func (l *lossy) reset() {
	if l.off > 0 {
		return
	}
	for _, w := range l.works {
		require.LessOrEqual(l.t, w.executed, 1)
		require.LessOrEqual(l.t, w.placed, w.packets)
	}
	l.b.Admin.Push(port.QPAdmin{Op: port.QPModify, QPN: l.qpn, Attr: abi.QPMailbox{State: abi.QPReset, AttrMask: abi.AttrState}})
	l.off = l.now + 2*quiet
	l.sched = scheduler{}
	l.tx, l.out, l.in, l.acks, l.events, l.sent = nil, nil, nil, nil, nil, nil
	l.rung, l.lost, l.hold = 0, 0, 0
}

// anew takes the QP back to RTS when all is quiet.
func (l *lossy) anew() {
	switch l.now {
	case l.off - quiet:
		l.b.Admin.Push(port.QPAdmin{Op: port.QPClear, QPN: l.qpn})
		a := l.begin(false)
		for _, m := range toRTS {
			a.State, a.AttrMask = m.to, m.mask|abi.AttrState
			l.b.Admin.Push(port.QPAdmin{Op: port.QPModify, QPN: l.qpn, Attr: a})
		}
	case l.off:
		l.off = 0
		l.sched, l.acks, l.events = scheduler{}, nil, nil
	}
}
