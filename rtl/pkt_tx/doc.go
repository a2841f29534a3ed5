// Package pkttx turns packet descriptions into frames: it asks qpc for the
// headers, mpt for addresses and dma for payload, reads far ahead, and starts a
// frame only when all of it is there.
//
//	                  qpc
//	         HdrReq │   ▲ Hdr          mpt                dma
//	                ▼   │           Mpt│ ▲MptRes     Read │  ▲ Data
//	wqe_sched ─Req─►┌─────┐   ┌────────┴─┴┐  ops  ┌──────┴┐ │
//	          Piece─┼─────┼──►│ Translate ├──────►│ Load  │ │
//	ack_gen ──Resp─►│ Ask │   └─────┬─────┘       └──┬────┘ │
//	                └──┬──┘         │ jobs           ▼ land │
//	                   │            ▼             ┌────────┐│
//	                   └──────────►┌──────┐ chunks│ Buffer │◄
//	                     responses │ Send │◄──────┴────────┘
//	                               └──┬───┘
//	                                  ▼ beats
//	                               ┌──────┐
//	                               │ Seal │──Eth──► mac
//	                               └──────┘
//
// Ports, by the part that has them
//   - Ask: Req, packets of the requester; Resp, packets of the responder, which
//     have no pieces; HdrReq, Hdr.
//   - Translate: ReqPiece, the pieces of Req's packets; Mpt.
//   - Load: MptRes, to be connected MptDepth deep; Read.
//   - Buffer: Data.
//   - Send: Fault, Purge, PortReg.
//   - Seal: Eth, Stats.
//
// Requests and responses are separate lanes. A frame is chosen when it starts: a
// response if there is one, but after ResponseBurst of them a request that is
// ready. So an ACK never waits for the payload of a request.
//
// Payload is read to the lanes that it will have in the frame: the request's
// Shift is the lane of the first byte, and where two pieces meet in a beat they
// are merged in the payload buffer. Its beats are reserved before the read.
//
// A packet whose payload cannot be read is not sent; Fault tells qpc. Answers of
// qpc from before it took the fault may be out of date: those packets are asked
// for again when their turn comes, and dropped if qpc says so. One that is dropped
// makes the answers from before out of date again: its QP may have stopped for
// another reason. So no packet of a QP follows one that was not sent, and a QP has
// one fault.
//
// Purge passes on the marker when every packet before it has left or has been
// dropped, responses too.
//
// An AtomicAckETH takes its value from Reth.Swap.
//
// Latency, from head of Req or Resp to head of Eth, with an answer of qpc after 4
// cycles: 8 for a response, 9 for a request without payload, 12 + n for one whose
// inline payload takes n beats. From the last beat at Data to Eth: 5. Initiation
// interval: 1 cycle a beat of frame or payload, 1 a piece and 1 more when mpt
// gives two runs.
//
// Invariants: from the first beat of a frame to the last, Eth has a beat in every
// cycle in which it is taken; Hdr and Data are always taken; MptRes is never
// fuller than MptDepth.
package pkttx
