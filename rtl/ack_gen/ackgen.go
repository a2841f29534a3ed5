// Package ackgen is the front of the receive pipeline and the sender of
// acknowledgements. It has qpc judge every packet, hands the verdicts on to
// scatter, and sends what scatter reports as due.
//
//	        Pkt              Op                Verdict          Place
//	pkt_rx ─────► Issue ────────────► qpc ─────────────► Judge ───────► scatter
//	 Purge ─────►  ▲ ▲ └──── order (what each op was for) ─► │ │  Event
//	               │ └── next ── FlushList ◄── result ───────┘ └──────► retrans
//	               │                 ▲ QPErr
//	               │ fault           └── qpc
//	               └──────────── Reply ◄────── Placed ── scatter
//	                                └─────► Resp ─► pkt_tx
//
// All that touches the receive side of a context goes through one stream of
// operations: packets, the faults that scatter found, the flush of a receive
// queue, the marker of a reset. So each sees the effect of those before it, and
// the verdicts, which come in the same order, reach scatter as the order in which
// frames are released and receive WQEs completed. An acknowledgement is due when
// its packet's payload has entered the posted queue (IBTA 9.7.5.1): it takes the
// way through scatter too, even one without payload, so that it keeps its place.
//
// A queued ACK is replaced by a later one of its QP, which says more; a NAK never
// is, nor an ACK before one.
//
// Latency: Pkt to Op 1 cycle, Verdict to Place or Event 1, Placed to Resp 1 (2 in a
// queue). Initiation interval: 1 cycle each.
//
// No cycle of waits: an op is issued only with room for what it was for, and
// In Verdict has that many beats (Params.VerdictDepth), so qpc is never held up.
// Faults and flushes wait in lists with room for every QP, so they hold up
// neither scatter nor qpc. Acknowledgements hold up scatter when the queue is
// full, until pkt_tx sends, which never waits for the receive pipeline.
package ackgen

import (
	"rnic/hdl"
)

// Params are the sizes; zero stands for the default.
type Params struct {
	LogQP      int  // log2 of the QPs; 10
	Ops        int  // operations at qpc; 16
	Acks       int  // queued acknowledgements, at most 32; 32
	NoCoalesce bool // send every acknowledgement
}

func (p Params) withDefaults() Params {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&p.LogQP, 10)
	def(&p.Ops, 16)
	def(&p.Acks, maxAcks)
	p.Acks = min(max(p.Acks, 1), maxAcks)
	return p
}

// VerdictDepth is the depth that the stream Verdict needs.
func (p Params) VerdictDepth() int { return p.withDefaults().Ops }

// AckGen is the block. Issue has the ports Pkt, Purge and Op; Judge has Verdict,
// Place, Event and Stats; FlushList has QPErr; Reply has Placed and Resp.
type AckGen struct {
	Issue     Issue
	Judge     Judge
	FlushList FlushList
	Reply     Reply
}

// New makes the block.
func New(p Params) *AckGen {
	p = p.withDefaults()
	a := &AckGen{}
	qps := 1 << p.LogQP
	a.FlushList.Flags.Init(qps, hdl.ReadFirst)
	a.Reply.depth, a.Reply.coalesce = p.Acks, !p.NoCoalesce
	hdl.Connect(&a.Issue.Order, &a.Judge.Order, p.Ops)
	hdl.Connect(&a.Issue.Purging, &a.Reply.Purging, 2)
	hdl.Connect(&a.Judge.Result, &a.FlushList.Result, 2)
	hdl.Connect(&a.FlushList.Next, &a.Issue.Flush, 2)
	hdl.Connect(&a.FlushList.Push, &a.FlushList.List, max(qps, 2))
	hdl.Connect(&a.Reply.Fault, &a.Issue.Fault, qps+2)
	return a
}
