// Package e2e drives two hosts through their drivers by scripts that read top
// down: each call lets the bench run until the host has done what was asked, so
// that a test says in order what one host does, what the wire does to it, and what
// the other must see. The tests beside it follow the tables of outcomes of the
// verbs and of the transport, fault by fault; FAULTS.md lists those that other
// implementations had.
//
//	test ── Scene ─┬─ Side a ── thread, driver, buffers, what its port saw
//	               ├─ Side b
//	               └─ Pair: two Ends, connected QPs
//
// At its end each scene demands that nothing was left behind: no completion that
// the test did not ask for, no beat in a stream, no credit or tag abroad, guard
// bytes intact, and counters that agree with the frames on the wire.
package e2e
