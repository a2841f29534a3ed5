package scatter_test

import (
	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// qp is a queue pair: the model of qpc's context, the driver's rings and the peer.
type qp struct {
	n         port.QPN
	base      port.BusAddr
	logStride uint8
	log       uint8
	sq        port.BusAddr // send queue of 2^sqLog units
	hot       port.VA      // a word that atomics and WRITEs of this QP share
	transport roce.Transport
	srq       *srq // nil: it has receives of its own
	told      bool // of its last receive WQE, in ERR
	life      int

	alive  bool // RTR
	dead   bool // ERR
	active bool // a message holds receive WQE held
	held   uint16
	ci, pi uint16 // next to take, next to post
	sqPI   uint16 // next unit of the send queue
	free   uint16 // entries before it may be posted anew
	offset uint32 // bytes of the message so far
	psn    roce.PSN
	msn    port.MSN
	remote port.Remote // of the WRITE in progress: what is left
	skip   bool        // the rest of a message without receive WQE is dropped
	peer   peer
	wqes   map[uint16]wqe

	poison     bool
	quiet      bool // poison: nothing completes, and the QP goes on
	sendPoison bool
	faults     []port.RxOp // to be reported
	last       int         // receive WQE completed last under poison, -1: none
	jobs       []due       // to be sent
	events     []dueEvent
	placed     int // bytes that must be posted before an event
	atomics    int // asked for
}

// due is a job that must come, in this order; of an older life of its QP it may.
type due struct {
	job  port.Job
	mark int // bytes that must be posted before it
	void bool
}

type dueEvent struct {
	event port.AckEvent
	mark  int
}

// dueCQE is a CQE that must come, in this order.
type dueCQE struct {
	cqe     port.CQEReq
	mark    int
	atomics int // of its QP that must have been done
}

// dueAtomic is an atomic that must be asked for, in this order.
type dueAtomic struct {
	req  port.AtomicReq
	mark int
}

// wqe is a posted receive WQE, or the send WQE of a READ or atomic.
type wqe struct {
	list  port.RQWQE
	wrong abi.VendorErr // malformed in memory
	total int
	idx   uint16 // send WQE: first unit
}

func (q *qp) addr(i uint16) port.BusAddr {
	return q.base + port.BusAddr(abi.RingSlot(i, q.log))<<q.logStride
}

// model judges operations as qpc would, and at the same time, in the order of the
// verdicts, works out all that must come of them.
type model struct {
	b       *bench
	qps     map[port.QPN]*qp
	sent    []sentPkt         // not yet judged
	killed  map[port.Key]bool // keys made invalid
	stamp   roce.PSN          // makes each event another
	cqes    []dueCQE
	memory  memory
	bytes   int
	atomics []dueAtomic
	stats   port.RespStats

	faults [5]int // requests, responses, keys, READ responses that were to be sent, quiet ones
	flush  int
	ended  int // receive WQEs of shared queues whose messages were given up
	twice  int // receive WQEs that qpc flushed after scatter had completed them
}

func (m *model) answer(o port.RxOp) (v port.RxVerdict) {
	v = port.RxVerdict{Kind: o.Kind, QPN: o.QPN, PD: testPD, RQPD: testRQ, RecvCQN: port.CQN(o.QPN & 7), SrcQPN: o.QPN ^ 0xff}
	q := m.qps[o.QPN]
	v.Quiet = q != nil && q.unacked()
	switch o.Kind {
	case port.RxPacket:
		s := m.sent[0]
		m.sent = m.sent[1:]
		m.packet(q, &s, &v)
		m.outcome(q, &s, &v)
	case port.RxFault:
		m.fault(q, &o, &v)
	case port.RxFlushRQ:
		m.flushRQ(q, &v)
	case port.RxPurge:
		v.Action = port.RxNothing
		if q.srq != nil && q.active {
			m.broken(q, &v, abi.StatusWRFlush, abi.VendorFlush)
		}
		m.purge(o.QPN)
	}
	return v
}

// fault takes a QP to ERR.
func (m *model) fault(q *qp, o *port.RxOp, v *port.RxVerdict) {
	v.Action = port.RxFailed
	if o.Resp {
		m.faults[3]++
	} else {
		require.NotEmpty(m.b.t, q.faults)
		require.Equal(m.b.t, q.faults[0], *o)
		q.faults = q.faults[1:]
	}
	if o.Send {
		q.sendPoison = false
	} else {
		q.poison = false
	}
	if !q.alive {
		return
	}
	if q.quiet && !o.Send && !o.Resp {
		m.takeBack(q, o, v)
		m.event(q, v)
		return
	}
	if !o.Send && !o.Silent && !q.dead && !q.unacked() {
		v.Ack = port.AckReq{Send: true, QPN: o.QPN, PSN: o.PSN, Syndrome: 0x63, MSN: o.MSN}
	}
	switch o.Status {
	case abi.StatusLocLen:
		v.Ack.Syndrome, v.Drop = 0x61, abi.RespLocalLengthError
		m.stats.RespLocalLengthError++
		if v.Ack.Send {
			m.stats.RespRemoteInvalidRequest++
		}
	case abi.StatusLocProt:
		v.Drop = abi.RespLocalProtectionErrors
		m.stats.RespLocalProtection++
	case abi.StatusRemAccess, abi.StatusLocAccess:
		v.Ack.Syndrome, v.Drop = 0x62, abi.RespRemoteAccessErrors
		m.stats.RespRemoteAccess++
	}
	q.active = q.active && (o.Send || o.Resp) // else scatter has ended its receive WQE
	m.fail(q)
	m.event(q, v)
	m.answerAck(q, v.Ack)
}

// fail takes a QP to ERR.
func (m *model) fail(q *qp) {
	q.dead = true
	if q.active || q.ci != q.pi || q.srq != nil {
		m.b.QPErr.Push(port.QPError{QPN: q.n})
	}
}

func (m *model) describe(q *qp, i uint16, v *port.RxVerdict) {
	if q.srq != nil {
		q.srq.describe(i, v)
		return
	}
	v.RQIdx, v.RQAddr, v.RQStride, v.RQNext, v.RQLog = i, q.addr(i), 1<<q.logStride, q.pi-q.ci, q.log
}

func (m *model) flushRQ(q *qp, v *port.RxVerdict) {
	if v.Action = port.RxNothing; !q.dead || !q.active && q.ci == q.pi {
		if v.LastWQE = q.dead && q.srq != nil && !q.told; v.LastWQE {
			q.told = true
			m.failed(q, port.CQEReq{LastWQE: true, QPN: q.n})
		}
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
	drop := func(c abi.Counter, n *uint64) { v.Action, v.Drop, *n = port.RxDrop, c, *n+1 }
	switch {
	case q == nil:
		drop(abi.RxDropBadQPN, &m.stats.DropBadQPN)
	case !q.alive || q.dead || s.life != q.life:
		drop(abi.RxDropBadState, &m.stats.DropBadState)
	case q.unacked():
		m.unacked(q, s, v)
	case p.Opcode == roce.RCAck:
		v.Action = port.RxAck
		if p.Syndrome == 0x60 {
			v.Drop = abi.PacketSeqErr
			m.stats.PacketSeqErr++
		}
	case p.Opcode.IsResponse():
		m.response(q, s, v)
	case s.fate == dropped:
		drop(abi.OutOfSequence, &m.stats.OutOfSequence)
		m.stats.DropOther++
	case s.fate == duplicate:
		v.Action, v.Drop = port.RxReply, abi.DuplicateRequest
		m.stats.DuplicateRequest++
		v.Ack = port.AckReq{Send: true, QPN: q.n, PSN: q.psn.Sub(1), Syndrome: 31, MSN: q.msn}
	case s.fate == anew:
		m.anew(q, p, v)
	case s.fate == fatal:
		v.Action, v.Drop = port.RxReply, abi.RespRemoteInvalidRequest
		m.stats.RespRemoteInvalidRequest++
		v.Ack = port.AckReq{Send: true, QPN: q.n, PSN: p.PSN, Syndrome: 0x61, MSN: q.msn}
		if q.active {
			q.active = false
			v.Error, v.EndsWQE, v.Status, v.Vendor = true, true, abi.StatusLocQPOp, abi.VendorRecvOp
			m.describe(q, q.held, v)
		}
		m.fail(q)
	case q.skip && !p.Opcode.Starts():
		drop(abi.RxDropOther, &m.stats.DropOther)
	case p.Opcode.TakesReceive() && q.empty():
		q.skip = !p.Opcode.Ends()
		v.Action, v.Drop = port.RxReply, abi.OutOfBuffer
		m.stats.OutOfBuffer++
		v.Ack = port.AckReq{Send: true, QPN: q.n, PSN: p.PSN, Syndrome: 0x25, MSN: q.msn}
	default:
		m.accept(q, p, v)
	}
}

// anew answers a duplicate of a READ or atomic.
func (m *model) anew(q *qp, p *port.RxPkt, v *port.RxVerdict) {
	m.stats.DuplicateRequest++
	v.Action, v.Drop = port.RxPlace, abi.DuplicateRequest
	v.Ack = port.AckReq{QPN: q.n, PSN: p.PSN, Syndrome: 31, MSN: q.msn}
	v.Job = port.Job{
		Kind: port.JobAtomic, Again: true, QPN: q.n, PSN: p.PSN, Syndrome: 31, MSN: q.msn, Len: p.Reth.Len,
		MTU: 1024, Op: p.Opcode, Slot: uint8(m.stats.DuplicateRequest % 16),
	}
	if p.Opcode.IsReadRequest() {
		v.Job.Kind, v.Job.VA, v.Job.Key = port.JobRead, p.Reth.VA, p.Reth.RKey
		if p.Reth.Len != 0 {
			v.Target = port.TargetRemote
			v.Remote = port.Remote{VA: p.Reth.VA, Key: p.Reth.RKey, Range: p.Reth.Len, Access: uint8(abi.AccessRemoteRead)}
		}
	}
}

// response judges what the peer answers to this QP's READs and atomics.
func (m *model) response(q *qp, s *sentPkt, v *port.RxVerdict) {
	v.Action, v.Offset = port.RxPlace, s.offset
	v.HasEvent = s.pkt.Opcode.Ends() || m.stamp%3 == 0
	if s.pkt.Len != 0 || s.pkt.Opcode == roce.RCAtomicAck {
		v.Target = port.TargetSend
		v.SQ = port.SQRef{Base: q.sq, Log: sqLog, Idx: s.wqe.idx, Last: s.pkt.Opcode.Ends()}
	}
}

// accept executes a request.
func (m *model) accept(q *qp, p *port.RxPkt, v *port.RxVerdict) {
	op := p.Opcode
	v.Action = port.RxPlace
	if op.Starts() {
		q.offset, q.skip = 0, false
		q.remote = port.Remote{VA: p.Reth.VA, Key: p.Reth.RKey, Range: p.Reth.Len}
	}
	if op.TakesReceive() {
		q.active, v.TakesWQE = true, true
		if q.srq != nil {
			q.held, v.First = q.srq.take()
		} else {
			q.held = q.ci
			q.ci++
		}
	}
	v.Offset, v.RQIdx = q.offset, q.ci
	if q.active {
		v.EndsWQE = op.Ends()
		m.describe(q, q.held, v)
		q.active = !op.Ends()
	}
	q.offset += uint32(p.Len)
	q.psn = p.PSN.Add(1)
	if op.Ends() {
		q.msn = q.msn.Add(1)
	}
	v.Ack = port.AckReq{Send: p.AckReq, QPN: q.n, PSN: p.PSN, Syndrome: 31, MSN: q.msn}
	switch {
	case q.transport == roce.UD:
		v.Target, v.GRH, v.V6, v.Offset = port.TargetRecv, true, p.V6, grhBytes
	case op.IsSend():
		v.Target = port.TargetRecv
	case op.IsWrite():
		m.remote(q, v, p.Len, abi.AccessRemoteWrite)
	default:
		v.Ack.Send = false
		v.Job = port.Job{
			Kind: port.JobRead, QPN: q.n, PSN: p.PSN, Syndrome: 31, MSN: q.msn, VA: p.Reth.VA, Key: p.Reth.RKey,
			Len: p.Reth.Len, MTU: 1024, Op: op, Swap: p.Reth.Swap, Compare: p.Reth.Compare, Slot: uint8(p.PSN % 16),
		}
		access := abi.AccessRemoteRead
		if op.IsAtomic() {
			v.Job.Kind, access, q.remote.Range = port.JobAtomic, abi.AccessRemoteAtomic, 8
		}
		m.remote(q, v, uint16(min(q.remote.Range, 1)), access)
	}
}

// remote has the packet look at memory, if it is about any.
func (m *model) remote(q *qp, v *port.RxVerdict, n uint16, access abi.AccessFlags) {
	if n == 0 {
		return
	}
	v.Target, v.Remote = port.TargetRemote, q.remote
	v.Remote.Access = uint8(access)
	q.remote.VA += port.VA(n)
	q.remote.Range = 0 // later packets look at their own bytes only
}
