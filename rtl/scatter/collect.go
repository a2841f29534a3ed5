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
	Bad  bool
	Done bool
	Last uint16
}

type collectRegs struct {
	N        uint8 // pieces of the packet gathered so far
	Piece    [port.MaxSGE - 1]port.MptRes
	Status   abi.WCStatus // the first refusal among them
	Vendor   abi.VendorErr
	Poisoned uint16 // QPs that are
	Looked   bool   // Poison shows the QP of the packet at the head
}

// Collect gathers mpt's answers for a packet and decides what becomes of it. All
// faults come together here, in order.
type Collect struct {
	In     hdl.In[checked]
	MptRes hdl.In[port.MptRes]
	Move   hdl.Out[move]
	Done   hdl.Out[done]

	Poison hdl.RAM[poison] // by QPN; port 0 reads, port 1 writes
	hdl.Regs[collectRegs]
}

// Eval takes one piece. With the last it passes the packet on.
func (c *Collect) Eval() {
	q, d := &c.Q, &c.D
	if !c.In.Valid() {
		return
	}
	in := c.In.Head()
	if in.Mpt && !c.MptRes.Valid() {
		return
	}
	if !in.Last {
		d.Piece[q.N] = *c.answer()
		d.N++
		c.In.Take()
		return
	}
	p := &in.P
	if !c.Done.Ready() || !c.Move.Ready() {
		return
	}
	var bad poison
	if p.Kind == flush || p.Kind == purge || q.Poisoned != 0 && p.Kind != frameOnly {
		d.Looked = !q.Looked
		if !q.Looked {
			c.Poison.Read(0, c.index(p.QPN))
			return
		}
		bad = *c.Poison.Data(0)
	}
	c.last(in, bad)
	c.In.Take()
	d.N, d.Status, d.Vendor = 0, abi.StatusSuccess, abi.VendorNone
}

func (c *Collect) index(n port.QPN) int { return int(n) & (c.Poison.Depth() - 1) }

// answer takes mpt's answer and notes the first refusal.
func (c *Collect) answer() *port.MptRes {
	r := c.MptRes.Take()
	if r.Status != port.MptOK && c.D.Status == abi.StatusSuccess {
		c.D.Status, c.D.Vendor = abi.StatusLocProt, r.Status.Vendor()
	}
	return r
}

// last passes a packet on, whose pieces are all there.
func (c *Collect) last(in *checked, bad poison) {
	q, d := &c.Q, &c.D
	p := &in.P
	m := move{BufAddr: p.BufAddr, Beats: p.Beats}
	if in.Mpt {
		m.N = q.N + 1
		copy(m.Piece[:], q.Piece[:q.N])
		m.Piece[q.N] = *c.answer()
	}
	status, vendor := p.Status, p.Vendor
	if p.Kind == deliver && status == abi.StatusSuccess {
		status, vendor = d.Status, d.Vendor
	}
	var out done
	switch {
	case p.Kind == purge:
		out.cqe(port.CQEReq{Purge: true, RX: true, QPN: p.QPN})
		out.report(port.Placed{Purge: true, QPN: p.QPN})
		c.heal(p, bad, poison{})
	case p.Kind == failed:
		out.ack(p)
		c.heal(p, bad, poison{Done: bad.Done, Last: bad.Last})
	case p.WQE && bad.Done && p.RQIdx == bad.Last:
	case bad.Bad:
		if p.WQE {
			out.cqe(p.failure(abi.StatusWRFlush, abi.VendorFlush))
			c.Poison.Write(1, c.index(p.QPN), &poison{true, true, p.RQIdx})
		}
	case p.Kind == flush:
		out.cqe(p.failure(abi.StatusWRFlush, abi.VendorFlush))
	case p.Kind == reply:
		if p.WQE {
			out.cqe(p.failure(status, vendor))
		}
		out.ack(p)
	case p.Kind == deliver && status != abi.StatusSuccess:
		out.cqe(p.failure(status, vendor))
		out.report(port.Placed{Fault: true, QPN: p.QPN, PSN: p.PSN, MSN: p.MSN, Status: status})
		c.Poison.Write(1, c.index(p.QPN), &poison{true, true, p.RQIdx})
		d.Poisoned++
	case p.Kind == deliver:
		out.Writes = m.N != 0
		if p.Ends {
			out.cqe(p.completion())
		}
		out.ack(p)
	}
	if !out.Writes {
		m.N = 0
	}
	if p.Frame {
		c.Move.Put(m)
	}
	if out.Writes || out.HasCQE || out.HasPlaced {
		c.Done.Put(out)
	}
}

// heal ends the poisoning of a packet's QP; keep is what stays of it.
func (c *Collect) heal(p *packet, bad, keep poison) {
	if bad != keep {
		c.Poison.Write(1, c.index(p.QPN), &keep)
	}
	if bad.Bad {
		c.D.Poisoned--
	}
}

func (d *done) cqe(c port.CQEReq) { d.HasCQE, d.CQE = true, c }

func (d *done) report(p port.Placed) { d.HasPlaced, d.Placed = true, p }

func (d *done) ack(p *packet) {
	if p.Ack.Send {
		d.report(port.Placed{QPN: p.QPN, Ack: p.Ack})
	}
}
