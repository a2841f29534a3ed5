package wqesched_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	wqesched "rnic/rtl/wqe_sched"
)

// list is so many elements of n bytes.
func list(count, n int) (l []abi.SGE) {
	for i := range count {
		l = append(l, abi.SGE{Addr: uint64(0x10000 * (i + 1)), Length: uint32(n), LKey: abi.Key(0x100 * (i + 1))})
	}
	return l
}

func read(n int) work { return send(abi.OpRead, abi.WQESignalled, sge(n)).remote(0xcafe, 0x500) }

// at is when the packet of the i-th WQE of a QP was taken, 0 if it was not.
func (b *bench) sentAt(qpn int, i int) uint64 {
	for j, p := range b.Pkt.Got {
		if int(p.QPN) == qpn && p.WQEIdx == b.qps[qpn].Posted[i].Idx {
			return b.Pkt.At[j]
		}
	}
	return 0
}

// place has the next WQE of a QP that has none start at a unit of a block.
func (q *queuePair) place(unit uint16) *queuePair {
	q.start(q.PI&^7+unit, q.First)
	return q
}

// TestOperations has one WQE of each operation, each followed by what comes after.
func TestOperations(t *testing.T) {
	b := fast(t, hdl.Options{})
	q := b.qp(8, roce.MTU256, 1<<10, 64)
	q.start(q.PI, 0xfffff0)
	const va, key = 0x123456789abcdef0, 0x77777701
	for _, w := range []work{
		send(abi.OpSendInv, abi.WQESolicited, list(3, 100)...),
		send(abi.OpWrite, abi.WQESolicited, list(16, 50)...),
		send(abi.OpWriteImm, abi.WQESolicited, list(1, 8)...),
		send(abi.OpRead, abi.WQESolicited, list(5, 1000)...),
		swap(abi.OpCompareSwap, abi.WQESolicited, 1<<63, 2, list(1, 8)...),
		swap(abi.OpFetchAdd, 0, 3, 4, list(1, 8)...),
		send(abi.OpWrite, 0), send(abi.OpWriteImm, 0), send(abi.OpRead, 0), send(abi.OpSendInv, 0, list(4, 0)...),
	} {
		b.post(0, w.remote(va, key), false)
	}
	b.run(5000)
	b.check()
	reth := func(n uint32) port.Reth { return port.Reth{VA: va, RKey: key, Len: n} }
	pkt := func(op roce.Opcode, psn roce.PSN, n, pieces int) port.TxPkt {
		return port.TxPkt{Opcode: op, PSN: psn, Len: uint16(n), NumPieces: uint8(pieces), AckReq: true}
	}
	ask := func(p port.TxPkt, r port.Reth) port.TxPkt { p.Reth = r; return p }
	imm := func(p port.TxPkt) port.TxPkt { p.Imm = 0xfeed; return p }
	se := func(p port.TxPkt) port.TxPkt { p.Solicited = true; return p }
	part := func(p port.TxPkt) port.TxPkt { p.AckReq = false; return p }
	want := []port.TxPkt{
		part(pkt(roce.RCSendFirst, 0xfffff0, 256, 3)),
		se(imm(pkt(roce.RCSendLastInv, 0xfffff1, 44, 1))),
		part(ask(pkt(roce.RCWriteFirst, 0xfffff2, 256, 6), reth(800))),
		part(pkt(roce.RCWriteMiddle, 0xfffff3, 256, 6)),
		part(pkt(roce.RCWriteMiddle, 0xfffff4, 256, 6)),
		imm(pkt(roce.RCWriteLast, 0xfffff5, 32, 1)),
		se(imm(ask(pkt(roce.RCWriteOnlyImm, 0xfffff6, 8, 1), reth(8)))),
		ask(pkt(roce.RCReadRequest, 0xfffff7, 0, 0), reth(5000)), // 20 responses
		ask(pkt(roce.RCCmpSwap, 0x00000b, 0, 0), port.Reth{VA: va, RKey: key, Swap: 1 << 63, Compare: 2}),
		ask(pkt(roce.RCFetchAdd, 0x00000c, 0, 0), port.Reth{VA: va, RKey: key, Swap: 3}),
		imm(ask(pkt(roce.RCWriteOnly, 0x00000d, 0, 0), reth(0))),
		imm(ask(pkt(roce.RCWriteOnlyImm, 0x00000e, 0, 0), reth(0))),
		ask(pkt(roce.RCReadRequest, 0x00000f, 0, 0), reth(0)),
		imm(pkt(roce.RCSendOnlyInv, 0x000010, 0, 0)),
	}
	require.Len(t, b.Pkt.Got, len(want))
	for i, p := range b.Pkt.Got {
		p.WQEIdx = 0
		want[i].LastPSN = want[i].PSN
		if want[i].Opcode == roce.RCReadRequest {
			want[i].LastPSN = want[i].PSN.Add(roce.MTU256.Packets(want[i].Reth.Len) - 1)
		}
		require.Equal(t, want[i], p, "packet %d", i)
	}
	require.Len(t, b.Ahead.Got, 3, "a READ of nothing needs no WQE again")
	requests, credited := 0, 0
	for _, p := range b.Put.Got {
		requests += int(p.Requests)
		credited += int(p.Credited)
	}
	require.Equal(t, 10, requests)
	require.Equal(t, 4, credited)
}

