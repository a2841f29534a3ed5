package tb

import (
	"rnic/hdl"
)

// OOB is how a thread of one host talks to threads of the other beside the
// wire, as programs do over a TCP connection. Messages arrive in order, after
// Config.OOBLatencyPs.
type OOB struct {
	hdl.Behave
	out, in *hdl.Link[[]byte]
	inbox   [][]byte
	arrived hdl.Event
}

// Tick moves arrived messages into the inbox.
func (o *OOB) Tick() {
	for {
		m, ok := o.in.Recv()
		if !ok {
			return
		}
		o.inbox = append(o.inbox, m)
		o.arrived.Notify()
	}
}

// Send gives a message to the other host. It must not be changed afterwards.
func (o *OOB) Send(m []byte) { o.out.Send(m) }

// Recv waits for the oldest message that no thread has taken.
func (o *OOB) Recv(t *hdl.Thread) []byte {
	for len(o.inbox) == 0 {
		t.Wait(&o.arrived, 0)
	}
	m := o.inbox[0]
	o.inbox = o.inbox[1:]
	return m
}
