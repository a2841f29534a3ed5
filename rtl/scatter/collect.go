package scatter

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// poison marks a QP whose fault is being dealt with. With Done, Last is the
// receive WQE that was completed last; it can't be completed again, in the flush
// that follows neither.
type poison struct {
	Recv  bool // a request could not be placed
	Send  bool // a response could not be placed
	Quiet bool // Recv: and the QP will go on, from that request's receive WQE
	Done  bool
	Last  uint16
}

type collectRegs struct {
	N        uint8 // pieces of the packet gathered so far
	Piece    [port.MaxSGE]port.MptRes
	Refused  port.MptStatus // the first refusal among them
	Poisoned uint16         // faults being dealt with
	Looked   bool           // Poison shows the QP of the packet at the head
	Asked    bool           // mpt has been asked to make the key of the packet at the head invalid
	Unread   bool           // Poison shows the QP of the first atomic that failed
	Atomics  atomics
	Fence    port.Fence // markers of mpt that wait for a packet to end, or for atomics
}

// Collect gathers mpt's answers for a packet and decides what becomes of it. All
// faults come together here, in order.
type Collect struct {
	In         hdl.In[checked]
	MptRes     hdl.In[port.MptRes]
	AtomicDone hdl.In[port.AtomicDone]
	Move       hdl.Out[move]
	Done       hdl.Out[done]
	Kill       hdl.Out[bool]

	Poison hdl.RAM[poison] // by QPN; port 0 reads, port 1 writes
	hdl.Regs[collectRegs]
}

// Eval takes one piece. With the last it passes the packet on.
func (c *Collect) Eval() {
	q, d := &c.Q, &c.D
	if c.AtomicDone.Valid() {
		d.Atomics.end(c.AtomicDone.Take())
	}
	if q.Atomics.Failed != 0 {
		c.unread()
		return
	}
	if c.fence() || !c.In.Valid() {
		return
	}
	in := c.In.Head()
	if in.Mpt && !c.MptRes.Valid() {
		return
	}
	if !in.Last {
		c.gather()
		c.In.Take()
		return
	}
	p := &in.P
	if !c.Done.Ready() || !c.Move.Ready() || d.Atomics.hold(p) {
		return
	}
	var bad poison
	if p.Kind == flush || p.Kind == purge || q.Poisoned != 0 && (p.Kind != frameOnly || p.Event) {
		d.Looked = true
		if !q.Looked {
			c.Poison.Read(0, c.index(p.QPN))
			return
		}
		bad = *c.Poison.Data(0)
	}
	refused := q.Refused
	if in.Mpt {
		refused = c.gather()
	}
	f := p.faulty(refused)
	if p.Kill && !c.kill(&f, bad.Recv) {
		return
	}
	c.last(p, bad, f, q.Asked && f.Status == abi.StatusSuccess)
	c.In.Take()
	d.N, d.Refused, d.Looked, d.Asked = 0, port.MptOK, false, false
}

// unread poisons the QP of an atomic whose memory could not be read.
func (c *Collect) unread() {
	d := &c.D
	i, n := c.Q.Atomics.failed()
	if d.Unread = !c.Q.Unread; d.Unread {
		c.Poison.Read(0, c.index(n))
		d.Looked = false
		return
	}
	d.Atomics.remove(i)
	if bad := *c.Poison.Data(0); !bad.Recv {
		bad.Recv = true
		c.infect(n, bad)
	}
}

func (c *Collect) index(n port.QPN) int { return int(n) & (c.Poison.Depth() - 1) }

// gather takes mpt's answer, and returns the first refusal.
func (c *Collect) gather() port.MptStatus {
	q, d := &c.Q, &c.D
	r := c.MptRes.Take()
	d.Piece[q.N] = *r
	d.N++
	if d.Refused == port.MptOK {
		d.Refused = r.Status
	}
	return d.Refused
}

// kill has mpt make a key invalid once nothing else can go wrong with its packet,
// and adds the answer to the fault. It tells whether that is over.
func (c *Collect) kill(f *fault, poisoned bool) bool {
	switch {
	case c.Q.Asked:
		if !c.MptRes.Valid() {
			return false
		}
		if c.MptRes.Take().Status != port.MptOK {
			*f = fault{Silent: true, Status: abi.StatusMWBind, WQE: abi.StatusMWBind, Vendor: abi.VendorInvalidate}
		}
		return true
	case !c.Kill.Ready():
		return false
	case poisoned || f.Status != abi.StatusSuccess:
		c.Kill.Put(false)
		return true
	}
	c.Kill.Put(true)
	c.D.Asked = true
	return false
}

// fence takes a marker of mpt, and passes it on when all before it has been: between two
// packets, and when the atomics have ended that were under way when it came. It tells
// whether it took this cycle. A marker never waits for what is behind it: an answer that
// a packet still needs.
func (c *Collect) fence() bool {
	q, d := &c.Q, &c.D
	switch {
	case c.MptRes.Valid() && c.MptRes.Head().Fence != 0:
		d.Fence |= c.MptRes.Take().Fence
		d.Atomics.Before = d.Atomics.Used
	case q.Fence != 0 && q.N == 0 && q.Atomics.Before == 0 && c.Done.Ready():
		c.Done.Put(done{Fence: q.Fence})
		d.Fence = 0
	default:
		return false
	}
	return true
}

