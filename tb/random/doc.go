// Package random is random traffic between two hosts, judged by a scoreboard: a
// seed stands for a whole run, of which everything is drawn and everything is
// checked.
//
//	seed ── Draw ── Scenario: sizes of the NIC, timing of the hosts, QPs, phases,
//	                          messages, their elements and bytes
//	            │
//	            └── Run: host a ═ wire ═ host b, both send and receive at once
//
//	a thread a QP that sends      waits for room, posts in batches
//	a thread a QP that receives   posts, tells the peer so (a credit by OOB)
//	a thread a CQ                 polls or waits, asks the Scoreboard
//	a coordinator a host          makes, connects, resets and destroys QPs
//
// Without retries no message may find its receive queue empty, nor the receive
// buffer of the NIC full: hence the credits, and a budget of bytes in flight where
// the host is slower than the wire.
//
// With Options.Loss frames are lost, changed, late, out of order or come twice, at a
// rate that is drawn, and the QPs retry. Some runs leave credits or budget out then.
// A pair that is not cut has all the retries that there are, and loses nothing by it.
// One that is cut may have few, or a peer that has gone long before: its sends may end
// for want of retries. Time runs 128 times faster for timers. A phase ends when nothing
// is on its way between the hosts any more.
//
// What is checked: every work request completes once, in order, with the right
// status and length; every byte of memory that a work request names is what it
// must be, all bytes around are untouched; and at the end of each phase that nothing
// is left behind. Package accept judges everything that the NICs send and complete
// by the specification, their counters and asynchronous events. With losses it
// learns of a frame when the NIC has judged whether there was room for it.
package random
