// Command mutants proves that the bench sees what it is there to see: it puts small
// faults into the design, one at a time, and each must be caught.
//
//	faults.txt ── apply ──► one file of rtl, changed ── go build -overlay ──► a bench
//	                                                                            │
//	caught by random: seed 3: host_b: cycle 9201: ...  ◄── judges, one by one ──┘
//
// The tree is never touched: the compiler reads the changed file in place of the right
// one, so that several faults can be tried at once. The judges are random traffic with
// faults on the wire, in which the acceptor of package accept judges every packet,
// completion, byte and counter; then the tests of tb/e2e; then the scenario files. The
// first that fails has caught the fault. Tests of single blocks are no judges: a bench
// is to be trusted with a design that has none.
//
// A fault that no judge sees means that the bench does not look there. Then it is the
// bench that is to be mended, not the list.
package main
