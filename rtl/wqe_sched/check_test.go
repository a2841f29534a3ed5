package wqesched_test

import (
	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// status is how the model expects a WQE to end before it was flushed.
func (w *work) status() (abi.WCStatus, abi.VendorErr) {
	switch c := &w.Ctrl; {
	case c.Units == 0 || c.Units > abi.MaxUnits || uint16(c.Units) > w.Units:
		return abi.StatusLocQPOp, abi.VendorWQEFormat
	case c.Op == abi.OpNop:
		return abi.StatusSuccess, abi.VendorNone
	case c.Op != abi.OpSend && c.Op != abi.OpSendImm:
		return abi.StatusLocQPOp, abi.VendorWQEOp
	case c.Flags&abi.WQEInlined == 0 && c.NumSGE > 4:
		return abi.StatusLocQPOp, abi.VendorWQEFormat
	case w.length() > abi.MaxMessage:
		return abi.StatusLocLen, abi.VendorWQELength
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
	pieces [][]port.TxPiece
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
		status, vendor := w.status()
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
		if status != abi.StatusSuccess || w.Ctrl.Op == abi.OpNop {
			require.Equal(b.t, port.SentLocal, s.Kind)
			flushing = status != abi.StatusSuccess
			continue
		}
		require.Equal(b.t, port.SentWire, s.Kind)
		require.Equal(b.t, uint32(w.length()), s.ByteLen)
		require.EqualValues(b.t, 1000, s.Arm)
		n := q.MTU.Packets(s.ByteLen)
		require.Equal(b.t, psn, s.FirstPSN)
		require.Equal(b.t, psn.Add(n-1), s.LastPSN)
		for k, spans := range w.spans(q.MTU.Bytes()) {
			if pkt == len(o.pkts) && (q.Failed || q.Reset) {
				flushing = true // ended in the middle of a message
				break
			}
			require.Less(b.t, pkt, len(o.pkts), "life %d WQE %d packet %d", i, j, k)
			if gaveUp(&o.pkts[pkt]) {
				require.True(b.t, q.Bad)
				require.EqualValues(b.t, 0xffffff00, o.pieces[pkt][0].Key)
				psn, pkt, flushing = psn.Add(1), pkt+1, true
				break
			}
			b.checkPacket(q, w, &o.pkts[pkt], o.pieces[pkt], psn, k == 0, k == int(n)-1, spans)
			psn = psn.Add(1)
			pkt++
		}
	}
	require.True(b.t, len(sent) == 0 || flushing, "life %d: entries left over", i)
	require.Len(b.t, o.pkts, pkt, "life %d: packets left over", i)
	require.Equal(b.t, psn, q.Next)
}

// gaveUp tells the packet that stands for a message whose WQE can't be read any
// more: pkt_tx finds no key for it.
func gaveUp(p *port.TxPkt) bool { return p.Opcode == roce.RCSendMiddle && p.Len == 1 }

func (b *bench) checkPacket(q *queuePair, w *work, p *port.TxPkt, pieces []port.TxPiece, psn roce.PSN, first, last bool, spans []span) {
	b.t.Helper()
	op := roce.RCSendMiddle
	switch {
	case first && last:
		op = roce.RCSendOnly
	case first:
		op = roce.RCSendFirst
	case last:
		op = roce.RCSendLast
	}
	want := port.TxPkt{QPN: p.QPN, PSN: psn, Opcode: op, AckReq: last || psn&15 == 15, WQEIdx: w.Idx, NumPieces: uint8(len(spans))}
	if last {
		want.Solicited = w.Ctrl.Flags&abi.WQESolicited != 0
		want.Imm = w.Ctrl.Imm
		if w.Ctrl.Op == abi.OpSendImm {
			want.Opcode++
		}
	}
	if q.Window < 1<<15 {
		want.AckReq = want.AckReq || p.AckReq // the last of the window, too
	}
	for i, s := range spans {
		want.Len += uint16(s.n)
		g := pieces[i]
		require.Equal(b.t, s.inline != nil, g.Inline)
		require.Equal(b.t, s.n, int(g.Len))
		if g.Inline {
			require.Equal(b.t, s.inline, g.Data[:s.n])
			continue
		}
		require.Equal(b.t, s.key, g.Key)
		require.Equal(b.t, s.va, g.VA)
	}
	require.Equal(b.t, want, *p)
}
