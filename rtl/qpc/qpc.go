// Package qpc holds the contexts of all QPs and executes every operation on them.
// No other block knows what a QP is: they send operations and get results, so
// that each sees a context as all operations before left it.
//
//	Bell ──────┐
//	Get, Put ──┤   pick             execute
//	ReadPost ──┤  ┌──────────┐  ┌──────────────────┐
//	TxReq ─────┤  │ choose,  │  │ take, transition ├─► Ctx, TxHdr, Verdict,
//	TxFault ───┼─►│ read     ├─►│ write banks      │   AdminRes, Activate, Stale, StaleSQ
//	Rx ────────┤  │ 6 banks  │  └────────┬─────────┘
//	RespDone ──┤  └──────────┘           │ QPs with something to tell
//	Retire ────┤                         ▼
//	Fatal ─────┤       ┌─── [queue, each QP once]  ─► Event, QPErr, Async
//	Admin ─────┴──◄────┘
//
// The banks are block RAMs: common and static, send queue, requester, responder,
// the requester's list of READs and atomics that wait for their answers, and the
// responder's of those that it may have to answer again. Two more tables are not of a QP:
// shared receive queues (rq_fetch has their lists of entries) and address handles.
// Operations are picked round robin and one is executed a cycle. pick reads the
// banks while the operation stays at the head of its port; execute, in the next
// cycle, takes it, computes the new context by a pure function (the other files
// of this package) and writes back. What comes in for a QP with a shared receive queue
// stays a cycle longer: only its context says which SRQ has to be read besides. Write-first RAMs hand a context that is being
// written to a pick of the same cycle: that is all the bypass it takes.
//
// What a packet means for the send queue goes with its verdict through scatter, so
// that a READ is done when its data has been posted; everything else goes by Event.
//
// What was lost is sent again from the WQEs in host memory (go back N, IBTA 9.7.5,
// 9.7.6): a NAK, an answer beyond a missing one, or a timeout of retrans takes the
// send queue back to the oldest PSN that is not acknowledged. retrans, which has the
// messages, says at which WQE that is; until then nothing is sent, and the requests
// from before die by their generation. See rewind.go and retry.go. The responder
// answers duplicates of its last READs and atomics, see duplicate.go. All this is RC's:
// what UC, UD and raw QPs send is done when it has left, see unacked.go, and what they
// can't receive they drop, see uc.go and ud.go.
//
// Latency: 2 cycles from a port's head to the result at its consumer, 3 if an SRQ is
// read. Initiation interval: 1 over all ports, 2 for a port alone, and one more behind
// each operation that reads an SRQ. Clients must not count on either:
// a cache over host memory may come in between.
//
// Invariants:
//   - A client has room for an answer before it asks: Ctx, TxHdr, Verdict and
//     AdminRes are Ready when their operation executes. A breach is a Fault.
//   - Operations wait for nothing but room of Activate, Stale and StaleSQ, which
//     wqe_sched and pkt_tx always take. What has to go to Event, QPErr and Async waits in a queue,
//     one of QPs and one of SRQs, where it can't hold back an operation that its consumer is waiting for.
//   - A service is closed before the next one opens, and knows of its READs then: a
//     ReadPost goes before a Put, a Put before a Get.
//   - Of a QP at most one question to retrans is under way, so that by which way it
//     goes, verdict or Event, does not matter.
//   - An operation on a QP that does not exist changes nothing and is answered.
package qpc

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// Params are the sizes of the block.
type Params struct {
	LogQP     uint8 // log2 of the number of QPs; 0: 10
	LogSRQ    uint8 // log2 of the number of shared receive queues; 0: 6
	LogAH     uint8 // log2 of the number of address handles; 0: 10
	LogWindow uint8 // log2 of the bytes that a QP may have in flight, 17..23; 0: 17
	Messages  uint8 // entries of the outstanding table that a QP may take; 0: 128
	NoCredits bool  // give no end-to-end credits in acknowledgements, nor wait for any
}

