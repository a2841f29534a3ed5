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
// What is checked: every work request completes once, in order, with the right
// status and length; every byte of memory that a work request names is what it
// must be, all bytes around are untouched; and at the end of each phase that nothing
// is left behind. Package accept judges everything that the NICs send and complete
// by the specification, and their counters.
package random
