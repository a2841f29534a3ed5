// Package scatter puts the payload of received packets where their receive WQEs
// say, and tells whoever waits for it: a CQE at the end of a message, an
// acknowledgement to be sent.
//
//	          Place                          Mpt                 Write, Read
//	ack_gen ─────────► Front ─► Split ──────────► Collect ─► Mover ────► dma, pkt_rx
//	                 RQGet │      ▲ WQE    MptRes ▲   │        │ tail
//	              rq_fetch ◄──────┘        mpt ───┘   │        ▼
//	                                                  │     Forward ─► WriteData, Free
//	                                                  ▼        ▲ Data
//	                          Placed, CQE ◄──────── Finish     pkt_rx
//	                                                  ▲ WriteDone
//
// Front asks for the receive WQE. Split finds which scatter elements a packet's
// bytes fall into and has mpt check each piece: no more than the bytes that
// came, so an element that reaches outside its region matters only if it is hit.
// Collect gathers the answers: a packet is written whole or, if a piece is
// refused, not at all. Mover turns pieces into reads of rx_buf and writes of host
// memory; Forward moves the beats and releases frames in order. A write starts in
// the lane in which its bytes lie in rx_buf, so that nothing has to be shifted
// here. Finish holds back what a packet promises until its last write has entered
// the posted queue.
//
// A fault poisons the QP. Its receive WQE completes with the fault's status and
// ack_gen is told; until the verdict RxFailed comes by, the QP's packets that are
// already on the way are not placed nor acknowledged, and each further receive
// WQE that they took, or that is flushed, completes once as flushed.
//
// Latency: Place to WriteReq 5 cycles plus rq_fetch's and mpt's. Initiation
// interval: 1 cycle a packet without payload, max(1, pieces, runs, beats) else; a
// run ends at the end of a piece and at a page boundary. While some QP is
// poisoned, one cycle more.
//
// Invariants:
//   - frames are released in order, each once, after their bytes were read;
//   - completions and reports come in the order of Place;
//   - answers of mpt are never held back: In MptRes needs a depth of
//     Params.Pieces; WriteDone is always taken;
//   - every write asks for a WriteDone, so that also an error CQE comes behind all
//     writes of its WQE.
package scatter

import (
	"rnic/hdl"
)

// Params are the sizes; zero stands for the default.
type Params struct {
	LogQP    int // log2 of the QPs; 10
	Jobs     int // packets that wait for their receive WQE; 48
	Pieces   int // pieces at mpt, the depth of MptRes; 16
	Runs     int // runs of bytes that are being read; 8
	InFlight int // packets whose writes are not yet posted; 32
	Asides   int // jobs and events under way; 64
}

func (p Params) withDefaults() Params {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&p.LogQP, 10)
	def(&p.Jobs, 48)
	def(&p.Pieces, 16)
	def(&p.Runs, 8)
	def(&p.InFlight, 32)
	def(&p.Asides, 64)
	return p
}

// MptDepth is the depth that the stream MptRes needs.
func (p Params) MptDepth() int { return p.withDefaults().Pieces }

// Scatter is the block. Front has the ports Place and RQGet; Split has RQWQE and
// Mpt; Collect MptRes and AtomicDone; Mover Read and Write; Forward Data, WriteData
// and Free; Finish WriteDone, CQE, Placed, Event and Atomic.
type Scatter struct {
	Front   Front
	Split   Split
	Collect Collect
	Mover   Mover
	Forward Forward
	Finish  Finish
}

// New makes the block.
func New(p Params) *Scatter {
	p = p.withDefaults()
	s := &Scatter{}
	s.Collect.Poison.Init(1<<p.LogQP, hdl.ReadFirst)
	hdl.Connect(&s.Front.Out, &s.Split.In, p.Jobs)
	hdl.Connect(&s.Front.Aside, &s.Finish.Aside, p.Asides)
	hdl.Connect(&s.Front.Fast, &s.Finish.Fast, 2)
	hdl.Connect(&s.Split.Out, &s.Collect.In, p.Pieces)
	hdl.Connect(&s.Collect.Kill, &s.Split.Kill, 2)
	hdl.Connect(&s.Collect.Move, &s.Mover.In, 2)
	hdl.Connect(&s.Collect.Done, &s.Finish.In, p.InFlight)
	hdl.Connect(&s.Mover.Runs, &s.Forward.Runs, p.Runs)
	hdl.Connect(&s.Finish.Left, &s.Front.Left, 2)
	return s
}

// checked is a piece of a packet on its way through mpt; one without piece
// passes along with them.
type checked struct {
	Mpt  bool // mpt answers
	Last bool // of the packet, which then is in P
	P    packet
}