type regs struct {
	Busy   bool   // an operation is being executed
	Source source // its port; when idle that of the last one
	Of     object
	QPN    port.QPN // or AHN, SRQN
	Known  bool     // QPN is one of the device's
	Read   Bank     // the banks that were read
	SRQN   port.SRQN
	Stats  port.QPStats
}

// QPC is the block. Its ports are described in the package comment.
type QPC struct {
	Bell     hdl.In[port.QPDoorbell]
	Get      hdl.In[port.SQGet]
	Ctx      hdl.Out[port.SQCtx]
	Put      hdl.In[port.SQPut]
	TxReq    hdl.In[port.TxHdrReq]
	TxHdr    hdl.Out[port.TxHdr]
	TxFault  hdl.In[port.SQFault]
	Rx       hdl.In[port.RxOp]
	Verdict  hdl.Out[port.RxVerdict]
	Retire   hdl.In[port.Retire]
	Fatal    hdl.In[port.Retire]
	ReadPost hdl.In[port.ReadPost]
	RespDone hdl.In[port.RespDone]
	Admin    hdl.In[port.QPAdmin]
	AdminRes hdl.Out[port.QPAdminRes]
	Activate hdl.Out[port.Activate]
	Stale    hdl.Out[port.Stale]
	StaleSQ  hdl.Out[port.Stale]
	Event    hdl.Out[port.AckEvent]
	QPErr    hdl.Out[port.QPError]
	Async    hdl.Out[port.EventReq]
	PortReg  hdl.Tap[port.PortReg]
	GIDs     hdl.Tap[port.GIDTable]
	Stats    hdl.Sig[port.QPStats]

	// The queues of QPs and of SRQs with something to tell.
	Tell    hdl.Out[port.QPError]
	Told    hdl.In[port.QPError]
	TellSRQ hdl.Out[port.SRQN]
	ToldSRQ hdl.In[port.SRQN]

	// Port 0 reads, port 1 writes.
	Common    hdl.RAM[Common]
	SQ        hdl.RAM[SQ]
	Requester hdl.RAM[Requester]
	Responder hdl.RAM[Responder]
	Reads     hdl.RAM[Reads]
	Saved     hdl.RAM[Saved]
	SRQs      hdl.RAM[Shared]
	AHs       hdl.RAM[AH]

	hdl.Regs[regs]

	par Params
}

// New makes the block.
func New(p Params) *QPC {
	hdl.Default(&p.LogQP, 10)
	hdl.Default(&p.LogSRQ, 6)
	hdl.Default(&p.LogAH, 10)
	hdl.Default(&p.LogWindow, 17)
	hdl.Default(&p.Messages, 128)
	m := &QPC{par: p}
	n := 1 << p.LogQP
	m.Common.Init(n, hdl.WriteFirst)
	m.SQ.Init(n, hdl.WriteFirst)
	m.Requester.Init(n, hdl.WriteFirst)
	m.Responder.Init(n, hdl.WriteFirst)
	m.Reads.Init(n, hdl.WriteFirst)
	m.Saved.Init(n, hdl.WriteFirst)
	srqs := 1 << p.LogSRQ
	m.SRQs.Init(srqs, hdl.WriteFirst)
	m.AHs.Init(1<<p.LogAH, hdl.WriteFirst)
	hdl.Connect(&m.Tell, &m.Told, n+1) // one more, so that a QP can go round in a full queue
	hdl.Connect(&m.TellSRQ, &m.ToldSRQ, srqs+1)
	return m
}

// Eval executes the operation whose context was read, and picks the next.
func (m *QPC) Eval() {
	if m.Q.Busy {
		if m.needsSRQ() {
			n := m.Common.Data(0).SRQN
			m.SRQs.Read(0, int(n))
			m.D.Read, m.D.SRQN = m.Q.Read|InShared, n
			return
		}
		m.execute()
	}
	m.pick()
}

