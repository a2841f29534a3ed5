// Package nic is a design as large as a small NIC, written as any design on hdl,
// to measure the kernel with: 22 modules and 8 FIFOs, every boundary registered.
// Package verilog has the same machine, cycle for cycle.
//
//	                 +-> FIFO 0 -+
//	Source -> Demux -+->  ...   -+-> Arbiter -> Stage 0..7 -> Context -> Stage 8..15 -> CRC -> Sink
//	                 +-> FIFO 7 -+                             1024 x 256 bit
//
// A stream is a register slice of two places; those between the demultiplexer and
// the arbiter have 16 and are the FIFOs. A hop takes one cycle, Context two. Every
// block takes a beat of 512 bits a cycle. The source leaves out an eighth of the
// cycles, the sink refuses a quarter, so that all streams run full, run empty and stall.
//
// Invariants: beats leave in the order in which the arbiter chose them; none is
// lost; Sink.Check depends on every bit of every beat, and on their order.
package nic
