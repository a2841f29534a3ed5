// Package ackgen is the front of the receive pipeline. It has qpc judge every
// packet, hands the verdicts on to scatter, and what scatter reports as due to
// responder.
//
//	        Pkt              Op                Verdict          Place
//	pkt_rx ─────► Issue ────────────► qpc ─────────────► Judge ───────► scatter
//	 Purge ─────►  ▲ ▲ └──── order (what each op was for) ─► │
//	 RespFault ──► │ └── next ── FlushList ◄── result ───────┘
//	 (pkt_tx)      │                 ▲ QPErr
//	               │ fault           └── qpc
//	               └──────────── Reply ◄────── Placed ── scatter
//	                                └─────► Resp ─► responder
//
// All that touches the receive side of a context goes through one stream of
// operations: packets, the faults that scatter found or that a READ response met
// in pkt_tx, the flush of a receive queue, the marker of a reset. So each sees the
// effect of those before it, and the verdicts, which come in the same order, reach
// scatter as the order in which frames are released and receive WQEs completed. An
// answer is due when its packet's payload has entered the posted queue (IBTA
// 9.7.5.1): it takes the way through scatter too, even one without payload, so that
// it keeps its place: that of a duplicate, too, so that none says more than what the
// answers before it have said. So does what an acknowledgement or a response means for
// the send queue, a rewind among it.
//
// Counters are those of the verdicts: a duplicate counts once, whether it is answered or
// dropped, a request beyond the expected PSN once, whether it gets the NAK or comes behind
// that. Dropped ones count under rx_drop_other too, and so does a duplicate of a READ
// whose key scatter finds bad: it is not answered.
//
// A verdict may make up to three elements of Place: the end of a receive WQE of a shared
// queue whose message is broken, the IP header of a datagram, and the packet itself,
// which alone has the frame. A raw frame is received as a datagram is.
//
// Latency: Pkt to Op 1 cycle, Verdict to Place 1, Placed to Resp 1. Initiation
// interval: 1 cycle each, of a verdict 1 an element.
//
// No cycle of waits: an op is issued only with room for what it was for, and
// In Verdict has that many beats (Params.VerdictDepth), so qpc is never held up.
// Faults and flushes wait in lists with room for every QP, so they hold up
// neither scatter nor qpc. Answers hold up scatter when responder is full, until
// pkt_tx sends, which never waits for the receive pipeline: In RespFault has room
// for a fault of every QP (Params.RespFaultDepth).
package ackgen

import (
	"rnic/hdl"
)

// Params are the sizes; zero stands for the default.
type Params struct {
	LogQP int // log2 of the QPs; 10
	Ops   int // operations at qpc; 16
}

func (p Params) withDefaults() Params {
	hdl.Default(&p.LogQP, 10)
	hdl.Default(&p.Ops, 16)
	return p
}

// VerdictDepth is the depth that the stream Verdict needs.
func (p Params) VerdictDepth() int { return p.withDefaults().Ops }

// RespFaultDepth is the depth that the stream RespFault needs: a QP has one fault
// under way at most.
func (p Params) RespFaultDepth() int { return max(1<<p.withDefaults().LogQP, 2) }

// AckGen is the block. Issue has the ports Pkt, RespFault, Purge and Op; Judge has
// Verdict, Place and Stats; FlushList has QPErr; Reply has Placed and Resp.
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
	hdl.Connect(&a.Issue.Order, &a.Judge.Order, p.Ops)
	hdl.Connect(&a.Issue.Purging, &a.Reply.Purging, 2)
	hdl.Connect(&a.Judge.Result, &a.FlushList.Result, 2)
	hdl.Connect(&a.FlushList.Next, &a.Issue.Flush, 2)
	hdl.Connect(&a.FlushList.Push, &a.FlushList.List, max(qps, 2))
	hdl.Connect(&a.Reply.Fault, &a.Issue.Fault, 2*qps+2)
	hdl.Connect(&a.Reply.Lost, &a.Judge.Lost, 2)
	return a
}
