package retrans_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/rtl/retrans"
	"rnic/tb/agent"
)

// gate is a Sink that can be shut.
type gate[T any] struct {
	agent.Sink[T]
	Shut bool
}

func (g *gate[T]) Tick() {
	if !g.Shut {
		g.Sink.Tick()
	}
}

// bench has an agent at each port.
type bench struct {
	DUT    *retrans.Retrans
	Sent   agent.Source[port.Sent]
	Ack    agent.Source[port.AckEvent]
	Event  agent.Source[port.AckEvent]
	Purge  agent.Source[port.Purge]
	Left   agent.Source[port.Left]
	Free   agent.Sink[port.SentFree]
	Retire gate[port.Retire]
	CQE    gate[port.CQEReq]
	k      *hdl.Kernel
}

func newBench(t require.TestingT, o hdl.Options, p retrans.Params, throttle uint64) *bench {
	b := &bench{DUT: retrans.New(p)}
	for _, th := range []*agent.Throttle{
		&b.Sent.Throttle, &b.Ack.Throttle, &b.Event.Throttle, &b.Purge.Throttle,
		&b.Free.Throttle, &b.Retire.Throttle, &b.CQE.Throttle,
	} {
		th.Seed = throttle
	}
	hdl.Connect(&b.Sent.Out, &b.DUT.Sent, 4)
	hdl.Connect(&b.Ack.Out, &b.DUT.Ack, 8)
	hdl.Connect(&b.Event.Out, &b.DUT.Event, 2)
	hdl.Connect(&b.Purge.Out, &b.DUT.Purge, 2)
	hdl.Connect(&b.Left.Out, &b.DUT.Clock.Left, 2)
	hdl.Connect(&b.DUT.Free, &b.Free.In, 4)
	hdl.Connect(&b.DUT.Retire, &b.Retire.In, 2)
	hdl.Connect(&b.DUT.CQE, &b.CQE.In, 4)
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	b.k = k
	return b
}

func (b *bench) run(t require.TestingT, cycles uint64) {
	require.NoError(t, b.k.Run(b.k.Cycle()+cycles))
}

// send enters messages, and has the requests of those of the wire leave in order.
func (b *bench) send(messages ...port.Sent) {
	for _, s := range messages {
		b.Sent.Push(s)
		if s.Kind == port.SentWire {
			b.leave(s.QPN, s.LastPSN)
		}
	}
}

// leave has the request of a PSN leave.
func (b *bench) leave(qpn port.QPN, last roce.PSN) {
	b.Left.Push(port.Left{QPN: qpn, LastPSN: last})
}

// freed is the number of credits that came back.
func (b *bench) freed() (n int) {
	for _, f := range b.Free.Got {
		n += int(f.N)
	}
	return n
}

// retired is the number of messages of a QP that qpc was told of.
func (b *bench) retired(qpn port.QPN) (n int) {
	for _, r := range b.Retire.Got {
		if r.Kind == port.RetireDone && r.QPN == qpn {
			n += int(r.Messages)
		}
	}
	return n
}

func open(t *testing.T) *bench {
	b := newBench(t, hdl.Options{Strict: true}, retrans.Params{}, 0)
	t.Cleanup(b.k.Close)
	return b
}
