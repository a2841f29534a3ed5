package retrans

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// op is the operation on a QP's list: the list is read in one cycle, the operation
// done in the next.
type op uint8

const (
	opNone  op = iota
	opAlarm    // Clock reports
	opSent
	opPurge
	opAck   // event from scatter
	opEvent // event from qpc
	opLeft  // packets have left that nobody answers
	opWalk  // the QP's turn to end entries
	opEnd   // the first entry ends
)

// Width is 4 bits.
func (op) Width() int { return 4 }

func (o op) String() string {
	if o > opEnd {
		return "RESERVED"
	}
	return [...]string{"NONE", "ALARM", "SENT", "PURGE", "ACK", "EVENT", "LEFT", "WALK", "END"}[o]
}

type regs struct {
	Op    op
	QPN   port.QPN
	Last  op     // of opAck, opEvent, opLeft, opWalk the one that was begun last
	N     uint8  // opEnd: entries of the QP that ended just before
	Fresh uint16 // entries from this one on were never used
	Get   uint16 // place in Spare of the next entry to use
	Put   uint16 // place in Spare for the next entry to come back
	Used  uint16 // entries in lists
	Hold  bool   // the marker at the head of Purge waits for entries to be dropped
}

// Retrans is the block. Its ports are described in the package comment.
type Retrans struct {
	Sent   hdl.In[port.Sent]
	Free   hdl.Out[port.SentFree]
	Ack    hdl.In[port.AckEvent]
	Event  hdl.In[port.AckEvent]
	Retire hdl.Out[port.Retire]
	CQE    hdl.Out[port.CQEReq]
	Purge  hdl.In[port.Purge]

	Lists   hdl.RAM[list]   // by QPN
	Entries hdl.RAM[entry]  // the outstanding table
	Links   hdl.RAM[ref]    // by entry: the one behind it
	Spare   hdl.RAM[uint16] // a ring of entries that came back

	Clock   Clock
	walkIn  hdl.Out[port.QPN] // QPs with entries that are done, or an answer due, each once
	walk    hdl.In[port.QPN]
	tell    hdl.Out[news]
	expired hdl.In[expiry]
	gone    hdl.In[gone]

	hdl.Regs[regs]
	p    Params
	mask int
}

// New makes the block with its tables.
func New(p Params) *Retrans {
	p = p.withDefaults()
	m := &Retrans{p: p, mask: 1<<p.LogQP - 1}
	m.Lists.Init(1<<p.LogQP, hdl.WriteFirst)
	m.Entries.Init(p.Entries, hdl.WriteFirst)
	m.Links.Init(p.Entries, hdl.WriteFirst)
	m.Spare.Init(p.Entries, hdl.WriteFirst)
	m.Clock.init(p.LogQP)
	hdl.Connect(&m.walkIn, &m.walk, max(2, 1<<p.LogQP))
	hdl.Connect(&m.tell, &m.Clock.tell, 4)
	hdl.Connect(&m.Clock.expired, &m.expired, 2)
	hdl.Connect(&m.Clock.gone, &m.gone, 2)
	return m
}

// Eval finishes the operation that was begun, then goes on with the same QP if an
// entry of it is done, or begins another operation.
func (m *Retrans) Eval() {
	q, d := &m.Q, &m.D
	d.Op = opNone
	if q.Op != opNone {
		l := *m.Lists.Data(0)
		end := m.finish(&l)
		m.Lists.Write(1, int(q.QPN)&m.mask, &l)
		if end {
			d.Op = opEnd
			m.Lists.Read(0, int(q.QPN)&m.mask)
			m.Entries.Read(0, int(l.First.Index))
			m.Links.Read(0, int(l.First.Index))
			return
		}
	}
	m.begin()
}

// begin chooses the next operation. An expiry and a new entry go first: neither
// waits for anything, and an entry is in the table before its acknowledgement can
// be. Events and QPs with entries to end take turns. Clock takes what it is told in
// less time than that takes to learn.
func (m *Retrans) begin() {
	q, d := &m.Q, &m.D
	switch {
	case m.expired.Valid() && q.Op != opAlarm && m.Retire.Ready():
		d.Op, d.QPN = opAlarm, m.expired.Head().QPN
	case m.tell.Space() < 2:
	case m.Sent.Valid() && q.Op != opSent:
		d.Op, d.QPN = opSent, m.Sent.Head().QPN
		m.Spare.Read(0, int(q.Get))
	case m.Purge.Valid() && q.Op != opPurge && !d.Hold && !m.Sent.Valid() && !m.Event.Valid() && !m.gone.Valid() && m.CQE.Ready():
		d.Op, d.QPN = opPurge, m.Purge.Head().QPN
	default:
		m.turn()
	}
	if d.Op != opNone {
		m.Lists.Read(0, int(d.QPN)&m.mask)
	}
}

// turn begins the next of events and QPs that wait to have entries ended.
func (m *Retrans) turn() {
	q, d := &m.Q, &m.D
	requests := bit(m.Ack.Valid() && q.Op != opAck, opAck) |
		bit(m.Event.Valid() && q.Op != opEvent, opEvent) |
		bit(m.gone.Valid() && q.Op != opLeft && m.Retire.Ready(), opLeft) |
		bit(m.walk.Valid() && q.Op != opWalk && m.room(0), opWalk)
	switch o := hdl.RoundRobin(requests, int(q.Last)); op(max(o, 0)) {
	case opAck:
		d.Op, d.QPN = opAck, m.Ack.Head().QPN
	case opEvent:
		d.Op, d.QPN = opEvent, m.Event.Head().QPN
	case opLeft:
		d.Op, d.QPN = opLeft, m.gone.Head().QPN
	case opWalk:
		d.Op, d.QPN = opWalk, *m.walk.Head()
	default:
		return
	}
	d.Last = d.Op
}

func bit(b bool, o op) uint64 {
	if b {
		return 1 << o
	}
	return 0
}

// room tells whether an entry can end in the next cycle, with what this one puts.
func (m *Retrans) room(put int) bool {
	return m.CQE.Space() > put && m.Retire.Ready() && m.Free.Ready()
}
