// Package retrans holds the messages that were sent and are not done, in the order
// in which they were posted, and completes them, or says from where to send again
// (IBTA 9.9.2, 9.7.5, 10.7).
//
//	Sent ───►┐        ┌───────┐         ┌────────────────┐
//	Ack ────►│        │ Lists │  first  │ Entries, Links │ ──► CQE
//	Event ──►├─ pick ►│ by QP ├─ entry ►│                │ ──► Retire, Free
//	Purge ──►│   t    └─┬───┬─┘  t+1    └────────────────┘ t+2
//	walk ┌──►│          │   │ a burst ended, no room, or an answer: the QP waits for its turn
//	     │   │ expired, │   │
//	     └───┼─ gone ───┼───┘
//	         │  ┌───────▼ tell
//	         └──┤ Clock │◄── Left
//	            └───────┘
//
// The outstanding table is a pool of entries that all QPs share, one a message;
// each QP has a linked list of them. An event only leaves in the list of its QP
// how far that is acknowledged and how it fails. Then entries end from the front,
// one a cycle, as long as the first one is done:
//
//   - Its last PSN is acknowledged, or where nobody answers (UC, UD, raw) has left:
//     success, or the entry's own status if it needed no answer.
//   - It needs no answer, and it is the first: its own status.
//   - It holds the PSN that failed: the status of the failure. All behind it are
//     flushed.
//   - The QP is flushed: WR_FLUSH_ERR. That lasts until Purge, for entries that
//     are pushed later too; but one of a newer generation (Sent.Gen, modulo 2^8) begins
//     anew: the send queue of a UC or UD QP went from SQE to RTS, when all had ended. A
//     failure of an older one that is told later does not count.
//
// Acknowledgements and responses come through scatter, behind the data that they
// bring: a READ or atomic whose last PSN is acknowledged is in memory. So what is
// known here lags behind qpc, and Retire tells how far it is.
//
// A completion is written if the message asked for one or did not succeed. A QP
// that has more entries to end than one burst queues up behind the others. While
// cq_writer takes no completions nothing ends, but all inputs go on: no block
// ever waits for the host by way of this one.
//
// What leaves unanswered is told by Left with Unacked, and takes the place of
// acknowledgements. qpc hears of it with each message that ends, and when the upper
// 8 bits of the PSN change, so that it knows Una to 2^16 PSNs in a long message.
// Several packets of a QP that leave while the lists are busy are told at once.
//
// A Purge drops the list without completions, then sends its marker on behind the
// completions made before. An acknowledgement can still be on its way from scatter
// when its QP is purged; so those are ignored until a message comes, as is what has
// left. No request of the QP may leave once the marker has come.
//
// # Rewinds
//
// An event with Rewind says that the QP is to send again from At on, and asks which
// message that is. Nothing is kept of the messages but their entries: WQE and payload
// are read again by wqe_sched, without another Sent. The answer is one REWIND, when
// all messages before At have ended, their CQEs made, and Wait is over. What is then
// oldest is of the wire, since messages that need no answer end when they are
// first. Its first PSN is the one after the last message of the wire that ended.
//
// Events come by two ports, so the newer of two rewinds is told by Gen, modulo 2^8,
// from 0 at power-up and through all lives of a QP number. The older one is forgotten.
// So is one that meets a failure or a Purge. Progress does not cut a wait short.
//
// # ACK timer
//
// It runs while an answer to a request that has left is outstanding: from when that
// was at the head of Left, and anew from each acknowledgement that is progress. A
// failure leaves it running if it lies further on, up to there: requests before
// it may have been dropped. From an event with Rewind until its answer it is off, and
// requests that leave meanwhile are from before. Then those that leave again count.
//
// It expires Arm cycles later, exactly (TIMEOUT is put in that cycle), unless other
// work holds it up for a few cycles; one of less than 13 cycles expires after 13. Arm
// is 17/16 of T, so from 16 cycles on that is within [T, 9T/8]. A Left that comes before
// its Sent is at the head counts from 2 cycles after that. TIMEOUT is told once, and
// the timer waits for qpc's next event of the QP. One that progress has overtaken is not told.
// Where nobody answers there is none: Arm is 0.
//
// Ports: Sent, Free, Ack, Event, Retire, CQE, Purge, all of Retrans;
// Clock.Left, which never waits.
//
// Latency in cycles: event to CQE, Retire and Free 2; a Sent that needs no answer
// to its CQE 2; Left with Unacked to CQE 4; event with Rewind to its answer 3, with
// Wait the wait, 13 at least, and 2, if no entry has to end first. Initiation interval:
// 1 cycle a Sent, an event and an entry that ends (Sent alone, or events of one port alone: 2); so 3 a message
// that is acknowledged, or leaves, by itself. Clock: 1 a request that leaves (2 if that has
// to wait for the lists), an event, and a Sent that finds its list empty.
//
// Storage with 1,024 QPs and 1,024 entries: lists 1,024 x 225 bits, entries
// 1,024 x 81, links 1,024 x 57, spare 1,024 x 16, queue of QPs 1,024 x 24; records of
// Clock 1,024 x 281, its queue 1,024 x 24; timer 2,016 x 81.
//
// Invariants: entries in lists, plus those free, are the table; Sent never finds it
// full, since wqe_sched has as many credits as there are entries and Free returns
// them; a QP is at most once in the queue of those that wait; a rewind has one answer
// or none; an armed QP has an alarm set at its deadline or earlier.
package retrans
