package nic

import "rnic/hdl"

// FIFOs is the number of FIFOs, of FIFODepth beats each.
const (
	FIFOs     = 8
	FIFODepth = 16
)

// Demux sorts beats into FIFOs by queue. A full one holds up the rest.
type Demux struct {
	In  hdl.In[Beat]
	Out [FIFOs]hdl.Out[Beat]

	hdl.Regs[struct{}]
}

// Eval moves a beat if its FIFO has room.
func (m *Demux) Eval() {
	if !m.In.Valid() {
		return
	}
	if out := &m.Out[m.In.Head().Queue>>1]; out.Ready() {
		*out.Next() = *m.In.Take()
	}
}

// Arbiter serves 16 queues round robin: of each FIFO, the queue of its head.
type Arbiter struct {
	In  [FIFOs]hdl.In[Beat]
	Out hdl.Out[Beat]

	hdl.Regs[struct{ Last QueueID }]
}

// Eval grants a queue if there is room.
func (m *Arbiter) Eval() {
	if !m.Out.Ready() {
		return
	}
	requests := uint64(0)
	for i := range m.In {
		if in := &m.In[i]; in.Valid() {
			requests |= 1 << (2*i + int(in.Head().Queue&1))
		}
	}
	if grant := hdl.RoundRobin(requests, int(m.Q.Last)); grant >= 0 {
		*m.Out.Next() = *m.In[grant>>1].Take()
		m.D.Last = QueueID(grant)
	}
}
