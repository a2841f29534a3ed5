// Package agent holds the generic ends of a bench: Source drives a stream from a
// queue, Sink takes one and records it. Both can throttle themselves with ratios
// that are redrawn now and then, which reaches the full and the empty corners
// that a constant ratio never sees (the practice of cocotb's AXI stream models).
package agent
