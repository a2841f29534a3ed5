package wqesched

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// turn is what Pick knows of a QP.
type turn struct {
	Queued bool // it is in the queue of the active
	Want   bool // and still has to be served
	Poor   bool // it is in the queue of those that found no entry
	Needs  bool // it lacks an entry; not Poor: its turn has come, the next service gets some
	Busy   bool // a service is open
	Again  bool // activated meanwhile
	Parked bool // waits for its line
}

// pickOp is the operation on a QP's turn: read in one cycle, done in the next.
type pickOp uint8

const (
	pickNone pickOp = iota
	pickDone
	pickReady
	pickActivate
	pickNext    // from the queue
	pickStarved // from the queue of those that found no entry
	pickPurge
)

// Width is 3 bits.
func (pickOp) Width() int { return 3 }

func (o pickOp) String() string {
	return [...]string{"NONE", "DONE", "READY", "ACTIVATE", "NEXT", "STARVED", "PURGE", "RESERVED"}[o&7]
}

type pickRegs struct {
	Op      pickOp
	QPN     port.QPN
	Outcome outcome // pickDone
	Unused  uint8   // pickDone
	Free    uint16  // entries of the outstanding table, not set aside
	Open    uint8   // services
	Turn    bool    // the queue of the starved is next
	Hold    bool    // the marker at the head of Purge waits for its QP's service
}

// Pick chooses the QP that is served next.
type Pick struct {
	Activate hdl.In[port.Activate]
	Purge    hdl.In[port.Purge]
	Free     hdl.In[port.SentFree]
	Get      hdl.Out[port.SQGet]

	grant  hdl.Out[grant]
	token  hdl.Out[token]
	forget hdl.Out[port.QPN]
	ready  hdl.In[port.QPN]
	done   hdl.In[done]

	turns  hdl.RAM[turn]
	active queue[port.QPN]
	poor   queue[port.QPN]

	hdl.Regs[pickRegs]
	p    Params
	mask int
}

func (p *Pick) init(par Params) {
	p.p, p.mask = par, 1<<par.LogQP-1
	p.turns.Init(1<<par.LogQP, hdl.WriteFirst)
	p.active.init(1 << par.LogQP)
	p.poor.init(1 << par.LogQP)
	p.Q.Free, p.D.Free = uint16(par.Entries), uint16(par.Entries)
}

// Eval finishes the operation that was begun, then begins the next.
func (p *Pick) Eval() {
	q, d := &p.Q, &p.D
	if p.Free.Valid() {
		d.Free += uint16(p.Free.Take().N)
	}
	d.Op = pickNone
	if q.Op != pickNone {
		t := *p.turns.Data(0)
		p.finish(&t)
		if t != *p.turns.Data(0) {
			p.turns.Write(1, int(q.QPN)&p.mask, &t)
		}
	}
	p.begin()
	if d.Op != pickNone {
		p.turns.Read(0, int(d.QPN)&p.mask)
	}
}

// begin chooses the next operation: what opens services goes last.
func (p *Pick) begin() {
	q, d := &p.Q, &p.D
	switch {
	case p.done.Valid():
		v := p.done.Take()
		d.Op, d.QPN, d.Outcome, d.Unused = pickDone, v.QPN, v.Outcome, v.Unused
	case p.ready.Valid():
		d.Op, d.QPN = pickReady, *p.ready.Take()
	case p.Activate.Valid() && (!p.Activate.Head().Push || p.token.Ready()):
		v := p.Activate.Take()
		if v.Push {
			p.token.Put(token{v.Refuse})
		}
		if !v.Refuse {
			d.Op, d.QPN = pickActivate, v.QPN
		}
	case p.Purge.Valid() && !q.Hold && q.Op != pickPurge && p.forget.Ready():
		d.Op, d.QPN = pickPurge, p.Purge.Head().QPN
	case p.room() > 0 && p.poor.head.Valid() && d.Free > 0 && (q.Turn || !p.active.head.Valid()):
		d.Op, d.QPN, d.Turn = pickStarved, *p.poor.head.Take(), false
	case p.room() > 0 && p.active.head.Valid():
		d.Op, d.QPN, d.Turn = pickNext, *p.active.head.Take(), true
	}
}

// room is the number of services that can be opened, less one for the operation
// being finished.
func (p *Pick) room() int {
	n := min(p.Get.Space(), p.grant.Space(), p.p.Services-int(p.Q.Open))
	switch p.Q.Op {
	case pickActivate, pickNext, pickStarved:
		n--
	}
	return n
}

// finish carries out the operation on t.
func (p *Pick) finish(t *turn) {
	q, d := &p.Q, &p.D
	switch q.Op {
	case pickDone:
		d.Open--
		d.Free += uint16(q.Unused)
		d.Hold = false
		p.close(t)
	case pickReady:
		d.Hold = false
		t.Parked = false
		p.want(t)
	case pickActivate:
		if !t.Parked {
			p.want(t)
		}
	case pickNext:
		t.Queued = false
		if t.Want {
			p.open(t)
		}
	case pickStarved:
		t.Poor = false
		if t.Needs && !t.Busy && !t.Parked {
			p.open(t)
		}
	case pickPurge:
		if t.Busy || t.Parked {
			d.Hold = true
			break
		}
		t.Want, t.Needs = false, false
		p.forget.Put(q.QPN)
		p.Purge.Take()
	}
}

// want has the QP served: now if nobody waits, else in its turn.
func (p *Pick) want(t *turn) {
	switch {
	case t.Busy:
		t.Again = true
	case t.Queued:
		t.Want = true
	case p.Q.Op == pickActivate && !p.active.head.Valid() && !p.poor.head.Valid() && p.Get.Ready() && p.grant.Ready() && int(p.Q.Open) < p.p.Services:
		p.open(t)
	default:
		p.enqueue(t)
	}
}

func (p *Pick) enqueue(t *turn) {
	if !t.Queued {
		p.active.tail.Put(p.Q.QPN)
	}
	t.Queued, t.Want = true, true
}

// open opens a service and sets entries aside for it. A QP that waits for entries in
// its queue gets none before its turn: it was activated to send WQEs again.
func (p *Pick) open(t *turn) {
	d := &p.D
	t.Busy, t.Want = true, false
	n := uint16(0)
	if !t.Needs || !t.Poor {
		t.Needs = false
		n = min(d.Free, uint16(p.p.MessageBudget))
	}
	d.Free -= n
	d.Open++
	p.Get.Put(port.SQGet{QPN: p.Q.QPN, Packets: uint8(p.p.PacketBudget)})
	p.grant.Put(grant{uint8(n)})
}

// close closes a service.
func (p *Pick) close(t *turn) {
	again := t.Again
	t.Busy, t.Again = false, false
	turn := t.Needs && !t.Poor // it has come while the service was open
	if p.Q.Outcome == starved {
		if !t.Poor && !turn {
			p.poor.tail.Put(p.Q.QPN)
			t.Poor = true
		}
		t.Needs = true
	}
	switch {
	case p.Q.Outcome == more || again || p.Q.Outcome == starved && turn:
		p.enqueue(t)
	case p.Q.Outcome == parked:
		t.Parked = true
	}
}