// last passes a packet on, whose pieces are all there; ended is that it has made a key
// invalid.
func (c *Collect) last(p *packet, bad poison, f fault, ended bool) {
	d := &c.D
	response := p.Kind == deliver && p.Target == port.TargetSend
	good := f.Status == abi.StatusSuccess
	place := false // the pieces are used
	out := newDone(p)
	out.Ended = ended
	switch {
	case p.Kind == purge:
		out.cqe(port.CQEReq{Purge: true, RX: true, QPN: p.QPN})
		out.Report = reportPurge
		out.Left += c.heal(p, bad, poison{})
	case p.Kind == lastWQE:
		out.cqe(port.CQEReq{LastWQE: true, QPN: p.QPN})
	case p.Kind == failed:
		out.answer(p)
		keep := poison{Recv: bad.Recv && p.Send, Send: bad.Send && !p.Send, Done: bad.Done && !bad.Quiet, Last: bad.Last}
		out.Left += c.heal(p, bad, keep)
		bad.Send = keep.Send
	case response && bad.Send:
	case response && !good:
		out.fault(p, &f)
		out.Left = 0
		bad.Send = true
		c.infect(p.QPN, bad)
	case response:
		place = true
	case p.WQE && bad.Done && p.RQIdx == bad.Last:
	case bad.Recv:
		if p.ends(bad.Quiet) {
			out.cqe(p.failure(abi.StatusWRFlush, abi.VendorFlush))
			bad.Done, bad.Last = true, p.RQIdx
			c.Poison.Write(1, c.index(p.QPN), &bad)
		}
	case p.Kind == flush:
		out.cqe(p.failure(p.Status, p.Vendor))
	case p.Kind == reply:
		if p.WQE {
			out.cqe(p.failure(p.Status, p.Vendor))
		}
		out.answer(p)
	case p.Kind == deliver && !good && p.Again:
		out.answer(p)
		out.Void = true
	case p.Kind == deliver && !good:
		bad.Recv, bad.Quiet = true, f.quiet(p)
		if p.ends(bad.Quiet) {
			out.cqe(p.failure(f.WQE, f.Vendor))
			bad.Done, bad.Last = true, p.RQIdx
		}
		out.fault(p, &f)
		c.infect(p.QPN, bad)
		place = f.Silent // nothing is wrong with the data
	case p.Kind == deliver:
		place = true
		if p.WQE && p.Ends {
			out.cqe(p.completion())
		}
		out.answer(p)
	}
	out.Event = out.Event && !bad.Send
	if place && p.Atomic {
		out.Atomic, out.Addr = true, d.Piece[0].Addr0
		d.Atomics.add(p.QPN)
	}
	out.Writes = place && !p.Atomic && p.Len != 0 && d.N != 0
	if p.Frame || out.Writes {
		c.move(p, out.Writes)
	}
	if out.Kept || out.HasCQE || out.Writes || out.Left != 0 || out.Report != reportNone {
		c.Done.Put(out)
	}
}

// move has the frame released, if there is one, after the pieces were written if there is
// something to write.
func (c *Collect) move(p *packet, writes bool) {
	m := c.Move.Next()
	*m = move{BufAddr: p.BufAddr, Beats: p.Beats}
	if writes {
		m.N, m.Value, m.Data = c.D.N, p.Value, p.Data
		copy(m.Piece[:], c.D.Piece[:c.D.N])
	}
}

// infect notes a fault of a QP.
func (c *Collect) infect(n port.QPN, bad poison) {
	c.Poison.Write(1, c.index(n), &bad)
	c.D.Poisoned++
}

// heal leaves keep of the poisoning of a packet's QP, and returns how many elements
// that Front counts are gone with the rest.
func (c *Collect) heal(p *packet, bad, keep poison) (n uint8) {
	if bad != keep {
		c.Poison.Write(1, c.index(p.QPN), &keep)
	}
	if bad.Recv && !keep.Recv {
		c.D.Poisoned--
	}
	if bad.Send && !keep.Send {
		c.D.Poisoned--
		n = 1
	}
	return n
}

// newDone is what a packet of which nothing is heard has to leave.
func newDone(p *packet) done {
	d := done{Kept: p.Kept, Event: p.Event, QPN: p.QPN}
	if p.Counted {
		d.Left = 1
	}
	return d
}

func (d *done) cqe(c port.CQEReq) { d.HasCQE, d.CQE = true, c }

// answer lets the packet's answer leave.
func (d *done) answer(p *packet) {
	switch p.Answer {
	case answerAck:
		d.Report, d.PSN, d.MSN, d.Synd = reportAck, p.AckPSN, p.AckMSN, p.Synd
	case answerJob:
		d.Report = reportJob
	}
}

// fault tells ack_gen of it.
func (d *done) fault(p *packet, f *fault) {
	d.Report, d.PSN, d.MSN, d.Status, d.Vendor = reportFault, p.PSN, p.MSN, f.Status, f.Vendor
	d.Send, d.Silent, d.RQIdx = p.Target == port.TargetSend, f.Silent, p.RQIdx
}
