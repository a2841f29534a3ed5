package wqesched_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	wqesched "rnic/rtl/wqe_sched"
)

// unacked tells whether nobody answers the QP.
func (q *queuePair) unacked() bool { return q.Type != abi.QPTypeRC }

// single tells whether each message is one packet.
func (q *queuePair) single() bool { return q.Type == abi.QPTypeUD || q.Type == abi.QPTypeRaw }

// does tells whether the QP has an operation (verbs-semantics).
func (q *queuePair) does(op abi.WQEOp) bool {
	switch q.Type {
	case abi.QPTypeUC:
		return !reads(op) && op != abi.OpSendInv
	case abi.QPTypeUD:
		return op == abi.OpSend || op == abi.OpSendImm || op == abi.OpNop
	case abi.QPTypeRaw:
		return op == abi.OpSend || op == abi.OpNop
	}
	return true
}

// fits tells whether a message may be so long on the QP.
func (q *queuePair) fits(n uint64) bool {
	switch q.Type {
	case abi.QPTypeUD:
		return n <= uint64(q.MTU.Bytes())
	case abi.QPTypeRaw:
		return n >= 14 && n <= 4096
	}
	return true
}

// mtu is the payload of a full packet.
func (q *queuePair) mtu() int {
	if q.single() {
		return 4096
	}
	return q.MTU.Bytes()
}

// packets is the number of PSNs of a message.
func (q *queuePair) packets(n uint32) uint32 {
	if q.single() {
		return 1
	}
	return q.MTU.Packets(n)
}

// address makes a packet of RC one of the QP's transport.
func (q *queuePair) address(w *work, p *port.TxPkt) {
	if !q.unacked() {
		return
	}
	p.AckReq, p.Unacked = false, true
	switch q.Type {
	case abi.QPTypeUC:
		p.Opcode |= 0x20
	case abi.QPTypeUD:
		p.Opcode |= 0x60
		p.UD, p.AH, p.DestQPN, p.QKey = true, port.AHN(w.AH.AHN), port.QPN(w.AH.DestQPN), w.AH.QKey
	case abi.QPTypeRaw:
		p.Raw = true
	}
}

// to has a WQE go to a peer.
func (w work) to(ah, qpn, key uint32) work {
	w.AH = abi.AHSegment{AHN: ah, DestQPN: qpn, QKey: key}
	return w
}

// suit has a WQE be one that its QP can execute, most of the time.
func (w work) suit(r *rand.Rand, q *queuePair) work {
	if r.IntN(20) == 0 || !q.unacked() || w.Ctrl.Op > abi.OpFetchAdd {
		return w
	}
	w.AH = abi.AHSegment{AHN: r.Uint32N(1 << 24), DestQPN: r.Uint32N(1 << 24), QKey: r.Uint32()}
	if !q.does(w.Ctrl.Op) {
		w.Ctrl.Op = abi.OpSend
	}
	if !q.single() {
		return w
	}
	for i := range w.SGE {
		w.SGE[i].Length %= uint32(q.MTU.Bytes() / 16)
	}
	if !q.fits(w.length()) {
		return nop()
	}
	return w
}

// of gives a QP another type.
func (q *queuePair) of(t abi.QPType) *queuePair {
	q.Type = t
	return q
}

// TestTransports has each operation on each type of QP: it is sent as its transport
// has it, without asking for an answer, or is a fault.
func TestTransports(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeUC, abi.QPTypeUD, abi.QPTypeRaw} {
		var sent []roce.Opcode
		for op := abi.OpSend; op <= abi.OpFetchAdd; op++ {
			for _, n := range []int{100, 600} {
				b := fast(t, hdl.Options{})
				q := b.qp(6, roce.MTU256, 1<<10, 64).of(typ)
				if typ != abi.QPTypeUC {
					q.MTU = roce.MTU1024
				}
				w := send(op, abi.WQESolicited|abi.WQESignalled, list(3, n/3)...)
				if atomic(op) {
					w = swap(op, 0, 1, 2, sge(8))
				}
				b.post(0, w.remote(0xcafe, 0x500).to(0x123456, 0x654321, 0x80001111), false)
				b.post(0, nop(), false)
				b.run(2000)
				b.check()
				require.Equal(t, !q.does(op), q.Failed)
				for _, p := range b.Pkt.Got {
					sent = append(sent, p.Opcode)
				}
			}
		}
		slices.Sort(sent)
		require.Equal(t, map[abi.QPType][]roce.Opcode{
			abi.QPTypeUC: {0x20, 0x20, 0x21, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x26, 0x27, 0x27, 0x28, 0x29, 0x2a, 0x2b},
			abi.QPTypeUD: {0x64, 0x64, 0x65, 0x65}, abi.QPTypeRaw: {0x04, 0x04},
		}[typ], sent, typ)
	}
}