// TestFence: a fenced WQE waits for the READs before it, and what is behind it
// waits with it.
func TestFence(t *testing.T) {
	for _, w := range []work{
		send(abi.OpSend, abi.WQEFence, sge(8)), send(abi.OpWrite, abi.WQEFence, sge(8)),
		send(abi.OpRead, abi.WQEFence, sge(8)), swap(abi.OpFetchAdd, abi.WQEFence, 1, 2, sge(8)),
	} {
		for _, apart := range []uint64{0, 50} { // cycles between READ and the rest: one service, or two
			b := fast(t, hdl.Options{})
			b.qp(6, roce.MTU1024, 1<<10, 64).place(0)
			b.k.Go("driver", func(th *hdl.Thread) {
				b.post(0, read(64), false)
				b.post(0, send(abi.OpSend, 0, sge(8)), false)
				th.Sleep(apart)
				b.post(0, w, false)
				b.post(0, send(abi.OpSend, 0, sge(8)), false)
			})
			require.NoError(t, b.k.Run(300))
			require.NotZero(t, b.sentAt(0, 1))
			require.Zero(t, b.sentAt(0, 2))
			b.run(1000)
			b.check()
			require.Greater(t, b.sentAt(0, 2), b.sentAt(0, 0)+200)
			require.Less(t, b.sentAt(0, 3), b.sentAt(0, 2)+20)
		}
	}
}

// TestFenceOfNop holds back what is behind it.
func TestFenceOfNop(t *testing.T) {
	b := fast(t, hdl.Options{})
	b.qp(6, roce.MTU1024, 1<<10, 64).place(0)
	fenced := nop()
	fenced.Ctrl.Flags = abi.WQEFence
	b.post(0, read(64), false)
	b.post(0, fenced, false)
	b.post(0, send(abi.OpWrite, 0, sge(8)), false)
	b.run(2000)
	b.check()
	require.Greater(t, b.sentAt(0, 2), b.sentAt(0, 0)+200)
}

// TestDepth: a READ over the initiator depth stops the queue; each answer lets one
// more go.
func TestDepth(t *testing.T) {
	b := fast(t, hdl.Options{})
	b.qp(6, roce.MTU1024, 1<<10, 64).place(0).Depth = 2
	for i := range 5 {
		if i%2 == 0 {
			b.post(0, read(64), false)
		} else {
			b.post(0, swap(abi.OpFetchAdd, 0, 1, 2, sge(8)), false)
		}
	}
	b.post(0, send(abi.OpSend, 0, sge(8)), false)
	b.run(3000)
	b.check()
	for i := 2; i < 5; i++ {
		require.Greater(t, b.sentAt(0, i), b.sentAt(0, i-2)+200)
	}
	require.Greater(t, b.sentAt(0, 5), b.sentAt(0, 4))
}

