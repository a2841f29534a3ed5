package hdl_test

import (
	"fmt"

	"rnic/hdl"
)

// PSN is a packet sequence number: its width is said once, in its type.
type PSN uint32

func (PSN) Width() int { return 24 }

// Request is the payload of a stream, flat, like a packed struct.
type Request struct {
	PSN    PSN
	AckReq bool
}

// Ack acknowledges all requests up to PSN.
type Ack struct{ PSN PSN }

// Coalescer acknowledges requests: at once when asked to, else Timeout cycles
// after the first that is not acknowledged yet. It is a module: parameters, ports
// and registers.
type Coalescer struct {
	Timeout uint64

	Req hdl.In[Request]
	Ack hdl.Out[Ack]

	hdl.Regs[coalescerRegs]
}

type coalescerRegs struct {
	Pending  bool
	Urgent   bool
	PSN      PSN
	Deadline uint64
}

// Eval is the always_comb: from Q and the ports' heads it computes D.
func (c *Coalescer) Eval() {
	q, d := &c.Q, &c.D

	due := q.Pending && (q.Urgent || c.Now() >= q.Deadline)
	if due && c.Ack.Ready() {
		c.Ack.Put(Ack{q.PSN})
		d.Pending, d.Urgent = false, false
	}
	if due || !c.Req.Valid() {
		return
	}
	r := c.Req.Take()
	d.PSN = r.PSN
	d.Urgent = q.Urgent || r.AckReq
	if !q.Pending {
		d.Pending, d.Deadline = true, c.Now()+c.Timeout
		c.WakeAt(d.Deadline) // else it would sleep through it
	}
}

// Requester is an agent: behaviour for a testbench, which sends what it is told.
type Requester struct {
	hdl.Behave
	Out  hdl.Out[Request]
	Todo []Request
}

// Tick runs when there is something to do: room in Out, or a Wake.
func (r *Requester) Tick() {
	if len(r.Todo) > 0 && r.Out.Ready() {
		r.Out.Put(r.Todo[0])
		r.Todo = r.Todo[1:]
		r.WakeAt(r.Now() + 1)
	}
}

// Responder notes the acknowledgements and tells the threads that wait for one.
type Responder struct {
	hdl.Behave
	In      hdl.In[Ack]
	Last    PSN
	Arrived hdl.Event
}

// Tick takes an acknowledgement if there is one.
func (r *Responder) Tick() {
	if r.In.Valid() {
		r.Last = r.In.Take().PSN
		r.Arrived.Notify()
	}
}

// Bench is the top. Names in waves and errors come from here: bench.coalescer.req.
type Bench struct {
	Requester Requester
	Coalescer Coalescer
	Responder Responder
}

func Example() {
	b := &Bench{Coalescer: Coalescer{Timeout: 1000}}
	hdl.Connect(&b.Requester.Out, &b.Coalescer.Req, 2)
	hdl.Connect(&b.Coalescer.Ack, &b.Responder.In, 2)
	k, err := hdl.Elaborate("bench", b, hdl.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}

	k.Go("main", func(t *hdl.Thread) {
		for _, urgent := range []bool{true, false} {
			b.Requester.Todo = []Request{{PSN: 7}, {PSN: 8}, {PSN: 9, AckReq: urgent}}
			b.Requester.Wake()
			start := t.Now()
			t.Wait(&b.Responder.Arrived, 0)
			fmt.Printf("ack of %d after %d cycles\n", b.Responder.Last, t.Now()-start)
		}
		k.Stop()
	})
	if err := k.Run(1_000_000); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%d cycles, of them run %d\n", k.Cycle(), k.Stats().Steps)
	for _, u := range k.Area() {
		fmt.Printf("%s: %d flip-flops\n", u.Path, u.FlipFlopBits)
	}
	// Output:
	// ack of 9 after 6 cycles
	// ack of 9 after 1003 cycles
	// 1009 cycles, of them run 14
	// bench.coalescer: 188 flip-flops
}
