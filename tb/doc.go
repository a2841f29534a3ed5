// Package tb is the bench: two hosts, each with memory, a driver and a NIC, and
// the wire between them.
//
//	threads ─ driver ─ Bus ─ host.RootComplex ═PCIe═ rtl.NIC ─ wire ─ rtl.NIC ═ … host b
//
// Each host is a kernel of its own and runs in parallel with the other; what they
// exchange, frames and out-of-band messages, takes at least the link's latency.
// Threads of different hosts talk only through OOB.
//
// The bench watches without taking part: every frame of each port goes to the
// Taps, and the end of a run is checked for anything left behind.
package tb