// TestNoDepth: a QP without initiator depth can't execute a READ or atomic.
func TestNoDepth(t *testing.T) {
	for _, w := range []work{read(64), read(0), swap(abi.OpCompareSwap, 0, 1, 2, sge(8))} {
		b := fast(t, hdl.Options{})
		q := b.qp(6, roce.MTU1024, 1<<10, 64).place(0)
		q.Depth = 0
		b.post(0, send(abi.OpWrite, 0, sge(8)), false)
		b.post(0, w, false)
		b.post(0, send(abi.OpWrite, 0, sge(8)), false)
		b.run(3000)
		b.check()
		require.True(t, q.Failed)
		require.Len(t, b.Pkt.Got, 1)
		require.Empty(t, b.Post.Got)
		require.Equal(t, abi.StatusLocQPOp, b.Sent.Got[1].Status)
		require.Equal(t, abi.StatusWRFlush, b.Sent.Got[2].Status)
	}
}

// TestCredits: without credits a request that takes a receive WQE stops the
// queue. Others don't need any.
func TestCredits(t *testing.T) {
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpSendImm, abi.OpSendInv, abi.OpWriteImm} {
		b := fast(t, hdl.Options{})
		q := b.qp(6, roce.MTU1024, 1<<10, 64).place(0)
		q.Limited, q.Credits = true, 1
		taker, other := send(op, 0, sge(8)), send(abi.OpWrite, 0, sge(8))
		for _, w := range []work{other, taker, other, read(8), nop(), taker, other} {
			b.post(0, w, false)
		}
		b.run(3000)
		b.check()
		require.Less(t, b.sentAt(0, 3), b.sentAt(0, 0)+20)
		require.Greater(t, b.sentAt(0, 5), b.sentAt(0, 1)+200)
		require.Greater(t, b.sentAt(0, 6), b.sentAt(0, 5))
	}
}

// TestReadBeyondWindow: a READ needs something of the window, not all that it
// takes; what follows waits until the window opens again.
func TestReadBeyondWindow(t *testing.T) {
	b := fast(t, hdl.Options{})
	b.qp(6, roce.MTU256, 4, 64).place(0)
	b.post(0, send(abi.OpWrite, 0, sge(256)), false)
	b.post(0, read(2560), false)
	b.post(0, send(abi.OpWrite, 0, sge(8)), false)
	b.run(3000)
	b.check()
	require.Less(t, b.sentAt(0, 1), b.sentAt(0, 0)+20)
	require.Greater(t, b.sentAt(0, 2), b.sentAt(0, 1)+200)
	require.EqualValues(t, 10, b.Pkt.Got[2].PSN.Diff(b.Pkt.Got[1].PSN))
}

// TestLongestRead: 2^23 PSNs may be in flight, so one that takes all of them goes
// alone.
func TestLongestRead(t *testing.T) {
	b := fast(t, hdl.Options{})
	q := b.qp(6, roce.MTU256, 1<<15, 64).place(0)
	b.post(0, send(abi.OpWrite, 0, sge(8)), false)
	b.post(0, read(abi.MaxMessage), false)
	b.post(0, send(abi.OpWrite, 0, sge(8)), false)
	b.run(3000)
	b.check()
	require.Greater(t, b.sentAt(0, 1), b.sentAt(0, 0)+200)
	require.Greater(t, b.sentAt(0, 2), b.sentAt(0, 1)+200)
	require.EqualValues(t, 1<<23+2, q.Next.Diff(q.First))
}

// TestEveryPlace has WQEs of many units at every place of a block, some in rings
// that wrap within a block, with a pool of one line that two QPs share.
func TestEveryPlace(t *testing.T) {
	for _, c := range []struct {
		log      uint8
		elements int
	}{{2, 10}, {2, 14}, {3, 16}, {4, 16}} {
		for place := range uint16(8) {
			t.Run(fmt.Sprint(c, place), func(t *testing.T) {
				b := newBench(t, hdl.Options{}, wqesched.Params{Lines: 1}, 0)
				defer b.k.Close()
				for i := range 2 {
					q := b.qp(c.log, roce.MTU256, 64, 64).place(place)
					b.k.Go("driver", func(th *hdl.Thread) {
						for j := range 6 {
							op := []abi.WQEOp{abi.OpRead, abi.OpWrite, abi.OpSend}[(i+j)%3]
							w := send(op, 0, list(c.elements, 10+i)...).remote(1, 2)
							for q.room() < int(w.Units) {
								th.Wait(&b.progress, th.Now()+100)
							}
							b.post(i, w, false)
						}
					})
				}
				require.NoError(t, b.k.Run(2000))
				b.run(20000)
				b.check()
				require.Len(t, b.Sent.Got, 12)
			})
		}
	}
}
