package cqwriter

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// Params are the sizes of the tables.
type Params struct {
	CQs int // completion queues, at most 2^24; 0: 1,024
	EQs int // event queues, at most 16; 0: 16
	QPs int // queue pairs; 0: 1,024
}

// state is what the block is doing.
type state uint8

const (
	idle    state = iota
	execute       // the contexts of an operation have been read
	event         // the event queue of a CQ that owes an event has been read
	release       // CQ destroyed: its event queue has been read
	hold          // a CQ holds an event back: its slot of the wheel has been read
	lastWQE       // what a QP owes has been read
)

// Width is 3 bits.
func (state) Width() int { return 3 }

func (s state) String() string {
	names := [...]string{"IDLE", "EXECUTE", "EVENT", "RELEASE", "HOLD", "LAST_WQE", "RESERVED", "RESERVED"}
	return names[s&7]
}

// source is where operations come from.
type source uint8

const (
	srcAdmin source = iota
	srcBell
	srcSend
	srcRecv
	srcAsync
	srcSweep
	srcWheel
	srcLast
)

// Width is 3 bits.
func (source) Width() int { return 3 }

func (s source) String() string {
	names := [...]string{"ADMIN", "BELL", "SEND", "RECV", "ASYNC", "SWEEP", "WHEEL", "LAST"}
	return names[s&7]
}

// sweep looks for CQs that owe an event.
type sweep struct {
	Left uint32 // CQs still to look at
	Next port.CQN
}

// fence is an answer that waits for the writes made before it.
type fence struct {
	Valid bool
	At    uint16 // writes made before it, modulo 2^16
}

type regs struct {
	State   state
	Source  source // of the operation being executed; idle: of the last one
	KnownCQ bool   // CQ and EQ are numbers of this device, and were read
	KnownEQ bool
	CQ      port.CQN
	EQ      port.EQN

	Issued  uint16 // writes made, and those that have entered the posted queue
	Done    uint16
	Purge   [2]fence // send, receive
	Purged  [2]port.Purge
	Answer  fence
	Result  port.CQAdminRes
	Raise   uint16 // vectors that csr is to be asked for
	Asked   uint8  // questions to csr without an answer
	Vector  uint8  // asked for last
	Hold    bool   // Async and Order wait for room in event queue 0
	Parked  uint16 // event queues that CQs wait for
	Sweep   sweep
	Wheel   wheel
	Last    lasts
	Counted port.CQStats
}

// Writer is the block. Its ports are described in the package comment.
type Writer struct {
	Send      hdl.In[port.CQEReq]
	Recv      hdl.In[port.CQEReq]
	Bell      hdl.In[port.CQDoorbell]
	Async     hdl.In[port.EventReq]
	Admin     hdl.In[port.CQAdmin]
	AdminRes  hdl.Out[port.CQAdminRes]
	Write     hdl.Out[port.WriteReq]
	WriteData hdl.Out[port.Beat]
	WriteDone hdl.In[port.WriteDone]
	Msix      hdl.Out[port.MsixReq]
	MsixRes   hdl.In[port.MsixRes]
	MsixFire  hdl.In[port.MsixFire]
	Fatal     hdl.Out[port.Retire]
	Purged    hdl.Out[port.Purge]
	Stats     hdl.Sig[port.CQStats]

	// Port 0 reads, port 1 writes. Write-first: a context that is being written is
	// read as written, by the operation behind and on port 1 by event and release.
	CQs hdl.RAM[cq]
	EQs hdl.RAM[eq]

	// Slots is the wheel. Port 0 belongs to turn, port 1 to hold. Links is by CQ:
	// port 0 reads, port 1 writes.
	Slots hdl.RAM[slot]
	Links hdl.RAM[link]

	// Order is a queue of QPs, Lasts is by QP. Port 0 reads, port 1 writes.
	Order hdl.RAM[port.QPN]
	Lasts hdl.RAM[last]

	hdl.Regs[regs]
}

