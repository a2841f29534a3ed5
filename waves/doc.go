// Package waves writes what a person opens after a run: the waveforms of the whole
// design as an FST or a VCD, a GTKWave save file beside it, and the packets of each
// port as a pcapng file. All times are those of the simulation; the bytes depend on the
// run alone.
//
// # Waveforms
//
//	f, err := waves.CreateFST("run.fst", waves.Options{}, hostA, hostB) // or Create, for a VCD
//	...
//	runErr := world.Run(done, limit)
//	closeErr := f.Close() // on every path: after a Fault too
//
// Both take any number of kernels, alone or in one hdl.World. What it writes comes
// from hdl's list of signals: scopes are the hierarchy, and in them
//
//	clk, reset              of each kernel; reset is high in the first half of cycle 0
//	registers, levels       by their names; an enum also as text, state and state_name
//	port.valid .fire .count an In: a beat waits, a beat was taken, how many wait
//	port.head               an In: the oldest beat by fields, x while there is none
//	port.ready .fire        an Out: there is room, a beat was put
//	ram.port_0.addr .read .write   accesses, addr x without one; contents are not traced
//
// Cycle c lasts from c to c+1 periods and begins with a rising clock. State has the
// value that the rising edge gave it. What happens in a cycle (fire, read, write) is
// shown for the whole cycle, as a simulator of wires would. Where the kernel jumped
// over idle cycles there are no edges and clk is x.
//
// Both formats have the same variables with the same values at the same times. An FST
// is a ninth of the size or less, opens at once however long the run, has the names of
// enums in itself, and is there up to its last section if the process is killed. A VCD
// is text that every tool reads, and goes through a FIFO.
//
// A Row is a string among the variables that is no signal: what it shows is said by
// whoever watches the run, such as the name of the packet that is on a wire.
//
// Options.Control leaves payload out: arrays of more bytes than a header has, in beats
// and in registers. What is left are the states, counters, handshakes, addresses and the
// fields of heads: nine changes of ten, in a fifth of the bytes of an FST.
//
// The profile Rich has the text of enums as string variables, and tables of enums as
// attributes; Portable keeps to what every reader of IEEE 1364 takes. Names are
// letters, digits and underscores, and unique. Strict and fast runs give the same
// bytes, as do a run of kernels in parallel and one after the other.
//
// # How it stays fast
//
// A kernel tells which modules, streams, levels and RAMs may have changed; only those
// are compared with what the file shows last, a word of memory at a time. Each kernel renders its own changes, by
// time, into blocks that a goroutine merges in order of (time, kernel) and writes:
//
//	kernel A: Edge -> block -+
//	          rows -> block -+-> merge by time -> VCD: file
//	kernel B: Edge -> block -+                    FST: section -> compress -> file
//
// Blocks are recycled, so that a step allocates nothing. A slow disk holds the kernels
// up; a failing one ends the run with a Fault of "waves", and Close gives the cause.
//
// The blocks of a VCD are lines; those of an FST are records, which the merger sorts by
// variable into a section. A second goroutine compresses and writes a section while the
// next one is filled. A section has up to 8 MiB of changes, which takes up to 16 MiB and
// 64 bytes a variable; with two of them, and what is compressed, an FST holds 80 MB at
// most and mostly half of that, besides blocks of up to 256 MiB where one kernel lags far
// behind another.
//
// An FST begins with a head, the widths and the hierarchy, all of which are known before
// the run; sections follow. Each is written as a block to be skipped, is then marked as
// valid, and then the head is told of it: at any time the file is one that can be read.
//
// Measured on a ring of 32 modules that are always busy, 236 changes a cycle: 15 ns a
// change of a VCD, 64 million changes or 1.3 GB a second, on two processors. Digits and
// codes are appended as words of 8 bytes, which took a third off; a file whose window
// has passed costs nothing. On a disk, with others on the machine, 22 to 28 million
// changes a second go into a VCD and 27 to 39 million into an FST, which is a twelfth of
// the size; 21 and 26 ns of processor time a change. A transfer of 4 MB of noise by two
// NICs is 603 MB as a VCD and 70 MB as an FST; vcd2fst -4, in sections of 128 MB, makes
// 65 MB of the same. It takes 0.2 s of processor time without waves, 0.9 s with a VCD
// and 1.3 s with an FST; the VCD still has to reach the disk then. `make bench-waves`
// measures both, with payload and without, against Verilator's.
package waves
