// Package port defines what travels between the blocks of the NIC: the payload
// of every stream and level, and nothing else. It is the pin list of the design.
//
//	host ──TLP──► dma ──► csr ──QPDoorbell──► qpc ◄──QPAdmin── admin
//	               │       │                 ▲ │ ▲
//	               │       └─PushedWQE─┐ SQGet/│ │ └────RxOp/RxVerdict─────┐
//	               │                   ▼ SQPut │ │Activate                 │
//	 ReadReq/      ├──WQE lines──► wqe_sched ◄───┘                         │
//	 ReadBeat      │                 │ TxPkt, TxPiece    │ Sent            │
//	 WriteReq/     ├──payload──► pkt_tx ──EthBeat──► mac │        ack_gen ─┘
//	 WriteBeat     │               ▲ ▲                   ▼          ▲   │ Place
//	               │               │ └─TxPkt── responder ◄──Job── ack_gen   ▼
//	               │              mpt ◄──────────────────┼──────── scatter ◄─ rq_fetch
//	               ├◄──read-modify-write── atomic ◄──AtomicReq── scatter
//	               ├◄──CQE, event, MSI-X── cq_writer ◄─ retrans◄─AckEvent (from scatter)
//	               └◄──payload── scatter ◄──RxData── pkt_rx ◄──EthBeat── mac
//
// Rules that every block keeps:
//
//   - A client that sends a request to qpc, mpt, rq_fetch or dma has room for
//     the answer before it asks: answers are always taken. So a full queue
//     upstream can never hold an answer back, and no cycle of waits exists.
//   - Answers of one client come in the order of its requests.
//   - Only qpc holds QP contexts, only mpt holds keys and page addresses, only
//     cq_writer holds CQs and EQs.
//   - All payload moves as beats of 64 bytes, packed, with Last on the final one.
//
// Widths are those of the named types; units are bytes, cycles and packets.
package port
