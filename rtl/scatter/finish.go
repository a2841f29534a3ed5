package scatter

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// aside is what only Finish needs of a packet. It goes around the stages between.
type aside struct {
	Job   port.Job
	Event port.AckEvent
}

// left tells Front of N elements that it counted and that are gone.
type left struct {
	QPN port.QPN
	N   uint8
}

// report is what ack_gen is told of a packet.
type report uint8

const (
	reportNone  report = iota
	reportAck          // an acknowledgement is due
	reportJob          // the job in Aside is due
	reportFault        // it could not be placed
	reportPurge        // marker
)

// Width is 3 bits.
func (report) Width() int { return 3 }

func (r report) String() string {
	return [...]string{"NONE", "ACK", "JOB", "FAULT", "PURGE", "RESERVED", "RESERVED", "RESERVED"}[r&7]
}

// done is what becomes of a packet, once its writes are posted.
type done struct {
	Writes bool
	HasCQE bool
	Kept   bool // Aside has more of it:
	Event  bool // an event to be passed on
	Atomic bool // reportJob: of an atomic, at Addr
	Void   bool // reportJob: of a duplicate that gets no answer
	Ended  bool // it has made a key invalid, by which something may still be read
	Report report
	Fence  port.Fence // markers alone: all before them is posted
	Send   bool       // reportFault: of a response
	Silent bool       // reportFault: no NAK
	RQIdx  uint16
	Left   uint8
	QPN    port.QPN
	PSN    roce.PSN
	MSN    port.MSN
	Synd   uint8 // reportAck
	Status abi.WCStatus
	Vendor abi.VendorErr
	Addr   port.BusAddr
	CQE    port.CQEReq
}

type finishRegs struct {
	Posted uint16 // packets whose writes are posted, not yet finished
	Ended  uint8  // keys that nothing is read by any more, their packets not yet finished
	Room   uint8  // most room that Placed ever had: there is nothing in it
	Marked bool   // ack_gen has the marker at the head
}

// Finish completes packets in order once their writes are posted.
type Finish struct {
	In        hdl.In[done]
	Aside     hdl.In[aside]
	Fast      hdl.In[port.AckEvent]
	WriteDone hdl.In[port.WriteDone]
	KeyEnded  hdl.In[port.KeyEnded]
	Fenced    hdl.Out[port.Fence]
	CQE       hdl.Out[port.CQEReq]
	Placed    hdl.Out[port.Placed]
	Event     hdl.Out[port.AckEvent]
	Atomic    hdl.Out[port.AtomicReq]
	Left      hdl.Out[left]
	hdl.Regs[finishRegs]
}

// Eval counts WriteDones and KeyEndeds, passes a fast event on, and finishes a packet.
func (f *Finish) Eval() {
	d := &f.D
	d.Room = max(d.Room, uint8(f.Placed.Space()))
	if f.WriteDone.Valid() {
		f.WriteDone.Take()
		d.Posted++
	}
	if f.KeyEnded.Valid() {
		f.KeyEnded.Take()
		d.Ended++
	}
	fast := f.Fast.Valid()
	if fast && f.Event.Ready() {
		f.Event.Put(*f.Fast.Take())
	}
	if !f.In.Valid() {
		return
	}
	p := f.In.Head()
	switch {
	case p.Writes && d.Posted == 0,
		p.Ended && d.Ended == 0,
		p.Fence != 0 && !f.Fenced.Ready(),
		p.HasCQE && !f.CQE.Ready(),
		p.Report != reportNone && !f.Placed.Ready(),
		p.Kept && !f.Aside.Valid(),
		p.Event && (fast || !f.Event.Ready()),
		p.Atomic && !f.Atomic.Ready(),
		p.Left != 0 && !f.Left.Ready(),
		p.Report == reportPurge && !f.marker(p):
		return
	}
	f.finish(p)
	f.In.Take()
}

// marker gives ack_gen the marker of a reset, and tells when it has taken it: only
// then may the QP begin a new life.
func (f *Finish) marker(p *done) bool {
	q, d := &f.Q, &f.D
	if !q.Marked {
		d.Marked = true
		f.Placed.Put(port.Placed{Purge: true, QPN: p.QPN})
		return false
	}
	if uint8(f.Placed.Space()) != q.Room {
		return false
	}
	d.Marked = false
	return true
}

func (f *Finish) finish(p *done) {
	if p.Writes {
		f.D.Posted--
	}
	if p.Ended {
		f.D.Ended--
	}
	if p.Fence != 0 {
		f.Fenced.Put(p.Fence)
	}
	if p.HasCQE {
		f.CQE.Put(p.CQE)
	}
	if p.Left != 0 {
		f.Left.Put(left{QPN: p.QPN, N: p.Left})
	}
	var more aside
	if p.Kept {
		more = *f.Aside.Take()
	}
	if p.Event {
		f.Event.Put(more.Event)
	}
	switch p.Report {
	case reportAck:
		f.Placed.Put(port.Placed{QPN: p.QPN, Job: port.Job{
			Kind: port.JobAck, QPN: p.QPN, PSN: p.PSN, Syndrome: p.Synd, MSN: p.MSN,
		}})
	case reportJob:
		if p.Void {
			more.Job.Kind = port.JobNone
		}
		f.Placed.Put(port.Placed{QPN: p.QPN, Job: more.Job})
	case reportFault:
		f.Placed.Put(port.Placed{
			Fault: true, QPN: p.QPN, PSN: p.PSN, MSN: p.MSN, Send: p.Send, Silent: p.Silent, RQIdx: p.RQIdx, Status: p.Status, Vendor: p.Vendor,
		})
	}
	if p.Atomic {
		j := &more.Job
		f.Atomic.Put(port.AtomicReq{QPN: p.QPN, PSN: j.PSN, Slot: j.Slot, Addr: p.Addr, Op: j.Op, Swap: j.Swap, Compare: j.Compare})
	}
}
