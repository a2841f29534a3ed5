package wqesched_test

import (
	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// history is what the model knows of a QP's rewinds.
type history struct {
	Gens      int              // generations so far
	Open      uint8            // of the service that is open
	Rewinding bool             // nothing is sent before settle
	Faulty    bool             // a fault was told by a service from before a rewind
	Changed   bool             // keys of its WQEs were changed behind its back: their top bits
	Broken    bool             // a WQE was overwritten
	Paused    bool             // SQD
	Starts    map[int]roce.PSN // the first PSN of each generation
	Told      roce.PSN         // after the highest that was described
	Pushed    int              // entries, as Sent told
	Counted   int              // as Put told
	Granted   uint8            // entries granted to the open service
	Repeats   int              // packets that were sent again
}

func (h *history) gen() uint8 { return uint8(h.Gens) }

// rewind has a QP send again from a PSN on that was sent, at some time. What was
// acknowledged on the way may still arrive, or may not.
func (b *bench) rewind(qpn int, una roce.PSN) {
	q := b.qps[qpn]
	if q.unacked() {
		return
	}
	b.again(qpn)
	kept := b.acks[:0]
	for _, a := range b.acks {
		if a.settle || a.local || a.qpn != qpn || a.cqn != q.CQN || b.rng.IntN(2) == 0 {
			kept = append(kept, a)
		}
	}
	b.acks = kept
	if q.Una.Before(una) {
		b.retire(ack{qpn: qpn, una: una, cqn: q.CQN})
	}
}

// again begins a new generation.
func (b *bench) again(qpn int) {
	q := b.qps[qpn]
	q.Gens++
	q.Rewinding = true
	b.Stale.Push(port.Stale{QPN: port.QPN(qpn), Gen: q.gen()})
	b.acks = append(b.acks, ack{at: b.k.Cycle() + 1 + b.rng.Uint64N(60), qpn: qpn, cqn: q.CQN, settle: true, gen: q.Gens})
	b.ackEvent.Notify()
}

// beyond tells a QP of which more is acknowledged than it has sent again.
func (q *queuePair) beyond() bool {
	return q.State == abi.QPRTS && !q.Busy && !q.Rewinding && q.Next.Before(q.Una)
}

// settle says where a QP goes on after a rewind, when no service is open and all
// entries are known.
func (b *bench) settle(a ack) {
	q := b.qps[a.qpn]
	if q.CQN != a.cqn || q.Gens != a.gen || q.State != abi.QPRTS {
		return
	}
	if q.Busy || q.Pushed != q.Counted {
		a.at = b.k.Cycle() + 3
		b.acks = append(b.acks, a)
		b.ackEvent.Notify()
		return
	}
	q.Rewinding = false
	q.Exec, q.Next, q.Offset = q.Entered, q.EnterPSN, 0
	found := false
	for _, s := range q.Live {
		if s.Kind == port.SentWire && !s.LastPSN.Before(q.Una) {
			found = true
			q.Exec, q.Next = s.UnitIdx, s.FirstPSN
			if q.Next.Before(q.Una) {
				q.Next = q.Una
			}
			q.Offset = q.Next.Diff(s.FirstPSN) * uint32(q.mtu())
			break
		}
	}
	q.Starts[q.Gens] = q.Next
	if !found && q.Faulty {
		b.fail(a.qpn)
	}
	b.Activate.Push(port.Activate{QPN: port.QPN(a.qpn)})
	b.progress.Notify()
}

// outstanding is a WQE that has its entry, if there is one.
func (q *queuePair) outstanding(n int) *work {
	if len(q.Live) == 0 {
		return nil
	}
	return q.at(q.Live[n%len(q.Live)].UnitIdx)
}

// changedKey is what the keys of a WQE differ by after change.
const changedKey = 1 << 31

// change gives the elements of a WQE other keys.
func (q *queuePair) change(w *work) {
	if w.Data != nil || w.Ctrl.NumSGE > 16 {
		return
	}
	q.Changed = true
	for i, e := range w.SGE {
		e.LKey ^= changedKey
		q.element(w.Idx, i, e)
	}
}

// element writes element i of the WQE at idx.
func (q *queuePair) element(idx uint16, i int, e abi.SGE) {
	off := abi.WQEDataOffset + abi.SGESize*i
	abi.SGELayout.Encode(&e, q.Ring[abi.RingSlot(idx+uint16(off/64), q.Log)][off%64:])
}

// overwrite has a WQE be one that can't be executed.
func (q *queuePair) overwrite(w *work) {
	q.Broken = true
	c := abi.WQEControl{Op: 77, Index: w.Idx, Units: 1}
	abi.WQEControlLayout.Encode(&c, q.Ring[abi.RingSlot(w.Idx, q.Log)][:])
}

// firsts checks that each generation's packets follow each other from where it was
// told to start, and that each that was sent before is as it was. It returns those
// that were not.
func (b *bench) firsts(i int, q *queuePair) (pkts []port.TxPkt, pieces [][]port.TxPiece) {
	b.t.Helper()
	gen, next, top := q.firstGen, q.First, q.First
	for j, p := range q.out.pkts {
		if g := q.out.gens[j]; gen != g {
			require.Greater(b.t, g, gen)
			gen, next = g, q.Starts[g]
		}
		require.Equal(b.t, next, p.PSN, "life %d packet %d, generation %d", i, j, gen)
		next = p.LastPSN.Add(1)
		if p.PSN == top {
			top = next
			p.Gen = 0
			pkts, pieces = append(pkts, p), append(pieces, q.out.pieces[j])
			continue
		}
		require.True(b.t, p.PSN.Before(top), "life %d packet %d", i, j)
		q.Repeats++
		if gaveUp(&p) {
			require.True(b.t, q.Bad || q.Broken)
			continue
		}
		b.checkRepeat(q, &p, q.out.pieces[j], pkts, pieces)
	}
	return pkts, pieces
}

// checkRepeat compares a packet with what was sent first.
func (b *bench) checkRepeat(q *queuePair, p *port.TxPkt, runs []port.TxPiece, pkts []port.TxPkt, pieces [][]port.TxPiece) {
	b.t.Helper()
	k := len(pkts) - 1
	for p.PSN.Before(pkts[k].PSN) {
		k--
	}
	want := pkts[k]
	if gaveUp(&want) {
		require.True(b.t, q.Bad || q.Broken)
		return
	}
	require.Equal(b.t, want.LastPSN, p.LastPSN)
	if want.Opcode == roce.RCReadRequest {
		skip := p.PSN.Diff(want.PSN) * uint32(q.MTU.Bytes())
		want.Reth.VA += port.VA(skip)
		want.Reth.Len -= skip
		want.PSN = p.PSN
	}
	want.Gen = p.Gen
	if q.Window < 1<<15 {
		want.AckReq = p.AckReq // the last of the window, too
	}
	require.Equal(b.t, want, *p)
	require.Len(b.t, runs, len(pieces[k]))
	for i, r := range runs {
		w := pieces[k][i]
		if q.Changed {
			r.Key |= changedKey
			w.Key |= changedKey
		}
		require.Equal(b.t, w, r)
	}
}
