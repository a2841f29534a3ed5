package ackgen

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

type replyRegs struct {
	Purging bool // what comes of QP Purged is void until its marker
	Purged  port.QPN
	Room    uint8 // most room that Resp ever had: there is nothing in it
}

// Reply takes scatter's reports: answers that may leave go to responder, faults
// back to Issue, a marker to both. A marker waits until responder has taken all
// before it; then it is taken at once, however full responder is, and so before any
// result of an atomic of the QP's next life.
type Reply struct {
	Placed hdl.In[port.Placed]
	Resp   hdl.Out[port.Job]

	Fault   hdl.Out[fault]
	Lost    hdl.Out[port.QPN] // duplicates that get no answer
	Purging hdl.In[port.QPN]
	hdl.Regs[replyRegs]
}

// Eval takes a report if there is room for what follows from it.
func (r *Reply) Eval() {
	d := &r.D
	if r.Purging.Valid() {
		d.Purging, d.Purged = true, *r.Purging.Take()
	}
	d.Room = max(d.Room, uint8(r.Resp.Space()))
	if !r.Placed.Valid() || !r.Resp.Ready() || !r.Fault.Ready() || !r.Lost.Ready() {
		return
	}
	if r.Placed.Head().Purge && uint8(r.Resp.Space()) != r.Q.Room {
		return
	}
	p := r.Placed.Take()
	void := d.Purging && p.QPN == d.Purged
	switch {
	case p.Purge:
		r.Resp.Put(port.Job{Purge: true, QPN: p.QPN})
		if void {
			r.Fault.Put(fault{End: true, QPN: p.QPN})
			d.Purging = false
		}
	case void:
	case p.Fault:
		r.Fault.Put(fault{
			QPN: p.QPN, PSN: p.PSN, MSN: p.MSN, Send: p.Send, Silent: p.Silent, RQIdx: p.RQIdx,
			Status: p.Status, Vendor: p.Vendor,
		})
	case p.Job.Kind != port.JobNone:
		r.Resp.Put(p.Job)
	case p.Job.Again:
		r.Resp.Put(p.Job)
		r.Lost.Put(p.QPN)
	}
}
