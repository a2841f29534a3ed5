// Package retrans holds the messages that were sent and are not done, in the order
// in which they were posted, and completes them (IBTA 9.9.2, 10.7).
//
//	Sent ───►┐        ┌───────┐         ┌────────────────┐
//	Ack ────►│        │ Lists │  first  │ Entries, Links │ ──► CQE
//	Event ──►├─ pick ►│ by QP ├─ entry ►│                │ ──► Retire, Free
//	Purge ──►│   t    └──┬────┘  t+1    └────────────────┘ t+2
//	walk ┌──►┘           │ a burst ended, or no room: the QP waits for its turn
//	     └───────────────┤
//	               alarm │▲ due
//	                  ┌──▼┴───┐
//	                  │ Timer │
//	                  └───────┘
//
// The outstanding table is a pool of entries that all QPs share, one a message;
// each QP has a linked list of them. An event only leaves in the list of its QP
// how far that is acknowledged and how it fails. Then entries end from the front,
// one a cycle, as long as the first one is done:
//
//   - Its last PSN is acknowledged: success, or the entry's own status if it
//     needed no answer.
//   - It needs no answer, and it is the first: its own status.
//   - It holds the PSN that failed: the status of the failure. All behind it are
//     flushed.
//   - The QP is flushed: WR_FLUSH_ERR. That lasts until Purge, for entries that
//     are pushed later too.
//
// Acknowledgements and responses come through scatter, behind the data that they
// bring: a READ or atomic whose last PSN is acknowledged is in memory. So what is
// known here lags behind qpc, and Retire tells how far it is.
//
// A completion is written if the message asked for one or did not succeed. A QP
// that has more entries to end than one burst queues up behind the others. While
// cq_writer takes no completions nothing ends, but all four inputs go on: no block
// ever waits for the host by way of this one.
//
// A Purge drops the list without completions, then sends its marker on behind the
// completions made before. An acknowledgement can still be on its way from scatter
// when its QP is purged; so those are ignored until a message comes.
//
// The ACK timer runs while a message waits for an answer. It starts with the
// first such message, and again with each acknowledgement that is progress, both
// counted from when that is at the head of its stream. It expires exactly then,
// unless other work holds it up for a few cycles; one of less than 11 cycles
// expires after 11. TIMEOUT is told once, and the timer waits for the answer
// of qpc. A restart hardly ever touches the timer: it moves the deadline in the
// list, and the alarm that was set before finds that out. So about one alarm a
// timeout and QP goes off, and nothing happens in between.
//
// Ports: Sent, Free, Ack, Event, Retire, CQE, Purge, Stats, all of Retrans.
//
// Latency in cycles: event to CQE, Retire and Free 2; a Sent that needs no answer
// to its CQE 2. Initiation interval: 1 cycle a Sent, an event and an entry that
// ends (Sent alone, or events of one port alone: 2); so 3 a message that is
// acknowledged by itself.
//
// Storage with 1,024 QPs and 1,024 entries: lists 1,024 x 314 bits, entries
// 1,024 x 81, links 1,024 x 57, spare 1,024 x 16, queue of QPs 1,024 x 24, timer
// 2,016 x 81.
//
// Invariants: entries in lists, plus those free, are the table; Sent never finds it
// full, since wqe_sched has as many credits as there are entries and Free returns
// them; a QP is at most once in the queue of those that wait; an armed QP has an
// alarm set at its deadline or earlier.
package retrans
