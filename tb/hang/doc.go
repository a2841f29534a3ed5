// Package hang notices that a run does not go on, and says why.
//
//	Watch ── Run ──┬── ends as it would
//	               └── *Hang: which work request, who waits for whom down to the root,
//	                   the last packets of the QP, where to look in waves
//
// What is noticed, at barriers of the world and at deadlines, by contexts that are
// read and never by a cycle more or less:
//
//   - The oldest work request of a QP stays without progress for longer than its
//     retries allow (IBTA 9.7.6.1.3: an ACK timer expires within 4 T), or, with RNR
//     retries for ever, without another try. What the bench itself holds back, a host that stands still,
//     a frame or a completion that is late, is waited for.
//   - Nothing can happen in any kernel any more (hdl.WorldDeadlock).
//   - No QP has anything to do, nothing moves, and a thread waits for an interrupt.
//   - The cycle limit is reached while a work request is open.
//
// The chain begins with the work request: its contexts in qpc, retrans and
// wqe_sched, and the beats of its QP in streams, say which block has it. From there
// it goes by the table of what each block waits for: from a full port to the block
// behind it, from an answer that has not come to the block that owes it, until a
// block waits for nothing that is known. A block that comes again closes a circle: a
// deadlock among blocks.
//
// Waves runs the same once more and writes what happened around the moment when
// the progress ended.
package hang
