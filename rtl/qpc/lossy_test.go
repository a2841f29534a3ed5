package qpc

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/port"
)

// work is a WQE of one unit, and what became of it.
type work struct {
	kind     workKind
	packets  uint32 // of the message, or of the answer
	first    roce.PSN
	executed int    // times by the peer
	placed   uint32 // responses of it that were placed
	done     bool
	failed   bool
}

type workKind uint8

const (
	doSend workKind = iota
	doRead
	doAtomic
	doNOP
	doFault // can't be executed
)

func (k workKind) wire() bool { return k <= doAtomic }

// request is a packet of the requester on its way.
type request struct {
	gen    uint8
	unit   uint16
	offset uint32 // packets of the message before it
	psn    roce.PSN
	last   roce.PSN
	ack    bool
}

// timed is something that arrives at a cycle.
type timed[T any] struct {
	at uint64
	v  T
}

// pipe is a way that keeps the order.
type pipe[T any] []timed[T]

// send puts something on the way, for at least a number of cycles.
func (p *pipe[T]) send(v T, at uint64) {
	if n := len(*p); n > 0 {
		at = max(at, (*p)[n-1].at)
	}
	*p = append(*p, timed[T]{at, v})
}

// arrived takes what has arrived by now.
func (p *pipe[T]) arrived(now uint64) (v T, ok bool) {
	if len(*p) == 0 || (*p)[0].at > now {
		return v, false
	}
	v = (*p)[0].v
	*p = (*p)[1:]
	return v, true
}

// tally counts what happens in a run.
type tally struct{ Lost, Rewinds, Timeouts, Partial, RNR, Stale, Seeks int }

// lossy is a QP of a bench, with models of all that is around it: wqe_sched, pkt_tx,
// a wire that loses packets, the peer, scatter, and retrans.
type lossy struct {
	t   hdltest.T
	b   *bench
	r   *rand.Rand
	now uint64
	qpn port.QPN

	works  []*work
	rung   uint16 // doorbells rung so far
	loss   int    // packets of a thousand that are lost
	lost   int    // since the last progress
	failed bool   // a WQE was entered that can't be executed: nothing is sent again

	sched  scheduler
	tx     []request // described
	asked  []request // their headers were asked for
	newest uint8     // generation of the last Stale
	out    pipe[request]
	in     pipe[port.RxPkt]
	peer   peer
	acks   pipe[port.AckEvent] // through scatter
	events pipe[port.AckEvent]
	sent   pipe[port.Sent]
	table  table

	una   roce.PSN // oldest PSN that is not acknowledged, by the verdicts
	hold  uint64   // an RNR NAK was obeyed: nothing is sent before
	below roce.PSN // from this PSN on
	off   uint64   // the QP is being reset until this cycle
	count tally
}

// drop tells whether the wire loses a packet. A QP makes progress before its retries are
// used up.
func (l *lossy) drop() bool {
	if l.lost >= 6 || l.r.IntN(1000) >= l.loss {
		return false
	}
	l.lost++
	l.count.Lost++
	return true
}

// tick is a cycle of everything around the block.
func (l *lossy) tick() {
	l.now = l.b.k.Cycle()
	if l.off > 0 {
		l.anew()
		return
	}
	l.bell()
	l.sched.tick(l)
	l.transmit()
	if q, ok := l.out.arrived(l.now); ok {
		l.peer.take(l, &q)
	}
	if p, ok := l.in.arrived(l.now); ok {
		l.b.Rx.Push(port.RxOp{Kind: port.RxPacket, QPN: l.qpn, Pkt: p})
	}
	l.table.tick(l)
}

// bell rings for some more WQEs.
func (l *lossy) bell() {
	if int(l.rung) == len(l.works) || l.r.IntN(400) != 0 {
		return
	}
	l.rung = min(l.rung+uint16(1+l.r.IntN(6)), uint16(len(l.works)))
	l.b.Bell.Push(port.QPDoorbell{QPN: l.qpn, Index: l.rung, Page: 5})
}

