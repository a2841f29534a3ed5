// Package host models the machine that the NIC is plugged into: its memory, its
// root complex, and what a driver thread can do with both.
//
//	thread ─Bus─► MMIO ──posted queue──────────────┐
//	   ▲  │                                        ▼
//	   │  └──ReadMem, WriteMem──► Memory      ┌► downlink ──► ToNIC
//	   │                           ▲   │      │ 63 B a cycle
//	   │  WaitIRQ                  │   └─completions, split and mixed by seed
//	   └── vectors ◄──MSI-X── landing ◄─250 ns─ uplink ◄── FromNIC
//
// Order is that of PCIe (Base Specification 3.1, 2.4). What the NIC sends lands in
// the order in which it was sent: a write is in memory before any later write,
// interrupt, read or MMIO completion does anything. Downwards MMIO writes and
// reads keep their order, and no completion passes an MMIO write that the CPU had
// posted when the read reached memory; completions of different reads come in any order, those of one read
// by address.
//
// The root complex also checks the NIC: a TLP that the specification or the
// configured limits forbid (across 4 KiB, too long, a tag in use, a beat out of
// place) ends the run with a Fault.
//
// Time is in picoseconds at the Bus and in cycles inside. A link is a counter of
// bytes, so that TLPs start in the cycle in which the one before ends.
package host
