// Package port defines what travels between the blocks of the NIC: the payload
// of every stream and level, and nothing else. It is the pin list of the design.
//
//	csr       QPDoorbell ► qpc; PushedWQE ► wqe_sched; CQDoorbell ► cq_writer
//	wqe_sched MemOp, Beat ► mpt, MemRes ◄
//	          Activate ◄ qpc; SQGet, SQPut ► qpc, SQCtx ◄; ReadReq ► dma, ReadBeat ◄
//	          TxPkt, TxPiece ► pkt_tx; Sent ► retrans, SentFree ◄; ReadPost ► qpc
//	pkt_tx    TxHdrReq ► qpc, TxHdr ◄; MptReq ► mpt, MptRes ◄; EthBeat ► mac
//	pkt_rx    EthBeat ◄ mac; RxPkt ► ack_gen; RxRead, RxFree ◄ scatter, Beat ►
//	ack_gen   RxOp ► qpc, RxVerdict ◄; Place ► scatter, Placed ◄; Job ► responder
//	scatter   RQGet ► rq_fetch, RQWQE ◄; MptReq ► mpt, MptRes ◄; WriteReq, Beat ► dma
//	          AckEvent ► retrans; AtomicReq ► atomic, AtomicDone ◄; CQEReq ► cq_writer
//	responder TxPkt, TxPiece ► pkt_tx; AtomicRes ◄ atomic; RespDone ► qpc
//	retrans   Retire ► qpc, AckEvent ◄; CQEReq ► cq_writer
//	cq_writer WriteReq, Beat ► dma; MsixReq ► csr, MsixRes ◄; EventReq ◄ qpc
//	admin     QPAdmin ► qpc; MRAdmin ► mpt; CQAdmin ► cq_writer; Purge ► both pipelines
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
