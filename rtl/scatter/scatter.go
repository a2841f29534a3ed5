// Package scatter puts the payload of received packets where it belongs: where the
// receive WQE says (SEND), where the request says (WRITE), where the send WQE says
// that a response answers (READ, atomics). It checks the memory that READs and
// atomics name, and tells whoever waits for it: a CQE at the end of a message, an
// answer to be sent, an atomic to be done, an event for the send queue.
//
//	          Place                          Mpt                 Write, Read
//	ack_gen ─────────► Front ─► Split ──────────► Collect ─► Mover ────► dma, pkt_rx
//	                 RQGet │      ▲ WQE    MptRes ▲   │        │ runs
//	              rq_fetch ◄──────┘        mpt ───┘   │        ▼
//	                       │              AtomicDone ─┤     Forward ─► WriteData, Free
//	                       │ aside, fast              ▼        ▲ Data
//	                       └──────────────────────► Finish     pkt_rx
//	    Placed, CQE, Event, Atomic, Fenced ◄──────────┘ ▲ WriteDone, KeyEnded
//
// Front asks for the WQE. Split finds which elements a packet's bytes fall into and
// has mpt check each piece: no more than the bytes that came, so an element that
// reaches outside its region matters only if it is hit; of an R_Key also the range
// that the request names.
// Collect gathers the answers: a packet is written whole or, if a piece is
// refused, not at all. Mover turns pieces into reads of rx_buf and writes of host
// memory; Forward moves the beats and releases frames in order. A write starts in
// the lane in which its bytes lie in rx_buf, so that nothing has to be shifted
// here. Finish holds back what a packet promises until its last write has entered
// the posted queue. What only Finish needs of a packet goes around the rest.
//
// An atomic is asked for when all before it has been posted. Until it is done, what
// the same QP would write or complete waits, and all behind it; at most 8 are under
// way. A SEND with invalidate has its key made invalid when its data is known to be
// good, before anything behind it is translated. It is completed when mpt knows that
// nothing is read by the key any more (KeyEnded); all that was written by it was before.
//
// Markers of mpt (Fence) come among its answers. Collect passes one on between two packets,
// when the atomics have ended that were under way when it came; those behind it go on
// meanwhile. Finish hands it back to mpt (Fenced) in its turn: all that was translated
// before it is posted then, or was not placed. A second marker joins one that waits.
//
// A duplicate of a READ has its key checked as the first one had; if that is bad, it is
// no fault: the job goes on with nothing to do. One of an atomic has nothing to do here,
// and waits for no atomic: responder, where it comes behind the one that it repeats, has
// the value. A response that was placed before is placed again; the bytes are the same.
//
// A fault poisons the side of the QP that it is on. A request's: its receive WQE, if
// it has one, completes with the fault's status and ack_gen is told; until the
// verdict RxFailed comes by, the QP's requests that are already on the way are not
// placed nor answered, and each further receive WQE that they took, or that is
// flushed, completes once as flushed. The same holds from the moment when the memory of
// an atomic could not be read: responder has that reported in its turn, and what is
// behind it must not be executed. A response's: no response of the QP is placed, and none
// of its events goes on, until the RxFailed of that fault.
//
// A QP that acknowledges nothing (UC, UD, raw) survives a fault that is the peer's alone: a
// message too long for its receive WQE, or a bad R_Key. Then nothing completes, flushes
// neither: until RxFailed comes by all of the QP is dropped, and its receive WQEs are taken
// again from that of the fault on. Those of a shared queue can't go back: they complete
// once, the first with the fault's status, others as flushed. The header of a datagram is
// an element before the packet, without a frame, and is where one that does not fit is
// found. Whatever may complete a WQE of a shared queue asks rq_fetch for its slot, which
// is the index that the completion gives; by its number it is known as completed.
//
// Latency: Place to WriteReq 5 cycles plus rq_fetch's and mpt's; to Event 2 if
// nothing of the same QP's send queue is before it, to Placed of a check 4 plus
// mpt's. Initiation interval: 1 cycle a packet without payload, max(1, pieces, runs,
// beats) else; a run ends at the end of a piece and at a page boundary; a SEND with
// invalidate 3 plus mpt's, a marker 2 cycles of Collect; a datagram of 64 bytes, in two elements, 3. While some QP is poisoned, one cycle more.
//
// Invariants:
//   - frames are released in order, each once, after their bytes were read;
//   - completions and reports come in the order of Place; so do a QP's events, rewinds
//     among them, and those of its responses come behind their data;
//   - answers of mpt are never held back: In MptRes needs a depth of
//     Params.Pieces; nor are markers. WriteDone, AtomicDone and KeyEnded are always taken;
//   - every write asks for a WriteDone, so that also an error CQE comes behind all
//     writes of its WQE;
//   - a marker leaves when all before it has: what was translated, atomics too, is
//     posted, and ack_gen has taken its report.
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
	hdl.Default(&p.LogQP, 10)
	hdl.Default(&p.Jobs, 48)
	hdl.Default(&p.Pieces, 16)
	hdl.Default(&p.Runs, 8)
	hdl.Default(&p.InFlight, 32)
	hdl.Default(&p.Asides, 64)
	return p
}

// MptDepth is the depth that the stream MptRes needs.
func (p Params) MptDepth() int { return p.withDefaults().Pieces }

// Scatter is the block. Front has the ports Place and RQGet; Split has RQWQE and
// Mpt; Collect MptRes and AtomicDone; Mover Read and Write; Forward Data, WriteData
// and Free; Finish WriteDone, KeyEnded, Fenced, CQE, Placed, Event and Atomic.
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
