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
// Options.Control leaves payload out: what streams carry (port.head), and arrays in
// registers that are longer than a header. What is left are the handshakes and counts of
// all streams, registers (states, counters, PSNs, addresses), levels, accesses of RAMs and
// the rows, which name the packets: two changes of five, in a twelfth of the bytes of an FST.
//
// The profile Rich has the text of enums as string variables, and tables of enums as
// attributes; Portable keeps to what every reader of IEEE 1364 takes. Names are
// letters, digits and underscores, and unique. Strict and fast runs give the same
// bytes, as do a run of kernels in parallel and one after the other.
//
// # How it stays fast
//
// A kernel tells which modules, streams, levels and RAMs may have changed, and which words
// of a module's registers did. While it runs, only those are noted, as words on a tape. A
// goroutine of each kernel compares them with what the file shows last, and a word that
// differs gives its changes without a look at anything else, by time, in blocks that another
// goroutine merges in order of (time, kernel) and writes:
//
//	kernel A: Edge -> tape -> renderer -> block -+
//	          rows ---------------------> block -+-> merge by time -> VCD: file
//	kernel B: Edge -> tape -> renderer -> block -+                    FST: section -> compress -> file
//
// Tapes and blocks are recycled, so that a step allocates nothing; a kernel has four tapes of
// 320 KB and waits when all are full, so that a slow disk holds it up. A failing one ends the
// run with a Fault of "waves", and Close gives the cause.
//
// The blocks of a VCD are lines; those of an FST are records, which the merger sorts by
// variable into a section. A second goroutine compresses and writes a section while the
// next one is filled. A section has up to 8 MiB of changes, which takes up to 16 MiB and
// 64 bytes a variable; with two of them, and what is compressed, an FST holds 80 MB at
// most and mostly half of that, besides blocks of up to 256 MiB where one kernel lags far
// behind another.
//
// An FST begins with a head, the widths and the hierarchy, all of which are known before
// the run; sections follow, the first at once, in which all is x at the first instant, for no
// tool opens a file without any. Each is written as a block to be skipped, is then marked as
// valid, and then the head is told of it: at any time the file is one that can be read.
//
// # Measured
//
// A SEND of noise by two NICs, 12,000 variables, on two cores with nothing else on them: `rnic
// run FILE` with --vcd, --fst, --waves control; wall and processor time (user and system) in
// seconds, each the least of four runs or six, and to those without waves; sizes in MB. Of
// 30 MB, 727,898 cycles, and of 4 MB, 132,366:
//
//	                  wall        processor       size
//	30 MB none         1.34  1.0    1.66  1.0
//	      VCD          8.87  6.6   12.82  7.7   4592.6
//	      FST          4.29  3.2    7.94  4.8    531.9  1:8.6
//	      VCD, control 2.42  1.8    3.95  2.4    569.5
//	      FST, control 2.60  1.9    4.35  2.6     43.6  1:13
//	 4 MB none         0.19  1.0    0.23  1.0
//	      VCD          0.60  3.1    1.09  4.7    613.0
//	      FST          0.68  3.5    1.24  5.3     71.3  1:8.6
//	      VCD, control 0.39  2.0    0.64  2.8     75.9
//	      FST, control 0.42  2.2    0.70  3.0      6.4  1:12
//
// So a run with all waves takes 3 to 4 times as long as one without, and one without payload
// twice as long. The VCD of 4 MB is what a disk's cache takes at once; beyond, it is the disk
// that a VCD waits for. The views of a run, some 90 files for GTKWave and as many for Surfer,
// take 50 to 100 ms of processor time, half of it beside the run.
//
// `make bench-waves` measures both, with payload and without, against Verilator's and
// vcd2fst; bench/kernel/README.md has the table. `go test ./waves -bench .` times a ring of
// 32 modules that are always busy.
package waves
