package ackgen

import (
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// maxAcks is the most acknowledgements that the queue can hold.
const maxAcks = 32

// ack is a queued acknowledgement.
type ack struct {
	Void bool // of a purged QP
	QPN  port.QPN
	PSN  roce.PSN
	MSN  port.MSN
	Synd roce.Syndrome
}

type replyRegs struct {
	Purging bool // what comes of QP Purged is void until its marker
	QPN     port.QPN
	Head    uint8 // oldest entry
	N       uint8 // entries
	Queue   [maxAcks]ack
}

// Reply takes scatter's reports: acknowledgements are queued and sent, faults go
// back to Issue.
type Reply struct {
	Placed hdl.In[port.Placed]
	Resp   hdl.Out[port.TxPkt]

	Fault   hdl.Out[fault]
	Purging hdl.In[port.QPN]

	depth    int
	coalesce bool
	hdl.Regs[replyRegs]
}

// Eval sends the oldest acknowledgement and takes a report.
func (r *Reply) Eval() {
	q, d := &r.Q, &r.D
	if r.Purging.Valid() {
		d.Purging, d.QPN = true, *r.Purging.Take()
		for i := range d.Queue {
			d.Queue[i].Void = d.Queue[i].Void || d.Queue[i].QPN == d.QPN
		}
	}
	if q.N != 0 {
		a := &d.Queue[q.Head]
		if a.Void || r.Resp.Ready() {
			if !a.Void {
				r.send(*a)
			}
			d.Head = r.after(q.Head, 1)
			d.N--
		}
	}
	if r.Placed.Valid() {
		r.report(r.Placed.Head())
	}
}

// report takes a report if there is room for what follows from it.
func (r *Reply) report(p *port.Placed) {
	d := &r.D
	void := d.Purging && p.QPN == d.QPN
	switch {
	case p.Purge:
		if !r.Fault.Ready() {
			return
		}
		if void {
			r.Fault.Put(fault{End: true, QPN: p.QPN})
			d.Purging = false
		}
	case void:
	case p.Fault:
		if !r.Fault.Ready() {
			return
		}
		r.Fault.Put(fault{QPN: p.QPN, PSN: p.PSN, MSN: p.MSN, Status: p.Status})
	case p.Ack.Send:
		if !r.enqueue(ack{QPN: p.Ack.QPN, PSN: p.Ack.PSN, MSN: p.Ack.MSN, Synd: roce.Syndrome(p.Ack.Syndrome)}) {
			return
		}
	}
	r.Placed.Take()
}

// enqueue sends an acknowledgement at once if none waits, merges it with one that
// waits, or queues it.
func (r *Reply) enqueue(a ack) bool {
	q, d := &r.Q, &r.D
	if q.N == 0 && r.Resp.Ready() {
		r.send(a)
		return true
	}
	if r.coalesce && a.Synd.Kind() == roce.KindACK {
		if i := r.newest(a.QPN); i >= 0 && d.Queue[i].Synd.Kind() == roce.KindACK {
			d.Queue[i] = a
			return true
		}
	}
	if int(q.N) == r.depth {
		return false
	}
	d.Queue[r.after(q.Head, q.N)] = a
	d.N++
	return true
}

// newest is the place of the youngest entry of a QP that is not being sent, or -1.
func (r *Reply) newest(n port.QPN) int {
	d := &r.D
	for i := d.N; i > 0; i-- {
		at := r.after(d.Head, i-1)
		if e := &d.Queue[at]; e.QPN == n && !e.Void {
			return int(at)
		}
	}
	return -1
}

// after is the place n entries behind that at i.
func (r *Reply) after(i, n uint8) uint8 { return uint8((int(i) + int(n)) % r.depth) }

func (r *Reply) send(a ack) {
	r.Resp.Put(port.TxPkt{QPN: a.QPN, Resp: true, Opcode: roce.RCAck, PSN: a.PSN, Syndrome: uint8(a.Synd), MSN: a.MSN})
}