// TestLengths: a datagram up to the MTU, a frame of 14 to 4096 bytes; any other is a
// fault, with nothing sent.
func TestLengths(t *testing.T) {
	for _, c := range []struct {
		typ  abi.QPType
		mtu  roce.MTU
		n    int
		good bool
	}{
		{abi.QPTypeUD, roce.MTU256, 0, true}, {abi.QPTypeUD, roce.MTU256, 256, true}, {abi.QPTypeUD, roce.MTU256, 257, false},
		{abi.QPTypeUD, roce.MTU4096, 4096, true}, {abi.QPTypeUD, roce.MTU4096, 4097, false}, {abi.QPTypeUD, roce.MTU1024, 1 << 31, false},
		{abi.QPTypeRaw, roce.MTU256, 0, false}, {abi.QPTypeRaw, roce.MTU256, 13, false}, {abi.QPTypeRaw, roce.MTU256, 14, true},
		{abi.QPTypeRaw, roce.MTU256, 4096, true}, {abi.QPTypeRaw, roce.MTU256, 4097, false},
		{abi.QPTypeUC, roce.MTU256, 5000, true},
	} {
		for _, inlined := range []bool{false, true} {
			if inlined && c.n > 64 {
				continue
			}
			b := fast(t, hdl.Options{})
			q := b.qp(6, c.mtu, 1<<10, 64).of(c.typ)
			w := send(abi.OpSend, 0, sge(c.n))
			if inlined {
				w = inline(0, make([]byte, c.n))
			}
			b.post(0, w, false)
			b.post(0, nop(), false)
			b.run(2000)
			b.check()
			require.Equal(t, !c.good, q.Failed, "%v", c)
			if !c.good {
				require.Empty(t, b.Pkt.Got)
				require.Equal(t, abi.StatusLocLen, b.Sent.Got[0].Status)
				require.Equal(t, abi.StatusWRFlush, b.Sent.Got[1].Status)
				continue
			}
			require.Len(t, b.Pkt.Got, int(q.packets(uint32(c.n))))
		}
	}
}

// TestLongestMessage: a UC message of nearly 2^23 packets starts when all before it
// have left, and what is behind it needs no such thing. A shorter one does not wait.
func TestLongestMessage(t *testing.T) {
	for _, n := range []int{abi.MaxMessage, 256 * (1<<23 - 1<<16)} {
		b := fast(t, hdl.Options{})
		b.qp(6, roce.MTU256, 1<<10, 64).of(abi.QPTypeUC)
		b.post(0, send(abi.OpSend, 0, sge(8)), false)
		b.post(0, send(abi.OpWrite, 0, sge(n)), false)
		require.NoError(t, b.k.Run(2000))
		from := b.Pkt.At[1] - b.Pkt.At[0]
		require.Equal(t, n == abi.MaxMessage, from > 200, "%d cycles", from)
	}
}