// needsSRQ tells whether the SRQ of the QP has to be read besides, since a receive
// operation is to see it: the QP's common bank, which has come now, names it. That takes
// a cycle more.
func (m *QPC) needsSRQ() bool {
	q := &m.Q
	if q.Source != srcRx || !q.Known || q.Read&InShared != 0 {
		return false
	}
	cm := m.Common.Data(0)
	o := m.Rx.Head()
	return cm.Exists && cm.Flags&abi.QPHasSRQ != 0 && !(o.Kind == port.RxPacket && o.Pkt.Opcode.IsResponse())
}

// pick chooses an operation and reads the banks of its QP. The head that is being
// executed is no choice; the one behind it shows in the next cycle.
func (m *QPC) pick() {
	q, d := &m.Q, &m.D
	room := hasRoom(&m.Activate, q.Busy && activates[q.Source])
	busy := q.Busy && rewinds[q.Source]
	stale := hasRoom(&m.Stale, busy) && hasRoom(&m.StaleSQ, busy)
	puts := m.Put.Len()
	posts := m.ReadPost.Len()
	switch {
	case !q.Busy:
	case q.Source == srcPut:
		puts--
	case q.Source == srcReadPost:
		posts--
	}
	requests := bit(m.Admin.Valid() && stale, srcAdmin) |
		bit(m.Bell.Valid() && room, srcBell) |
		bit(m.Get.Valid() && puts == 0, srcGet) |
		bit(m.Put.Valid() && posts == 0 && stale, srcPut) |
		bit(m.TxReq.Valid(), srcTxReq) |
		bit(m.TxFault.Valid(), srcTxFault) |
		bit(m.Rx.Valid() && room && stale, srcRx) |
		bit(m.Retire.Valid() && room && stale, srcRetire) |
		bit(m.Fatal.Valid(), srcFatal) |
		bit(m.ReadPost.Valid(), srcReadPost) |
		bit(m.RespDone.Valid(), srcRespDone) |
		bit(m.Told.Valid() && room && m.Event.Ready() && m.QPErr.Ready() && hasRoom(&m.Async, busyAs(q, srcToldSRQ)), srcTold) |
		bit(m.ToldSRQ.Valid() && hasRoom(&m.Async, busyAs(q, srcTold)), srcToldSRQ)
	if q.Busy {
		requests &^= 1 << q.Source
	}
	i := hdl.RoundRobin(requests, int(q.Source))
	d.Busy = i >= 0
	if i < 0 {
		return
	}
	d.Source = source(i)
	d.Of, d.QPN = m.head(d.Source)
	d.Known = d.QPN>>m.logOf(d.Of) == 0
	m.read(d)
}

// hasRoom tells whether one more operation may put on o, besides one that is being
// executed and may.
func hasRoom[T any](o *hdl.Out[T], busy bool) bool {
	n := o.Space()
	return n > 1 || n == 1 && !busy
}

// busyAs tells whether an operation of a port is being executed.
func busyAs(q *regs, s source) bool { return q.Busy && q.Source == s }

func bit(v bool, s source) uint64 {
	if v {
		return 1 << s
	}
	return 0
}

// env is what the operations know besides the context. Only admin and datagrams look
// at the addresses.
func (m *QPC) env() Env {
	e := Env{
		Reg: m.PortReg.Get(), LogWindow: m.par.LogWindow, Messages: uint16(m.par.Messages), NoCredits: m.par.NoCredits,
	}
	if s := m.Q.Source; s == srcAdmin || s == srcRx && m.Common.Data(0).Type == abi.QPTypeUD {
		e.GIDs = m.GIDs.Get()
	}
	return e
}

// countBell counts doorbells that are ignored.
func (m *QPC) countBell(b *Bell) {
	s := &m.D.Stats
	if b.BadPage {
		s.BadPage++
	}
	if b.BadNumber {
		s.BadNumber++
	}
}

// answer guards the invariant that a client has room for its answer.
func answer[T any](m *QPC, o *hdl.Out[T]) *T {
	if !o.Ready() {
		m.Fail("%v: no room for the answer", m.Q.Source)
	}
	return o.Next()
}