// transmit asks for the headers of the next packet.
func (l *lossy) transmit() {
	if len(l.tx) == 0 || len(l.asked) > 3 || l.b.ReadPost.Pending() > 0 || l.r.IntN(4) != 0 {
		return
	}
	q := l.tx[0]
	l.tx = l.tx[1:]
	l.asked = append(l.asked, q)
	l.b.TxReq.Push(port.TxHdrReq{QPN: l.qpn, Gen: q.gen})
	l.b.asking = append(l.b.asking, l)
}

// header takes the answer to the oldest question of the QP.
func (l *lossy) header(h *port.TxHdr) {
	q := l.asked[0]
	l.asked = l.asked[1:]
	if l.off > 0 {
		return
	}
	if h.Drop || int8(q.gen-l.newest) < 0 {
		require.True(l.t, h.Stale || !h.Drop || l.failed)
		l.count.Stale++
		return
	}
	if q.ack {
		l.table.left(l, q.last)
	}
	if !l.drop() {
		l.out.send(q, l.now+20+l.r.Uint64N(40))
	}
}

// verdict takes what the block made of a packet.
func (l *lossy) verdict(v *port.RxVerdict) {
	if l.off > 0 {
		return
	}
	if v.Action == port.RxPlace {
		require.Equal(l.t, port.TargetSend, v.Target)
		l.works[v.SQ.Idx].placed++
	}
	if !v.HasEvent {
		require.Equal(l.t, port.RxDrop, v.Action)
		return
	}
	e := v.Event
	require.False(l.t, e.Fail && !l.failed, "a retry was left")
	if e.Una != l.una {
		require.True(l.t, e.Una.After(l.una))
		l.una, l.lost = e.Una, 0
	}
	switch {
	case v.Drop == abi.RNRNakRetryErr:
		l.count.RNR++
	case e.Rewind && v.Drop == 0:
		l.count.Seeks++
	}
	l.obey(&e)
	l.acks.send(e, l.now+1+l.r.Uint64N(30))
}

// obey notes the RNR wait of a rewind.
func (l *lossy) obey(e *port.AckEvent) {
	if e.Rewind && e.Wait > 0 {
		l.hold, l.below = l.now+e.Wait, e.At
	}
}

// finished tells whether nothing is left to do.
func (l *lossy) finished() bool {
	for _, w := range l.works {
		if !w.done {
			return false
		}
	}
	return l.off == 0 && len(l.tx)+len(l.asked)+len(l.out)+len(l.in)+len(l.acks)+len(l.events) == 0 && !l.sched.open && !l.sched.asking &&
		!l.table.rewind && l.b.Retire.Pending() == 0
}

// judge checks that each message was executed and completed once.
func (l *lossy) judge() {
	failed := false
	for i, w := range l.works {
		require.True(l.t, w.failed || !failed && w.kind != doFault, "WQE %d", i)
		require.False(l.t, w.failed && !l.failed, "WQE %d", i)
		require.LessOrEqual(l.t, w.executed, 1, "WQE %d", i)
		failed = failed || w.failed
		if w.failed || !w.kind.wire() {
			continue
		}
		require.Equal(l.t, 1, w.executed, "WQE %d", i)
		if w.kind != doSend {
			require.Equal(l.t, w.packets, w.placed, "WQE %d", i)
		}
	}
	c := l.b.context(l.qpn)
	require.Equal(l.t, failed, c.Common.State == abi.QPErr)
	if !failed {
		require.Equal(l.t, c.SQ.EnteredPSN, c.Requester.Una)
	}
	require.Equal(l.t, c.SQ.Entered, c.SQ.Exec)
	require.Zero(l.t, c.SQ.Messages)
	require.False(l.t, c.SQ.Rewinding && !failed || c.SQ.Busy)
}

// context is the context of a QP.
func (b *bench) context(qpn port.QPN) Context {
	n := int(qpn)
	return peek(b.QPC, int(n))
}
