package retrans

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

const (
	// told is the number of cycles from an event at the head of its stream to when
	// Clock takes it to heart.
	told = 3
	// report is the number of cycles from when Clock looks at an alarm to what that
	// leads to.
	report = 2
	// near is the number of cycles that another alarm takes to come, at least.
	near = 12
)

// Clock has the ACK timer and the RNR wait of every QP, in a RAM of its own, so
// that requests that leave cost the lists nothing. It takes one piece of news a cycle:
// the record of the QP is read in one, changed in the next.
//
//	Left ───►┐       ┌─────────┐
//	tell ───►├ pick ►│ Records │─► expired, gone
//	     ┌──►┤   t   └──┬─┬────┘ t+1
//	     │   │    later │ │ alarm
//	     │   └◄─────────┘ │
//	     │  due ┌───────┐ │
//	     └──────┤ Timer │◄┘
//	            └───────┘
//
// Of packets that nobody answers it tells the lists that they have left: at once if it
// can, else the QP waits in a queue, once, for as many of them as come meanwhile. So
// Left never waits, whatever the lists do.
//
// A restart hardly ever touches the timer tree: it moves the deadline in the record,
// and the alarm that was set before finds that out. So about one alarm a timeout and
// QP goes off, and nothing happens in between.
type Clock struct {
	Left    hdl.In[port.Left]
	tell    hdl.In[news]
	expired hdl.Out[expiry]
	gone    hdl.Out[gone]
	laterIn hdl.Out[port.QPN] // QPs of which the lists are to be told later, each once
	later   hdl.In[port.QPN]

	Records hdl.RAM[record] // by QPN
	Timer   Timer
	arm     hdl.Out[alarm]
	due     hdl.In[port.QPN]

	hdl.Regs[clockRegs]
	mask int
}

type clockRegs struct {
	News news // its QP's record was read
}

func (c *Clock) init(logQP uint) {
	c.mask = 1<<logQP - 1
	c.Records.Init(1<<logQP, hdl.WriteFirst)
	c.Timer.init(logQP)
	hdl.Connect(&c.laterIn, &c.later, max(2, 1<<logQP))
	hdl.Connect(&c.arm, &c.Timer.arm, 2)
	hdl.Connect(&c.Timer.due, &c.due, 2)
}

// Eval changes the record that was read, and reads the next. A request that has
// left goes first: its port never waits.
func (c *Clock) Eval() {
	if n := &c.Q.News; n.Kind != newsNone {
		r := *c.Records.Data(0)
		c.finish(&r, n)
		c.Records.Write(1, int(n.QPN)&c.mask, &r)
	}
	d := &c.D.News
	switch {
	case c.Left.Valid():
		l := c.Left.Take()
		*d = news{Kind: newsLeft, QPN: l.QPN, End: l.LastPSN.Add(1), Unacked: l.Unacked}
	case c.due.Valid() && c.expired.Ready() && c.Q.News.Kind != newsDue:
		*d = news{Kind: newsDue, QPN: *c.due.Head()}
	case c.later.Valid() && c.gone.Ready() && c.Q.News.Kind != newsGone:
		*d = news{Kind: newsGone, QPN: *c.later.Head()}
	case c.tell.Valid():
		*d = *c.tell.Take()
	default:
		*d = news{}
		return
	}
	c.Records.Read(0, int(d.QPN)&c.mask)
}

// finish carries out what the news asks of the QP's clock.
func (c *Clock) finish(r *record, n *news) {
	switch {
	case n.Kind == newsDue:
		c.alarm(r)
		return
	case n.Kind == newsGone:
		c.catchUp(r)
		return
	case n.Unacked:
		c.left(r, n)
		return
	}
	if !r.learn(n) {
		return
	}
	switch {
	case r.Phase == phaseWait:
		r.Deadline = c.Now() - told + n.Wait
	case n.Kind == newsLeft || n.Kind == newsSent: // a request may have left just now
		r.Deadline = c.Now() - 1 + r.Arm
	default:
		r.Deadline = c.Now() - told + r.Arm
	}
	c.wake(r)
}

// left has the lists told of packets that nobody answers.
func (c *Clock) left(r *record, n *news) {
	switch {
	case r.Queued:
	case c.gone.Ready() && !c.later.Valid():
		c.gone.Put(gone{n.QPN, n.End})
		return
	default:
		r.Queued = true
		c.laterIn.Put(n.QPN)
	}
	r.Gone, r.Out = true, n.End
}

// catchUp tells the lists of the QP that waits for it first, unless it was forgotten.
func (c *Clock) catchUp(r *record) {
	qpn := *c.later.Take()
	if r.Gone {
		c.gone.Put(gone{qpn, r.Out})
	}
	r.Gone, r.Queued = false, false
}

// wake has the timer report the QP at its deadline, or earlier.
func (c *Clock) wake(r *record) {
	if r.Keyed && r.Key <= r.Deadline {
		return
	}
	r.Keyed, r.Key = true, r.Deadline
	c.arm.Put(alarm{QPN: c.Q.News.QPN, At: r.Deadline})
}

// alarm looks whether the deadline is over; if it was moved meanwhile, the rest is
// still to come. That is waited for if another alarm would come too late.
func (c *Clock) alarm(r *record) {
	on := r.Phase == phaseRun || r.Phase == phaseWait
	early := on && r.Deadline > c.Now()+report
	if early && r.Deadline < c.Now()+near {
		return
	}
	qpn := *c.due.Take()
	r.Keyed = false
	switch {
	case !on:
	case early:
		c.wake(r)
	case r.Phase == phaseWait:
		r.Phase = phaseHeld
		c.expired.Put(expiry{QPN: qpn, Waited: true, Gen: r.Gen})
	default:
		r.Phase = phaseExpired
		c.expired.Put(expiry{QPN: qpn, Una: r.Una})
	}
}
