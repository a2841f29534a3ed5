// Package responder sends the answers of the responders of all QPs:
// acknowledgements, READ responses and results of atomics, those of a QP in the
// order of its requests (IBTA 9.7.5), those of different QPs in turns.
//
//	            ┌───────┐ first, last ┌──────────────┐
//	Jobs ──────►│ Lists ├────────────►│ Pool, Links  │
//	AtomicRes ─►│ by QP │             ├──────────────┤  slice  ┌───────┐
//	            └─┬───▲─┘    result   │ Values       ├────────►│ Slice ├──► Pkt, Piece
//	              ▼   │      of atomic└──────────────┘         └───┬───┘
//	            turn of a QP ◄── what a slice leaves               └──────► Done
//
// Jobs are entries of a pool that all QPs share; each QP has a linked list of
// them. A QP with a job that can leave has a turn in a queue of QPs. A turn is up
// to Budget packets: of one READ or of several jobs. A READ is taken from its
// entry slice by slice; what is left stays the first entry of the list. Meanwhile
// Jobs go on into their lists.
//
// A READ response is FIRST, MIDDLE.., LAST, or ONLY, each MTU long but the last;
// a READ of no bytes has an ONLY without payload. FIRST, LAST and ONLY carry the
// syndrome and MSN of the job. An atomic waits in its place for its result,
// while other QPs go on; if the memory could not be read, pkt_tx reports that as
// it does for a READ, so that the QP fails and its NAK takes the place of the answer.
//
// A duplicate (Again) is answered in its place, behind what was asked for before it; the
// job that it repeats may still be in the list, or leave in the same turn. A READ is read
// again. The value of an atomic stays in its slot after it was sent; a duplicate does not
// wait for it, since the atomic is before it in the list. It gets the value if the slot
// still has that of its PSN and the memory could be read, else nothing. Nothing is sent
// either when the key of a duplicate is bad (JobNone). Each has its RespDone, which gives
// back its place among the duplicates of the QP.
//
// A queued acknowledgement that is the last job of its QP is replaced by a later
// one, which says more: that of a duplicate has the PSN of the last request executed,
// so PSNs never go back. A NAK never is replaced, nor an acknowledgement before one, and
// none passes a READ or an atomic: it would tell the peer that their answers are lost.
//
// A fatal NAK may be for a READ whose memory could not be read half-way: then what is
// left of that READ is forgotten, with all behind it, and the NAK is next. Answers of
// duplicates from before its PSN go first; pkt_tx is silent about them.
//
// Purge gives back the whole list at once, and ends a slice that is being sent. It is
// taken when pkt_tx has taken the packets before it: no answer of the QP is then on
// its way to be asked for at qpc, where a next life of the QP could answer.
//
// Ports: Jobs from ack_gen, AtomicRes from atomic, Pkt and Piece to pkt_tx, Done
// to qpc, all of Responder.
//
// Latency in cycles, from head of Jobs to head of Pkt: 1 if nothing waits, else
// 3 when its turn comes; from AtomicRes to Pkt 3. Initiation interval: 2 cycles a
// job, 1 cycle a packet of a READ.
//
// Storage with 1,024 QPs and 1,024 jobs: lists 1,024 x 95 bits, pool 1,024 x 204,
// links 1,024 x 44, values 16,384 x 89, queue of QPs 1,024 x 44.
//
// Invariants: entries in lists plus those free are the pool; a QP is at most once
// in the queue; at most one slice is being sent, and a QP's next job is not begun
// before; results of a QP come in the order of its atomics, at most one for each
// READ or atomic that it may have outstanding, before its purge and, those of its
// next life, after. Nothing here
// waits for what waits for it: a full pool holds back Jobs, never AtomicRes.
package responder
