// Package abi is the contract between driver and device: the map of BAR0, the
// registers and counters in it, and every structure that the two exchange
// through host memory. Each is described once, as a Go struct or a table with
// its documentation beside it; docs/registers.md and include/rnic_abi.h are
// generated from these descriptions (go generate ./abi).
//
//	BAR0, 2 MiB
//	0x000000  global registers      32 bit each
//	0x001000  counters              64 bit each
//	0x002000  MSI-X table           16 vectors of 16 bytes
//	0x003000  MSI-X pending bits
//	0x100000  doorbell page 0       0x000 doorbell, 0x800 pushed WQE
//	0x101000  doorbell page 1       ... up to page 255
//
//	host memory, all rings a power of two of entries, contiguous in bus address space
//	send queue        units of 64 B       driver -> device, announced by doorbell
//	receive queue     stride of the QP    driver -> device, announced by doorbell
//	  shared          stride of the SRQ   a list in a ring: see RWQEControl
//	completion queue  CQEs of 64 B        device -> driver, told by phase bit
//	event queue       events of 32 B      device -> driver, told by phase bit
//	admin ring        commands of 64 B    driver -> device, ADMIN_DOORBELL
//	admin completions of 32 B             device -> driver, told by phase bit
//
// # Conventions
//
//   - All structures are little-endian; bit 0 is the least significant bit of
//     byte 0. Immediates, keys and addresses are numbers; the wire's byte order
//     is not the driver's concern. MAC addresses and GIDs are byte arrays in
//     the order of the wire.
//   - Reserved fields are written as 0 and ignored when read, so that a later
//     minor version can use them.
//   - Indices are free running, 16 bits, and count units (send queue) or entries
//     (all others). A ring has at most 2^15, so that a full ring and an empty
//     one differ. The slot is the index modulo the size: see RingSlot.
//   - The phase bit that the device writes is 1 in the first pass over a ring,
//     0 in the second, and so on: see RingPhase.
//   - Object numbers (QPN, CQN, EQN, key index) are chosen by the driver.
//
// # Events of completion queues
//
// CQ_ARM asks for one event: for the next CQE beyond its index, at once if there is
// one; with SolicitedOnly for the next that is solicited or in error. An arm for
// solicited does not weaken one for any that still waits. An arm ends when its CQE
// is there; arms whose CQEs come before the event is written may share it.
//
// With a Period the event is held back from then on, until Count CQEs or more are
// written and not consumed (as far as the device was told), or until the period is
// over: after Period units at the least, and within one more unit unless the device
// is held up. What is consumed meanwhile does not call the event off. CQ_ERR is
// never held back. After MODIFY_CQ has made a period shorter, events come at once
// instead of late until the longer one is over.
//
// # Resizing a completion queue
//
// RESIZE_CQ gives a queue that is in use another ring, whose memory is zero. Indices
// go on counting. The completion's Result is the index X at which the device has
// changed over: CQEs before X are in the old ring, and are in memory by then; all
// others go to the new ring, in which X has slot 0 and phase 1. So the slot of index
// i is RingSlot(i-X), its phase RingPhase(i-X), with the new size. The driver goes on
// reading the old ring up to X, and may free it then. Nothing is copied, and
// doorbells and arms go on as before. CQEs that are not consumed count against the
// new size, wherever they are: with more of them the command is refused.
package abi

//go:generate go run ./gen
