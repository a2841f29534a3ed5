// Package pcie holds the transaction layer packets (TLPs) that cross the link
// between a NIC and its host, the arithmetic of cutting transfers into them, the
// configuration space, and the Endpoint interface.
//
//	host ──MWr, MRd to a BAR, CplD──► endpoint
//	host ◄──MWr, MRd (DMA), MSI-X as MWr, CplD of BAR reads── endpoint
//
// Only what such a device needs is here: memory requests with 64-bit addresses
// (4 DW headers), completions, 8-bit tags, one traffic class. A DW is 4 bytes.
//
// Payload moves as Beats of 64 bytes. It is packed: byte 0 of the first beat is
// the byte at the request's first enabled address, not the first DW lane. The
// byte enables in the header say which bytes of the first and last DW those are.
//
// The package knows no memory and no clock: everything is a pure function or a
// flat struct. Source: PCI Express Base Specification 3.1, chapters 2.2
// (formats), 2.3.1 (completions), 2.4 (ordering), 7 (configuration space).
package pcie
