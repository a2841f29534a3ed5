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

// sort splits the output by QP.
func (b *bench) sort() []output {
	out := make([]output, len(b.qps))
	for _, s := range b.Sent.Got {
		out[s.QPN].sent = append(out[s.QPN].sent, s)
	}
	pieces := b.Piece.Got
	for _, p := range b.Pkt.Got {
		o := &out[p.QPN]
		if p.Purge {
			o.purged++
			continue
		}
		require.GreaterOrEqual(b.t, len(pieces), int(p.NumPieces))
		o.pkts = append(o.pkts, p)
		o.pieces = append(o.pieces, pieces[:p.NumPieces])
		pieces = pieces[p.NumPieces:]
	}
	require.Empty(b.t, pieces)
	return out
}

// check demands that each posted WQE shows once, in order, with its packets. A QP
// that failed may have stopped anywhere; from then on all is flushed.
func (b *bench) check() {
	b.t.Helper()
	for i, o := range b.sort() {
		b.checkQP(i, &o)
	}
}

func (b *bench) checkQP(i int, o *output) {
	q := b.qps[i]
	require.Len(b.t, o.sent, len(q.Posted), "QP %d", i)
	psn, pkt, flushing := q.First, 0, false
	for j := range q.Posted {
		w, s := &q.Posted[j], &o.sent[j]
		require.Equal(b.t, w.Idx, s.UnitIdx, "QP %d WQE %d", i, j)
		require.Equal(b.t, port.CQN(i)+5, s.SendCQN)
		require.Equal(b.t, w.Ctrl.Flags&abi.WQESignalled != 0 || q.Sig, s.Signaled)
		status, vendor := w.status()
		if s.Status == abi.StatusWRFlush {
			require.True(b.t, q.State == abi.QPErr, "QP %d WQE %d flushed without reason", i, j)
			flushing = true
		}
		if flushing {
			require.Equal(b.t, abi.StatusWRFlush, s.Status)
			require.Equal(b.t, port.SentLocal, s.Kind)
			continue
		}
		require.Equal(b.t, status, s.Status, "QP %d WQE %d %v", i, j, w.Ctrl)
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
			if pkt == len(o.pkts) && q.State == abi.QPErr {
				flushing = true // failed in the middle of a message
				break
			}
			require.Less(b.t, pkt, len(o.pkts), "QP %d WQE %d packet %d", i, j, k)
			b.checkPacket(q, w, &o.pkts[pkt], o.pieces[pkt], psn, k == 0, k == int(n)-1, spans)
			psn = psn.Add(1)
			pkt++
		}
	}
	require.Len(b.t, o.pkts, pkt, "QP %d: packets left over", i)
	require.Equal(b.t, psn, q.Next)
}

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
