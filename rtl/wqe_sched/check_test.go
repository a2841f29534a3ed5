package wqesched_test

import (
	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// status is how the model expects a WQE to end before it was flushed, on a QP that
// may have so many READs outstanding.
func (w *work) status(q *queuePair) (abi.WCStatus, abi.VendorErr) {
	c := &w.Ctrl
	inlined := c.Flags&abi.WQEInlined != 0
	switch {
	case c.Units == 0 || c.Units > abi.MaxUnits || uint16(c.Units) > w.Units:
		return abi.StatusLocQPOp, abi.VendorWQEFormat
	case c.Op > abi.OpNop || !q.does(c.Op):
		return abi.StatusLocQPOp, abi.VendorWQEOp
	case c.Op == abi.OpNop:
		return abi.StatusSuccess, abi.VendorNone
	case memory(c.Op):
		return w.memoryStatus()
	case inlined && (reads(c.Op) || c.InlineLen > 64),
		!inlined && (c.NumSGE > 16 || atomic(c.Op) && c.NumSGE > 1):
		return abi.StatusLocQPOp, abi.VendorWQEFormat
	case w.length() > abi.MaxMessage, atomic(c.Op) && w.length() != 8,
		!q.fits(w.length()):
		return abi.StatusLocLen, abi.VendorWQELength
	case reads(c.Op) && q.Depth == 0:
		return abi.StatusLocQPOp, abi.VendorWQEOp
	}
	return abi.StatusSuccess, abi.VendorNone
}

func (w *work) length() (n uint64) {
	for _, e := range w.SGE {
		n += uint64(e.Length)
	}
	return n + uint64(len(w.Data))
}

// run of payload bytes, as expected.
type span struct {
	key    port.Key
	va     port.VA
	n      int
	inline []byte
}

// spans cuts a WQE into the runs of its packets.
func (w *work) spans(mtu int) (packets [][]span) {
	var cur []span
	room := mtu
	for _, e := range w.SGE {
		for e.Length > 0 {
			if room == 0 {
				packets, cur, room = append(packets, cur), nil, mtu
			}
			n := min(int(e.Length), room)
			cur = append(cur, span{key: port.Key(e.LKey), va: port.VA(e.Addr), n: n})
			e.Addr += uint64(n)
			e.Length -= uint32(n)
			room -= n
		}
	}
	if len(w.Data) > 0 {
		cur = append(cur, span{n: len(w.Data), inline: w.Data})
	}
	return append(packets, cur)
}

// output is what left the block for one QP.
type output struct {
	sent   []port.Sent
	pkts   []port.TxPkt
	gens   []int // of each packet
	pieces [][]port.TxPiece
	posts  []port.ReadPost
	ahead  []port.SQAhead
	mem    []memOp
	purged int
}

// collect gives each life of each QP its packets with their pieces.
func (b *bench) collect() []output {
	pieces := b.Piece.Got
	for i, p := range b.Pkt.Got {
		if p.Purge {
			continue
		}
		require.GreaterOrEqual(b.t, len(pieces), int(p.NumPieces))
		o := &b.owner[i].out
		o.pkts = append(o.pkts, p)
		o.pieces = append(o.pieces, pieces[:p.NumPieces])
		pieces = pieces[p.NumPieces:]
	}
	require.Empty(b.t, pieces)
	b.collectPages()
	var out []output
	for _, q := range b.lives {
		out = append(out, q.out)
	}
	return out
}

// check demands that each posted WQE shows once, in order, with its packets. A QP
// that failed may have stopped anywhere; from then on all is flushed. One that was
// reset may have stopped anywhere too.
func (b *bench) check() []output {
	b.t.Helper()
	out := b.collect()
	for i, q := range b.lives {
		b.checkLife(i, q)
	}
	return out
}

func (b *bench) checkLife(i int, q *queuePair) {
	o, sent := &q.out, q.out.sent
	psn, pkt, flushing := q.First, 0, false
	o.pkts, o.pieces = b.firsts(i, q)
	for j := range q.Posted {
		w := &q.Posted[j]
		for flushing && len(sent) > 0 && sent[0].UnitIdx != w.Idx {
			sent = sent[1:]
		}
		if len(sent) == 0 && q.Reset {
			break
		}
		require.NotEmpty(b.t, sent, "life %d WQE %d", i, j)
		s := &sent[0]
		sent = sent[1:]
		require.Equal(b.t, w.Idx, s.UnitIdx, "life %d WQE %d", i, j)
		if !q.Bad {
			require.Equal(b.t, w.Ctrl.Flags&abi.WQESignalled != 0 || q.Sig, s.Signaled)
		}
		status, vendor := w.status(q)
		if q.Bad && s.Vendor == abi.VendorWQERead {
			require.Equal(b.t, abi.StatusLocQPOp, s.Status)
			require.False(b.t, flushing)
			flushing = true
			continue
		}
		if s.Status == abi.StatusWRFlush {
			require.True(b.t, q.Failed, "life %d WQE %d flushed without reason", i, j)
			flushing = true
		}
		if flushing {
			require.Equal(b.t, abi.StatusWRFlush, s.Status)
			require.Equal(b.t, port.SentLocal, s.Kind)
			continue
		}
		require.Equal(b.t, status, s.Status, "life %d WQE %d %v", i, j, w.Ctrl)
		require.Equal(b.t, vendor, s.Vendor)
		require.Equal(b.t, w.Ctrl.Op, s.Op)
		if memory(w.Ctrl.Op) && status != abi.StatusLocQPOp {
			require.NotEmpty(b.t, o.mem, "life %d WQE %d", i, j)
			require.Equal(b.t, w.memOp(o.mem[0].QPN), o.mem[0])
			o.mem = o.mem[1:]
		}
		if status != abi.StatusSuccess || w.Ctrl.Op >= abi.OpLocalInv {
			require.Equal(b.t, port.SentLocal, s.Kind)
			flushing = status != abi.StatusSuccess
			continue
		}
		require.Equal(b.t, port.SentWire, s.Kind)
		require.Equal(b.t, uint32(w.length()), s.ByteLen)
		if q.unacked() {
			require.Zero(b.t, s.Arm)
		} else {
			require.EqualValues(b.t, 1000, s.Arm)
		}
		n := q.packets(s.ByteLen)
		require.Equal(b.t, psn, s.FirstPSN)
		require.Equal(b.t, psn.Add(n-1), s.LastPSN)
		if reads(w.Ctrl.Op) {
			if pkt == len(o.pkts) && (q.Failed || q.Reset) {
				flushing = true
				continue
			}
			require.Less(b.t, pkt, len(o.pkts), "life %d WQE %d", i, j)
			require.Equal(b.t, w.request(o.pkts[pkt].QPN, psn, q.MTU), o.pkts[pkt])
			require.Equal(b.t, port.ReadPost{QPN: o.pkts[pkt].QPN, Op: w.Ctrl.Op, UnitIdx: w.Idx, FirstPSN: psn, LastPSN: psn.Add(n - 1), Len: s.ByteLen}, o.posts[0])
			o.posts = o.posts[1:]
			if s.ByteLen > 0 {
				require.Equal(b.t, port.SQAhead{QPN: o.pkts[pkt].QPN, Base: q.Base, Log: q.Log, Idx: w.Idx, Units: uint8(w.Units)}, o.ahead[0])
				o.ahead = o.ahead[1:]
			}
			psn, pkt = psn.Add(n), pkt+1
			continue
		}
		for k, spans := range w.spans(q.mtu()) {
			if pkt == len(o.pkts) && (q.Failed || q.Reset) {
				flushing = true // ended in the middle of a message
				break
			}
			require.Less(b.t, pkt, len(o.pkts), "life %d WQE %d packet %d", i, j, k)
			// There may be several before the QP has failed.
			for ; pkt < len(o.pkts) && gaveUp(&o.pkts[pkt]); pkt++ {
				require.True(b.t, q.Bad || q.Broken)
				require.EqualValues(b.t, 0xffffff00, o.pieces[pkt][0].Key)
				psn, flushing = psn.Add(1), true
			}
			if flushing {
				break
			}
			b.checkPacket(q, w, &o.pkts[pkt], o.pieces[pkt], psn, k == 0, k == int(n)-1, spans)
			psn = psn.Add(1)
			pkt++
		}
	}
	require.True(b.t, len(sent) == 0 || flushing, "life %d: entries left over", i)
	require.Len(b.t, o.pkts, pkt, "life %d: packets left over", i)
	require.Empty(b.t, o.posts, "life %d: READs left over", i)
	require.Empty(b.t, o.mem, "life %d: memory operations left over", i)
	require.Empty(b.t, o.ahead, "life %d: reads of their WQEs left over", i)
	require.Equal(b.t, psn, q.Top)
	require.Zero(b.t, q.Wire, "life %d: requests that no Put told of", i)
	require.Zero(b.t, q.Takers, "life %d: those that take a receive WQE", i)
}

// gaveUp tells the packet that stands for a message whose WQE can't be read any
// more: pkt_tx finds no key for it.
func gaveUp(p *port.TxPkt) bool { return p.Opcode&0x1f == roce.RCSendMiddle && p.Len == 1 }

func (b *bench) checkPacket(q *queuePair, w *work, p *port.TxPkt, pieces []port.TxPiece, psn roce.PSN, first, last bool, spans []span) {
	b.t.Helper()
	place := 1
	switch {
	case first && last:
		place = 3
	case first:
		place = 0
	case last:
		place = 2
	}
	want := port.TxPkt{QPN: p.QPN, PSN: psn, Opcode: opcodes[w.Ctrl.Op][place], LastPSN: psn, AckReq: last || psn&15 == 15, WQEIdx: w.Idx, NumPieces: uint8(len(spans))}
	if last {
		want.Solicited = w.Ctrl.Flags&abi.WQESolicited != 0 && takes(w.Ctrl.Op)
		want.Imm = w.Ctrl.Imm
	}
	if first && (w.Ctrl.Op == abi.OpWrite || w.Ctrl.Op == abi.OpWriteImm) {
		want.Reth = port.Reth{VA: port.VA(w.Far.Addr), RKey: port.Key(w.Far.RKey), Len: uint32(w.length())}
	}
	if q.Window < 1<<15 {
		want.AckReq = want.AckReq || p.AckReq // the last of the window, too
	}
	q.address(w, &want)
	for i, s := range spans {
		want.Len += uint16(s.n)
		g := pieces[i]
		require.Equal(b.t, s.inline != nil, g.Inline)
		require.Equal(b.t, s.n, int(g.Len))
		if g.Inline {
			require.Equal(b.t, s.inline, g.Data[:s.n])
			continue
		}
		if q.Changed {
			g.Key ^= (g.Key ^ s.key) & changedKey
		}
		require.Equal(b.t, s.key, g.Key)
		require.Equal(b.t, s.va, g.VA)
	}
	require.Equal(b.t, want, *p)
}

// opcodes are those of a message's packets: first, middle, last, only.
var opcodes = map[abi.WQEOp][4]roce.Opcode{
	abi.OpSend:     {0x00, 0x01, 0x02, 0x04},
	abi.OpSendImm:  {0x00, 0x01, 0x03, 0x05},
	abi.OpSendInv:  {0x00, 0x01, 0x16, 0x17},
	abi.OpWrite:    {0x06, 0x07, 0x08, 0x0a},
	abi.OpWriteImm: {0x06, 0x07, 0x09, 0x0b},
}

// request is the one packet of a READ or atomic.
func (w *work) request(qpn port.QPN, psn roce.PSN, mtu roce.MTU) port.TxPkt {
	p := port.TxPkt{QPN: qpn, PSN: psn, LastPSN: psn, AckReq: true, WQEIdx: w.Idx,
		Reth: port.Reth{VA: port.VA(w.Far.Addr), RKey: port.Key(w.Far.RKey)}}
	switch w.Ctrl.Op {
	case abi.OpRead:
		p.Opcode, p.Reth.Len = roce.RCReadRequest, uint32(w.length())
		p.LastPSN = psn.Add(mtu.Packets(p.Reth.Len) - 1)
	case abi.OpCompareSwap:
		p.Opcode, p.Reth.Swap, p.Reth.Compare = roce.RCCmpSwap, w.Value.SwapAdd, w.Value.Compare
	case abi.OpFetchAdd:
		p.Opcode, p.Reth.Swap = roce.RCFetchAdd, w.Value.SwapAdd
	}
	return p
}
