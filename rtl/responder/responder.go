package responder

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// op is the operation on a QP's list: the list is read in one cycle, the operation
// done in the next.
type op uint8

const (
	opNone   op = iota
	opJob       // a job, or a purge
	opResult    // the result of an atomic
	opTurn      // the QP's turn to send
)

// Width is 2 bits.
func (op) Width() int { return 2 }

func (o op) String() string { return [...]string{"NONE", "JOB", "RESULT", "TURN"}[o&3] }

type regs struct {
	Op    op
	QPN   port.QPN // opJob, opResult
	Has   bool     // Turn is valid; it is kept until opTurn is done
	Turn  turn
	Left  uint8  // packets that the QP of Turn may still send; 0: others go first
	Fresh uint16 // entries from this one on were never used
	Free  uint16 // first of the linked list of those that came back
	Used  uint16 // entries in lists
	Slice slice
	Sent  uint8 // packets put into Pkt, modulo 2^8
	Room  uint8 // most room that Pkt ever had: there is nothing in it
	Mark  bool  // a purge is done, but the packets before it have not all left Pkt
	Last  uint8 // and these are the packets up to here
}

// Responder is the block. Its ports are described in the package comment.
type Responder struct {
	Jobs      hdl.In[port.Job]
	AtomicRes hdl.In[port.AtomicRes]
	Pkt       hdl.Out[port.TxPkt]
	Piece     hdl.Out[port.TxPiece]
	Done      hdl.Out[port.RespDone]

	Lists  hdl.RAM[list]  // by QPN
	Pool   hdl.RAM[entry] // jobs
	Links  hdl.RAM[ref]   // by entry: the one behind it
	Values hdl.RAM[value] // by QPN and slot: results of atomics, sent or not

	queue hdl.Out[turn] // QPs with a job that can leave, each once
	next  hdl.In[turn]

	hdl.Regs[regs]
	p    Params
	mask int
}

// New makes the block with its tables.
func New(p Params) *Responder {
	p = p.withDefaults()
	r := &Responder{p: p, mask: 1<<p.LogQP - 1}
	r.Lists.Init(1<<p.LogQP, hdl.WriteFirst)
	r.Pool.Init(p.Jobs, hdl.WriteFirst)
	r.Links.Init(p.Jobs, hdl.WriteFirst)
	r.Values.Init(slots<<p.LogQP, hdl.WriteFirst)
	hdl.Connect(&r.queue, &r.next, max(2, 1<<p.LogQP))
	return r
}

// Eval finishes the operation that was begun, sends a packet, and begins another
// operation.
func (r *Responder) Eval() {
	q, d := &r.Q, &r.D
	d.Room = max(q.Room, uint8(r.Pkt.Space()))
	if left := q.Sent - (d.Room - uint8(r.Pkt.Space())); q.Mark && left-q.Last < 1<<7 {
		r.Jobs.Take()
		d.Mark = false
	}
	queued, took := false, false
	if q.Op != opNone {
		queued = r.finish()
	} else {
		took = r.pass()
	}
	r.send()
	r.begin(queued, took)
}

// pass takes a job that nothing is before straight to the packets.
func (r *Responder) pass() bool {
	q, d := &r.Q, &r.D
	if q.Used != 0 || q.Slice.Valid || !r.Jobs.Valid() {
		return false
	}
	j := r.Jobs.Head()
	if j.Purge || j.Kind != port.JobAck && j.Kind != port.JobRead {
		return false
	}
	e := enter(j)
	s, _, _, left := cut(j.QPN, &e, uint8(r.p.Budget))
	if left {
		return false
	}
	d.Slice = s
	r.Jobs.Take()
	return true
}

// begin chooses the next operation. A result goes first, since atomic may hold up
// nobody; jobs and turns alternate when both can go on. queued and took say what
// was done with the queue and with Jobs in this cycle.
func (r *Responder) begin(queued, took bool) {
	q, d := &r.Q, &r.D
	d.Op = opNone
	switch {
	case r.AtomicRes.Valid() && q.Op != opResult:
		d.Op, d.QPN = opResult, r.AtomicRes.Head().QPN
	case q.Op == opTurn && r.job(took):
	case !d.Slice.Valid && r.turn(queued):
		d.Op = opTurn
		t := &d.Turn
		r.Lists.Read(0, int(t.QPN)&r.mask)
		r.Pool.Read(0, int(t.First))
		r.Links.Read(0, int(t.First))
		r.Values.Read(0, r.at(t.QPN, t.Slot))
	default:
		r.job(took)
	}
	if d.Op == opResult {
		r.Lists.Read(0, int(d.QPN)&r.mask)
	}
}

// job begins an operation for the job at the head, if there is room for one.
func (r *Responder) job(took bool) bool {
	q, d := &r.Q, &r.D
	if took || q.Op == opJob || q.Mark || !r.Jobs.Valid() {
		return false
	}
	j := r.Jobs.Head()
	if j.Purge && r.AtomicRes.Valid() || !j.Purge && int(d.Used) == r.p.Jobs {
		return false
	}
	d.Op, d.QPN = opJob, j.QPN
	r.Lists.Read(0, int(d.QPN)&r.mask)
	if int(d.Fresh) == r.p.Jobs {
		r.Links.Read(0, int(d.Free))
	}
	return true
}

// turn finds the QP that is to send. One that has used its budget goes to the end
// of the queue if another waits.
func (r *Responder) turn(queued bool) bool {
	d := &r.D
	if d.Has && d.Left > 0 {
		return true
	}
	if r.next.Valid() {
		if d.Has && queued {
			return false // the queue takes one a cycle
		}
		if d.Has {
			r.queue.Put(d.Turn)
		}
		d.Turn = *r.next.Take()
		d.Has = true
	}
	d.Left = uint8(r.p.Budget)
	return d.Has
}

// at is the place of a result of a QP.
func (r *Responder) at(n port.QPN, i slot) int { return (int(n)&r.mask)*slots + int(i%slots) }
