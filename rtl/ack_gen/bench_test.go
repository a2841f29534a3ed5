package ackgen_test

import (
	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	ackgen "rnic/rtl/ack_gen"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

// void is the answer of a consumer that only takes its time.
type void struct{}

// bench is an AckGen between agents; qpc and responder may be slow.
type bench struct {
	Pkt    agent.Source[port.RxPkt]
	Purge  agent.Source[port.Purge]
	QPErr  agent.Source[port.QPError]
	TxFail agent.Source[port.SQFault]
	Placed agent.Source[port.Placed]
	Qpc    agent.Responder[port.RxOp, port.RxVerdict]
	AckGen *ackgen.AckGen
	Place  agent.Sink[port.Place]
	Resp   agent.Responder[port.Job, void]
	Gone   agent.Sink[void]

	k *hdl.Kernel
}

func newBench(t hdltest.T, p ackgen.Params, o hdl.Options) *bench {
	b := &bench{AckGen: ackgen.New(p)}
	a := b.AckGen
	hdl.Connect(&b.Pkt.Out, &a.Issue.Pkt, 2)
	hdl.Connect(&b.Purge.Out, &a.Issue.Purge, 2)
	hdl.Connect(&b.QPErr.Out, &a.FlushList.QPErr, 2)
	hdl.Connect(&b.TxFail.Out, &a.Issue.RespFault, p.RespFaultDepth())
	hdl.Connect(&b.Placed.Out, &a.Reply.Placed, 2)
	hdl.Connect(&a.Issue.Op, &b.Qpc.In, 2)
	hdl.Connect(&b.Qpc.Out, &a.Judge.Verdict, p.VerdictDepth())
	hdl.Connect(&a.Judge.Place, &b.Place.In, 2)
	hdl.Connect(&a.Reply.Resp, &b.Resp.In, 2)
	hdl.Connect(&b.Resp.Out, &b.Gone.In, 2)
	b.Qpc.Answer = func(o port.RxOp) port.RxVerdict {
		v := port.RxVerdict{QPN: o.QPN, Action: port.RxNothing}
		if o.Kind == port.RxFault {
			v.Action = port.RxFailed
		}
		return v
	}
	b.Resp.Answer = func(port.Job) void { return void{} }
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	b.k = k
	return b
}

// slow has a responder take one request each so many cycles.
func slow[Q, A any](r *agent.Responder[Q, A], cycles uint64) {
	r.Max, r.Latency = 1, func() uint64 { return cycles }
}

// kinds are the operations that qpc saw.
func (b *bench) kinds() (out []port.RxOpKind) {
	for _, o := range b.Qpc.Seen {
		out = append(out, o.Kind)
	}
	return out
}
