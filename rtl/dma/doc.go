// Package dma turns reads and writes of host memory, of any length and
// alignment, into TLPs and back. It is the NIC's only way to the PCIe link.
//
//	Read.Req[c] ──► cut ──MRd──────────────────┐
//	                 │ tag                      ▼
//	Read.Data[c] ◄─ deliver ◄─ RAM ◄─ fill     Tx ──► Tx.Pcie
//	                                   ▲       ▲ ▲
//	Write[c].Req, .Data ──► realign ──MWr──────┘ │
//	Tx.Done[c] ◄─ when its last TLP is out       │
//	Tx.MmioCpl ──CplD────────────────────────────┘
//	Rx.Mmio ◄──MRd, MWr── Rx ◄── Rx.Pcie
//	                      └─lines─► fill
//
// Reads. A request is cut so that each TLP lies in one page, asks for at most
// MaxReadRequest bytes and touches at most MaxReadRequest/64 lines: the aligned
// 64-byte pieces of host memory. A TLP takes a tag; the tag owns as many lines of
// the reorder RAM, so there is room for whatever comes back before anything is
// asked for. Completions end at multiples of 64 (RCB), so each line is written
// once and whole. deliver reads two adjacent lines from the two banks in one
// cycle and shifts them into a beat, which makes any alignment run at full rate.
// It starts on a TLP before all of it has come.
//
// Writes. A request is cut at multiples of MaxPayload, its bytes shifted to lane
// 0 of each TLP, and a TLP is offered to Tx when it is whole, so that a slow
// client never holds the link.
//
// Order. Tx is one stream: writes, reads and completions of MMIO reads leave in
// the order in which they enter it, which is more than PCIe asks for (2.4). A
// WriteDone says that the write is in it: whatever the client starts then is
// behind. Requests of one client keep their order; those of different clients
// have none but this.
//
// Errors. A completion with an error status ends its TLP, a poisoned one spoils
// it, a missing one ends it after Timeout/2 to Timeout cycles; each sets Err on
// the last beat of the request, which still has all its beats. A tag that timed
// out is not used again before its completion has come late, or 4 to 8 times
// Timeout has passed. A completion that fits no outstanding read exactly in tag,
// address and byte count is counted and ignored. A request of no bytes, or beyond
// the limits of package port, is a mistake of the client and a Fault.
//
// Latency in cycles, from the cycle that sees the request (or beat) to the one
// that sees the result: read request to TLP 2, completion to client 4, write to
// TLP 3 (4 if its bytes lie in two beats), MMIO either way 1 through Rx and Tx.
// Initiation interval: 1 cycle for a read of up to 64 bytes, 1 for a write in one
// beat, 2 in two; steady rate one beat of 64 bytes a cycle each way.
//
// Invariants: a tag is free, or held by exactly one TLP from its issue until
// deliver has read its last line; every line that comes is taken at once; the
// clients take their answers and MinTags is more than they can hold while they
// wait for another, so nothing here waits for anything but the link.
package dma
