package scatter_test

import (
	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

const testPD = 0x55

// qp is the receive side of a queue pair: the model of qpc's context, the
// driver's ring and the peer that sends to it.
type qp struct {
	n         port.QPN
	base      port.BusAddr
	logStride uint8
	log       uint8
	alive     bool // RTR
	dead      bool // ERR
	active    bool
	held      uint16
	ci, pi    uint16 // next to take, next to post
	free      uint16 // entries before it may be posted anew
	offset    uint32
	psn       roce.PSN
	msn       port.MSN

	skip   bool // the rest of a message without receive WQE is dropped
	peer   peer
	wqes   map[uint16]wqe
	poison bool
	fault  port.RxOp // what is to be reported of the poisoning
	last   int       // receive WQE completed last under poison, -1: none
	life   int
	acks   []due // to be sent
}

// due is an acknowledgement that must come, in this order; of an older life of
// its QP it may.
type due struct {
	ack  port.AckReq
	mark int // bytes that must be posted before it
	void bool
}

// peer is the far end of a QP.
type peer struct {
	psn     roce.PSN
	left    int  // bytes still to be sent of its message
	started bool // the first packet was sent
}

// wqe is a posted receive WQE.
type wqe struct {
	list  port.RQWQE
	wrong abi.VendorErr // malformed in memory
	total int
}

func (q *qp) addr(i uint16) port.BusAddr {
	return q.base + port.BusAddr(abi.RingSlot(i, q.log))<<q.logStride
}

// sentPkt is what the peer has put on the wire.
type sentPkt struct {
	pkt     port.RxPkt
	payload []byte
	fate    fate
	life    int // of the QP
}

// fate says how qpc is to judge a packet of a living QP.
type fate uint8

const (
	normal fate = iota
	dropped
	duplicate
	fatal // NAK invalid request
)

// model judges operations as qpc would, and at the same time, in the order of the
// verdicts, works out all that must come of them.
type model struct {
	b      *bench
	qps    map[port.QPN]*qp
	sent   []sentPkt // not yet judged
	expect struct {
		cqes   []port.CQEReq
		marks  []int // bytes that must be posted before each
		events []port.AckEvent
		memory map[port.BusAddr]byte
		bytes  int
		stats  port.RespStats
	}
	faults int
	flush  int
	twice  int // receive WQEs that qpc flushed after scatter had completed them
}

func (m *model) answer(o port.RxOp) (v port.RxVerdict) {
	v = port.RxVerdict{Kind: o.Kind, QPN: o.QPN, PD: testPD, RecvCQN: port.CQN(o.QPN & 7), SrcQPN: o.QPN ^ 0xff}
	q := m.qps[o.QPN]
	switch o.Kind {
	case port.RxPacket:
		s := m.sent[0]
		m.sent = m.sent[1:]
		m.packet(q, &s, &v)
		m.placed(q, &s, &v)
	case port.RxFault:
		require.Equal(m.b.t, q.fault, o)
		v.Action = port.RxFailed
		v.Ack = port.AckReq{Send: true, QPN: o.QPN, PSN: o.PSN, Syndrome: 0x63, MSN: o.MSN}
		v.Drop = abi.RespLocalProtectionErrors
		m.expect.stats.RespLocalProtection++
		if o.Status == abi.StatusLocLen {
			m.expect.stats.RespLocalProtection--
			v.Ack.Syndrome, v.Drop = 0x61, abi.RespLocalLengthError
			m.expect.stats.RespLocalLengthError++
			m.expect.stats.RespRemoteInvalidRequest++
		}
		q.active = false
		m.fail(q)
		q.poison = false
		m.ack(q, v.Ack)
	case port.RxFlushRQ:
		m.flushRQ(q, &v)
	case port.RxPurge:
		v.Action = port.RxNothing
		m.cqe(port.CQEReq{Purge: true, RX: true, QPN: o.QPN})
		q.poison, q.last = false, -1
	}
	return v
}

// fail takes a QP to ERR.
func (m *model) fail(q *qp) {
	q.dead = true
	if q.active || q.ci != q.pi {
		m.b.QPErr.Push(port.QPError{QPN: q.n})
	}
}

func (m *model) describe(q *qp, i uint16, v *port.RxVerdict) {
	v.RQIdx, v.RQAddr, v.RQStride, v.RQNext, v.RQLog = i, q.addr(i), 1<<q.logStride, q.pi-q.ci, q.log
}

func (m *model) flushRQ(q *qp, v *port.RxVerdict) {
	if v.Action = port.RxNothing; !q.dead || !q.active && q.ci == q.pi {
		return
	}
	v.Action = port.RxFlushed
	if q.active {
		q.active = false
		m.describe(q, q.held, v)
	} else {
		m.describe(q, q.ci, v)
		q.ci++
	}
	m.flush++
	if q.last == int(v.RQIdx) {
		m.twice++
	}
	m.flushed(q, v.RQIdx)
}

// packet judges a packet.
func (m *model) packet(q *qp, s *sentPkt, v *port.RxVerdict) {
	p := &s.pkt
	stats := &m.expect.stats
	drop := func(c abi.Counter, n *uint64) { v.Action, v.Drop, *n = port.RxDrop, c, *n+1 }
	switch {
	case q == nil:
		drop(abi.RxDropBadQPN, &stats.DropBadQPN)
	case p.Opcode == roce.RCAck:
		v.Action = port.RxAck
		v.Event = port.AckEvent{QPN: q.n, Una: p.PSN, Flush: q.dead}
		m.expect.events = append(m.expect.events, v.Event)
		if p.Syndrome == 0x60 {
			v.Drop = abi.PacketSeqErr
			stats.PacketSeqErr++
		}
	case !q.alive || q.dead || s.life != q.life:
		drop(abi.RxDropBadState, &stats.DropBadState)
	case s.fate == dropped:
		drop(abi.OutOfSequence, &stats.OutOfSequence)
		stats.DropOther++
	case s.fate == duplicate:
		v.Action, v.Drop = port.RxReply, abi.DuplicateRequest
		stats.DuplicateRequest++
		v.Ack = port.AckReq{Send: true, QPN: q.n, PSN: q.psn.Sub(1), Syndrome: 31, MSN: q.msn}
	case s.fate == fatal:
		v.Action, v.Drop = port.RxReply, abi.RespRemoteInvalidRequest
		stats.RespRemoteInvalidRequest++
		v.Ack = port.AckReq{Send: true, QPN: q.n, PSN: p.PSN, Syndrome: 0x61, MSN: q.msn}
		if q.active {
			q.active = false
			v.Error, v.EndsWQE, v.Status, v.Vendor = true, true, abi.StatusLocQPOp, abi.VendorRecvOp
			m.describe(q, q.held, v)
		}
		m.fail(q)
	case q.skip && !p.Opcode.Starts():
		drop(abi.RxDropOther, &stats.DropOther)
	case p.Opcode.Starts() && q.ci == q.pi:
		q.skip = true
		v.Action, v.Drop = port.RxReply, abi.OutOfBuffer
		stats.OutOfBuffer++
		v.Ack = port.AckReq{Send: true, QPN: q.n, PSN: p.PSN, Syndrome: 0x25, MSN: q.msn}
	default:
		m.accept(q, p, v)
	}
}

func (m *model) accept(q *qp, p *port.RxPkt, v *port.RxVerdict) {
	v.Action = port.RxPlace
	if p.Opcode.Starts() {
		q.held, q.offset, q.skip = q.ci, 0, false
		q.ci++
		v.TakesWQE = true
	}
	v.EndsWQE, v.Offset = p.Opcode.Ends(), q.offset
	m.describe(q, q.held, v)
	q.active = !v.EndsWQE
	q.offset += uint32(p.Len)
	q.psn = p.PSN.Add(1)
	if v.EndsWQE {
		q.msn = q.msn.Next()
	}
	v.Ack = port.AckReq{Send: p.AckReq, QPN: q.n, PSN: p.PSN, Syndrome: 31, MSN: q.msn}
}

// placed works out what scatter does with a verdict on a packet.
func (m *model) placed(q *qp, s *sentPkt, v *port.RxVerdict) {
	switch {
	case v.Action == port.RxReply && q.poison && v.Error:
		m.flushed(q, v.RQIdx)
	case v.Action == port.RxReply && !q.poison:
		if v.Error {
			m.wqeFails(q, v, v.Status, v.Vendor)
		}
		m.ack(q, v.Ack)
	case v.Action == port.RxPlace && q.poison:
		m.flushed(q, v.RQIdx)
	case v.Action == port.RxPlace:
		m.deliver(q, s, v)
	}
}

func (m *model) deliver(q *qp, s *sentPkt, v *port.RxVerdict) {
	w := q.wqes[v.RQIdx]
	looked := len(s.payload) > 0 || v.EndsWQE
	status, vendor := abi.StatusSuccess, abi.VendorNone
	bytes := map[port.BusAddr]byte{}
	switch end := int(v.Offset) + len(s.payload); {
	case !looked:
	case w.wrong != abi.VendorNone:
		status, vendor = abi.StatusLocQPOp, w.wrong
	case end > w.total:
		status, vendor = abi.StatusLocLen, abi.VendorRecvTooLong
	default:
		at := 0
		for _, e := range w.list.SGE[:w.list.Num] {
			for i := range int(e.Len) {
				if at >= int(v.Offset) && at < end && status == abi.StatusSuccess {
					if e.Key&7 != 0 {
						status, vendor = abi.StatusLocProt, [...]abi.VendorErr{0, abi.VendorLKeyUnknown, abi.VendorLKeyPD, abi.VendorLKeyAccess, abi.VendorLKeyBounds}[e.Key&7]
					}
					bytes[bus(e.VA+port.VA(i))] = s.payload[at-int(v.Offset)]
				}
				at++
			}
		}
	}
	if status != abi.StatusSuccess {
		m.faults++
		m.wqeFails(q, v, status, vendor)
		q.poison, q.last = true, int(v.RQIdx)
		q.fault = port.RxOp{Kind: port.RxFault, QPN: q.n, PSN: s.pkt.PSN, MSN: q.msn, Status: status}
		if v.EndsWQE {
			q.fault.MSN = (q.msn - 1) & 0xffffff
		}
		return
	}
	for a, x := range bytes {
		m.expect.memory[a] = x
	}
	m.expect.bytes += len(bytes)
	if v.EndsWQE {
		c := port.CQEReq{
			CQN: v.RecvCQN, QPN: q.n, UnitIdx: v.RQIdx, Opcode: abi.WCRecv, SrcQPN: v.SrcQPN,
			ByteLen: v.Offset + uint32(len(s.payload)), Solicited: s.pkt.Solicited,
		}
		if s.pkt.Opcode.HasImm() {
			c.Flags, c.Imm = 2, s.pkt.Imm
		}
		m.cqe(c)
	}
	m.ack(q, v.Ack)
}

func (m *model) cqe(c port.CQEReq) {
	m.expect.cqes = append(m.expect.cqes, c)
	m.expect.marks = append(m.expect.marks, m.expect.bytes)
}

func (m *model) wqeFails(q *qp, v *port.RxVerdict, s abi.WCStatus, e abi.VendorErr) {
	m.cqe(port.CQEReq{
		CQN: v.RecvCQN, QPN: q.n, UnitIdx: v.RQIdx, Opcode: abi.WCRecv, Status: s, Vendor: e, Solicited: true,
	})
}

// flushed expects a receive WQE to be flushed, unless it was completed already.
func (m *model) flushed(q *qp, i uint16) {
	if q.last == int(i) {
		return
	}
	if q.poison {
		q.last = int(i)
	}
	m.cqe(port.CQEReq{
		CQN: port.CQN(q.n & 7), QPN: q.n, UnitIdx: i, Opcode: abi.WCRecv, Status: abi.StatusWRFlush, Vendor: abi.VendorFlush, Solicited: true,
	})
}

func (m *model) ack(q *qp, a port.AckReq) {
	if a.Send {
		q.acks = append(q.acks, due{ack: a, mark: m.expect.bytes})
	}
}