// TestManyDatagrams: doorbells of 64 QPs, one a message of 64 bytes; one every 3.4
// cycles is what the wire takes.
func TestManyDatagrams(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeUD, abi.QPTypeUC, abi.QPTypeRaw} {
		b := fast(t, hdl.Options{})
		for range 64 {
			b.qp(6, roce.MTU1024, 1<<15, 60).of(typ)
		}
		b.k.Go("driver", func(th *hdl.Thread) {
			due := float64(th.Now())
			for range 60 {
				for i, q := range b.qps {
					for q.room() < 1 {
						th.Wait(&b.progress, 0)
					}
					b.post(i, send(abi.OpSend, 0, sge(64)).to(1, 2, 3), false)
					if due += 3.2; due > float64(th.Now()+1) {
						th.Sleep(uint64(due) - th.Now())
					}
				}
			}
		})
		require.NoError(t, b.k.Run(3000))
		b.run(200000)
		b.check()
		require.Len(t, b.Pkt.Got, 64*60)
		t.Logf("%s: %.2f cycles a message", typ, spacing(b.Pkt.At))
		require.LessOrEqual(t, spacing(b.Pkt.At), 3.41)
	}
}

// TestSQE: a fault flushes what is behind it; in RTS again the queue goes on, with the
// PSNs that follow those entered, in a new generation.
func TestSQE(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeUC, abi.QPTypeUD, abi.QPTypeRaw} {
		b := newBench(t, hdl.Options{}, wqesched.Params{}, 0)
		q := b.qp(6, roce.MTU256, 1<<10, 64).of(typ)
		good := send(abi.OpSend, 0, sge(64)).to(1, 2, 3)
		for _, w := range []work{good, {Units: 1, Ctrl: abi.WQEControl{Op: abi.OpRead}}, good, nop()} {
			b.post(0, w, false)
		}
		b.run(2000)
		require.Equal(t, abi.QPSQE, q.State)
		b.k.Go("on", func(*hdl.Thread) {
			q.State, q.Gens, q.Una, q.Next = abi.QPRTS, q.Gens+1, q.EnterPSN, q.EnterPSN
			b.post(0, good, false)
		})
		require.NoError(t, b.k.Run(b.k.Cycle()+10))
		b.run(2000)
		var got []string
		for _, s := range b.Sent.Got {
			got = append(got, fmt.Sprintf("%s%d", s.Status, s.Gen))
		}
		require.Equal(t, []string{"SUCCESS0", "LOC_QP_OP_ERR0", "WR_FLUSH_ERR0", "WR_FLUSH_ERR0", "SUCCESS1"}, got)
		require.Len(t, b.Pkt.Got, 2)
		require.Equal(t, b.Pkt.Got[0].PSN.Add(1), b.Pkt.Got[1].PSN)
		require.EqualValues(t, 1, b.Pkt.Got[1].Gen)
		b.k.Close()
	}
}

// TestDatagramOfRuns has one of 16 elements.
func TestDatagramOfRuns(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeUD, abi.QPTypeRaw} {
		b := fast(t, hdl.Options{})
		b.qp(6, roce.MTU1024, 1<<10, 64).of(typ).place(6)
		b.post(0, send(abi.OpSend, 0, list(16, 64)...).to(1, 2, 3), false)
		b.run(2000)
		b.check()
		require.Len(t, b.Pkt.Got, 1)
		require.Len(t, b.Piece.Got, 16)
	}
}

// TestOverwrittenUC: a message in progress whose WQE is overwritten fails by a packet
// that nobody is asked to answer.
func TestOverwrittenUC(t *testing.T) {
	b := newBench(t, hdl.Options{}, wqesched.Params{Lines: 1}, 0)
	q := b.qp(3, roce.MTU256, 4, 16).of(abi.QPTypeUC)
	b.qp(3, roce.MTU1024, 4, 16)
	b.post(0, send(abi.OpSend, 0, sge(100000)), false)
	require.NoError(t, b.k.Run(100))
	b.k.Go("overwrite", func(*hdl.Thread) {
		q.overwrite(&q.Posted[0])
		b.post(1, nop(), false)
	})
	b.run(10000)
	last := b.Pkt.Got[len(b.Pkt.Got)-1]
	require.True(t, gaveUp(&last), "%v", last)
	require.True(t, last.Unacked)
	require.Equal(t, roce.UCSendMiddle, last.Opcode)
	require.True(t, q.Failed)
}