// New makes the block with its tables.
func New(p Params) *Writer {
	hdl.Default(&p.CQs, 1024)
	hdl.Default(&p.EQs, maxEQs)
	hdl.Default(&p.QPs, 1024)
	w := &Writer{}
	w.CQs.Init(p.CQs, hdl.WriteFirst)
	w.EQs.Init(min(p.EQs, maxEQs), hdl.WriteFirst)
	w.Slots.Init(wheelSlots, hdl.WriteFirst)
	w.Links.Init(p.CQs, hdl.WriteFirst)
	w.Order.Init(p.QPs, hdl.WriteFirst)
	w.Lasts.Init(p.QPs, hdl.WriteFirst)
	return w
}

// maxEQs is what Parked has bits for.
const maxEQs = 16

// Eval takes one step of the operation, and one of the interrupts. A message of
// an interrupt goes before the writes of operations, which may be without end.
func (w *Writer) Eval() {
	if w.WriteDone.Valid() {
		w.WriteDone.Take()
		w.D.Done++
	}
	w.fences()
	free := !w.interrupt() && w.Write.Ready() && w.WriteData.Ready()
	switch w.Q.State {
	case execute:
		w.execute(free)
	case event:
		w.event(free)
	case release:
		w.release()
	case hold:
		w.hold()
	case lastWQE:
		w.tellLast(free)
	}
	w.turn()
	if w.D.State == idle {
		w.pick()
	}
	if w.D.Counted != w.Q.Counted {
		w.Stats.Set(w.D.Counted)
	}
}

// execute does the operation whose contexts have been read. free: a write may be
// made in this cycle.
func (w *Writer) execute(free bool) {
	var c cq
	var e eq
	if w.Q.KnownCQ {
		c = *w.CQs.Data(0)
	}
	if w.Q.KnownEQ {
		e = *w.EQs.Data(0)
	}
	switch w.Q.Source {
	case srcAdmin:
		w.admin(c, e)
	case srcBell:
		w.bell(c, e)
	case srcSend:
		w.complete(&w.Send, 0, c, free)
	case srcRecv:
		w.complete(&w.Recv, 1, c, free)
	case srcAsync:
		w.async(e, free)
	case srcSweep:
		w.D.Sweep.Left--
		w.D.Sweep.Next = (w.Q.Sweep.Next + 1) % port.CQN(w.CQs.Depth())
		w.store(c)
	case srcWheel:
		w.expire(c)
	case srcLast:
		w.Lasts.Read(0, int(*w.Order.Data(0)))
		w.D.State = lastWQE
	}
}

// fences sends the answers whose writes are all in the posted queue.
func (w *Writer) fences() {
	q, d := &w.Q, &w.D
	passed := func(f *fence) bool { return f.Valid && int16(q.Done-f.At) >= 0 }
	if passed(&q.Answer) && w.AdminRes.Ready() {
		w.AdminRes.Put(q.Result)
		d.Answer.Valid = false
	}
	if !w.Purged.Ready() {
		return
	}
	for i := range q.Purge {
		if passed(&q.Purge[i]) {
			w.Purged.Put(q.Purged[i])
			d.Purge[i].Valid = false
			return
		}
	}
}

// post makes a write of n bytes, which lie in one beat.
func (w *Writer) post(addr port.BusAddr, n int) *port.Beat {
	w.Write.Put(port.WriteReq{Addr: addr, Len: uint32(n), Notify: true})
	w.D.Issued++
	b := w.WriteData.Next()
	*b = port.Beat{Len: uint8(n), Last: true}
	return b
}

// eqBit is an event queue's bit in Parked.
func eqBit(n port.EQN) uint16 { return 1 << (n % maxEQs) }

// vectorBit is a vector's bit in Raise, 0 for one that does not exist.
func vectorBit(v uint32) uint16 {
	if v >= abi.MSIXCount {
		return 0
	}
	return 1 << v
}
