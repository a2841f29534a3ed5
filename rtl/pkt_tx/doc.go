// Package pkttx turns packet descriptions into frames: it asks qpc for the
// headers, mpt for addresses and dma for payload, reads far ahead, and starts a
// frame only when all of it is there.
//
//	                   qpc
//	          HdrReq │   ▲ Hdr          mpt                dma
//	                 ▼   │           Mpt│ ▲MptRes     Read │  ▲ Data
//	wqe_sched ─Req──►┌─────┐   ┌────────┴─┴┐  ops  ┌──────┴┐ │
//	          Piece──┼─────┼──►│ Translate ├──────►│ Load  │ │
//	responder ─Resp─►│ Ask ├──►└─────┬─────┘       └──┬────┘ │
//	          Piece──┼──┬──┼────►    │                ▼ land │
//	                 └──┼──┘         │ payload lane ┌────────┐│
//	                    │            ▼              │ Buffer │◄
//	                    └──────────►┌──────┐ chunks └───┬────┘
//	                     fast lane  │ Send │◄───────────┘
//	                                └──┬───┘
//	                                   ▼ beats
//	                                ┌──────┐
//	                                │ Seal │──Eth──► mac
//	                                └──────┘
//
// Ports, by the part that has them
//   - Ask: Req, packets of the requester; Resp, packets of the responder; HdrReq,
//     Hdr.
//   - Translate: ReqPiece, the pieces of Req's packets; RespPiece, those of Resp's;
//     Mpt.
//   - Load: MptRes, to be connected MptDepth deep; Read.
//   - Buffer: Data; Fenced, to mpt.
//   - Send: Fault; RespFault, to be connected RespFaultDepth deep; Purge, PortReg;
//     Stale; Left, which must always be taken.
//   - Seal: Eth, Stats.
//
// Requests and READ responses share the payload lane, packet by packet; other
// responses have a lane of their own. A frame is chosen when it starts: one of the
// fast lane if there is one, but after ResponseBurst of them one of the payload
// lane that is ready. So an ACK never waits for the payload of a request.
//
// Responses of a QP leave in the order of Resp (IBTA 9.7.5). One that needs no
// payload joins the payload lane while that has an earlier one of its QP: Ask
// numbers the responses there and remembers the last of each QP, Send says how
// many have left. And a response of the payload lane waits for those that the fast
// lane held when it was described.
//
// A marker of mpt (Fence, among its answers) goes to Buffer behind the runs that were read
// before it, and back to mpt (Fenced) when the last of them has landed, whatever becomes of
// their packets: a read of one that a rewind has dropped counts too. It takes a cycle of
// Load and one of Buffer, and waits for no packet behind it.
//
// Payload is read to the lanes that it will have in the frame: the request's
// Shift is the lane of the first byte, and where two pieces meet in a beat they
// are merged in the payload buffer. Its beats are reserved before the read.
//
// Reads are asked for at the rate at which PCIe brings their answers (Params.PcieBytes),
// 1,024 bytes ahead at most. What is behind a rewind so waits for one read, and not for
// all that was ordered before, which fills the buffer after each rewind anew.
//
// A request whose payload cannot be read is not sent; Fault tells qpc. Answers of
// qpc from before it took the fault may be out of date: those packets are asked
// for again when their turn comes, and dropped if qpc says so. One that is dropped
// makes the answers from before out of date again: its QP may have stopped for
// another reason. So no packet of a QP follows one that was not sent, and a QP has
// one fault.
//
// A rewind makes requests stale: those of generations before the one that Stale names.
// qpc answers Stale for the ones that it is asked for from then on: Translate takes
// these away. Those already in the lane Send drops when they come to its head, before
// it looks at anything else of them, so that nobody hears of their faults; and Load
// reads none of them whose turn comes only now. Both have the newest generation of each
// QP in a RAM, which they look at only for requests that were asked for before the last
// Stale came, and once for several of one QP in a row. Stale requests are no reason to
// ask again: others of their QP that qpc allowed are as stale. A dropped packet costs
// Send a cycle, or two if its QP has to be looked up. Its payload costs none: packets
// that have payload are numbered, and Buffer leaves out what Send has dropped. What is
// described behind 48 stale packets at once leaves a read and 50 cycles after Stale,
// plus the rest of a frame of more than 1,024 bytes that is being sent.
//
// Left tells that a request which asks for an answer went to Seal; or that it was lost
// since the port is off, so that the ACK timer runs then too. Each packet that nobody
// acknowledges (Unacked) is told so, whatever it asks for.
//
// A datagram goes to the DestQPN of its description; the other headers are those of its
// address handle. One without such (TxHdr.BadAH) is a fault as one that cannot be read is:
// its pieces are taken, and nothing of it is looked up, read or sent.
//
// A raw frame is its payload: no header, no pad, no ICRC, no identification. TxPackets and
// TxBytes do not count it, RawFrames does. It has no tag but one among its bytes. The tag
// of other frames is beside their first beat, for the MAC; TxBytes counts it.
//
// A READ response whose payload cannot be read is not sent; RespFault tells
// ack_gen, whose NAK takes its place. So is the result of an atomic that has read
// nothing: it takes the payload lane, to be told there. To wait until qpc knows could be for ever:
// qpc's answers to the receive side wait for room that this block makes. Instead
// the QP is mute until the marker of its purge: of its responses only the NAK of the
// failed one is sent. All others, a NAK of a later request among them, are for what is
// behind it. Of a response to a duplicate (Again) that cannot be read nobody is told, and
// the QP speaks on: the peer asks once more.
//
// Purge passes on the marker when every packet before it has left or has been
// dropped, responses too.
//
// An AtomicAckETH takes its value from Reth.Swap.
//
// Latency, from head of Req or Resp to head of Eth, with an answer of qpc after 4
// cycles: 8 for a response of the fast lane, 9 for a packet without payload in the
// other, 12 + n for one whose inline payload takes n beats. From the last beat at
// Data to Eth: 5. While READ responses are under way, the lane of another response
// takes 1 more; while QPs are mute, each response does. Initiation interval: 1
// cycle a beat of frame or payload, 1 a piece and 1 more when mpt gives two runs.
//
// Storage besides the payload buffer: with 1,024 QPs, last numbers 1,024 x 16 bits,
// mute 1,024 x 25, and generations 2 x 1,024 x 8.
//
// Invariants: from the first beat of a frame to the last, Eth has a beat in every
// cycle in which it is taken; Hdr, Data and Stale are always taken; MptRes is never
// fuller than MptDepth, RespFault never than RespFaultDepth.
package pkttx
