// Package scenario runs a file that says what two hosts do, what goes wrong on the
// way, and what must come of it.
//
//	file.yaml ──Read──► Scenario ──Run──► Report
//	              │                 ├ tb.Bench: drivers, NICs, wire
//	              │                 ├ tb/fault: what goes wrong
//	              └ Errors          └ tb/accept: the acceptor judges both NICs as well
//	                file:line:column: reason
//
// The language is a set of tables (keys_*.go): for each mapping its keys, with what
// they take, their defaults and what reads them. Reference makes the documentation of
// the same tables.
//
// A run has five parts: the hosts open their devices and make what the file names; the
// QPs are connected; from time 0 on, the work is posted, a thread for each queue, and
// a thread for each host polls; when all that was expected has come and the wire has
// been quiet for a while, what is left is looked at; then everything is destroyed, and
// both hosts must be at rest.
//
// What a file does not mention is judged too: completions, asynchronous events and
// counters of errors that it does not expect must not be there, and a fault with a
// number must strike.
package scenario
