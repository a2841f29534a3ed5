// Package rqfetch brings receive WQEs from host memory before they are needed, and
// the send WQEs that say where the data of responses goes. A stream of small SENDs
// takes one receive WQE a packet, far faster than a read over PCIe answers, so
// entries come by the line of 512 bytes, and the line after the present one ahead of
// time. A send WQE is asked for when its request leaves, and is here when the
// response comes.
//
//	wqe_sched ──Ahead─┐
//	         Get      ▼   want              WQE
//	scatter ─────► Lookup ─────────► Store ─────► scatter
//	               tags │ ▲ answered   ▲  lines
//	           Read ▼   │ └─filled─────┤ Data
//	              dma   └──flight──────┘ dma
//
// Lookup compares a request with the tags of all lines, asks dma for what is
// missing, and passes the request on; Store holds the bytes, and answers when
// they are there. So misses of several QPs overlap, and answers keep their order.
//
// A line holds the entries of one aligned 512-byte block of a receive queue, or the
// whole ring if that is smaller. Its tag is the QP and the 16-bit index of its first
// entry, not the slot: an entry that the driver has reused has another index and
// so is read anew. Only entries that are posted are read; a line that was read in
// part is completed once more are posted. The line after it is read ahead as long as that
// drives out no other that is in use: see look.
//
// Or it holds one send WQE, up to 8 units, whose tag is the QP and the index of its
// first unit. Of one that was not asked for ahead, or was displaced since, as many
// units are read as 16 elements take. It is dropped with the last response. A READ that
// is asked for again has the same unit and needs no new Ahead: its line is there still,
// or the WQE is read again. One whose last response never comes leaves a line that others
// may displace, until its QP's marker.
//
// The entries of a shared receive queue are a list: each names the slot of the next, which
// is known when the entry has been read and not before. Lookup keeps for each queue the
// number of the next entry to be taken and its slot, and for each QP the slot of the entry
// that it took last. A line holds a block of slots, with the number of the last entry that
// was posted when it was read: what it has of later ones is void, be it whole or not. Store
// tells Lookup the links of what has come, so Lookup follows the list without waiting for
// answers. The line of the next entry is read as soon as its slot is known, and as long as
// entries lie behind each other up to 8 lines beyond. What was read before the entry asked
// for was posted, or could not be read ahead, is read again once. If the entry then is
// another, or can't be read, the list can't be followed: what is taken of it later is
// refused (WQE_READ, NoSlot) until the queue's next life.
//
// Latency: 3 cycles from request to answer on a hit, one more for each 128 bytes of a
// WQE with more than 7 elements (6 of a send WQE); on a miss the read's plus 3, plus 4
// for a send WQE. Initiation interval: 1 cycle, 2 when a prefetch starts. Of a shared
// queue: 1 cycle more to take an entry, and one more if the request before was of another
// queue or, not taking one, of another QP; initiation interval 2 (3; else 1 or 2) cycles.
// In order that is 2.1 cycles an entry of up to 64 bytes, 4 of 128, 14 of 512, if a read
// takes 125. In any order it is a read of 512 bytes in its full latency for each entry that
// no line holds: 19 cycles an entry if all of the ring is in lines and most of it posted,
// 123 (the read's and 12) if the ring is much larger. A shared queue's request that waits
// for its line holds up those behind it.
//
// Invariants:
//   - at most two lines of a QP's receive queue are valid: that of the last request
//     and the next; entries that are used up unread (Skip) count as requested;
//   - at most one valid line has a given block of a shared queue, and what a QP holds lies
//     in it as it was posted, or not at all;
//   - a line is not reused while a read or an answer of it is under way, so data
//     never lands in another's line, and read data always has room;
//   - at most one read of a line is under way, of a send WQE that goes on at the
//     ring's beginning two;
//   - after the answer to a Purge nothing of the QP's receive queue is read. What
//     Ahead asks for of an older life may come later: the next life's Ahead for the
//     same unit replaces it.
package rqfetch

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// LineBytes is the size of a line.
const LineBytes = 512

const (
	wordsPerLine = LineBytes / port.BeatBytes
	minLogStride = 4 // a control segment
	maxLogStride = 9 // a line
	maxLines     = 64
	maxGets      = 48
)

// Params are the sizes.
type Params struct {
	Lines  int // 512-byte lines, 2 to 64; 0: 64
	Gets   int // requests between Lookup and Store, 2 to 48; 0: 48
	LogQP  int // log2 of the QPs; 0: 10
	LogSRQ int // log2 of the shared receive queues; 0: 6
}

// Fetch is the block: Lookup has the ports Get, Ahead and Read, Store has Data and
// WQE.
type Fetch struct {
	Lookup Lookup
	Store  Store
}

// New makes the block.
func New(p Params) *Fetch {
	lines, gets := maxLines, maxGets
	if p.Lines != 0 {
		lines = min(max(p.Lines, 2), maxLines)
	}
	if p.Gets != 0 {
		gets = min(max(p.Gets, 2), maxGets)
	}
	hdl.Default(&p.LogQP, 10)
	hdl.Default(&p.LogSRQ, 6)
	f := &Fetch{}
	f.Lookup.lines = lines
	f.Store.Even.Init(lines*wordsPerLine/2, hdl.ReadFirst)
	f.Store.Odd.Init(lines*wordsPerLine/2, hdl.ReadFirst)
	f.Lookup.Lists.Init(1<<p.LogSRQ, hdl.ReadFirst)
	f.Lookup.Held.Init(1<<p.LogQP, hdl.ReadFirst)
	f.Lookup.Links.Init(lines*wordsPerLine, hdl.WriteFirst)
	hdl.Connect(&f.Lookup.Want, &f.Store.Want, gets)
	hdl.Connect(&f.Lookup.Flight, &f.Store.Flight, lines)
	hdl.Connect(&f.Store.Filled, &f.Lookup.Filled, 2)
	hdl.Connect(&f.Store.Links, &f.Lookup.Link, 2)
	hdl.Connect(&f.Store.Answered, &f.Lookup.Answered, 2)
	return f
}

// want is a request on its way to Store.
type want struct {
	Line      uint8
	Gen       bool   // use of the line
	SQ        bool   // the line holds a send WQE
	Idx       uint16 // asked for; the entry's control segment must name it
	Slot      uint16 // of a shared queue: for the answer
	Entry     uint8  // in the line
	Need      uint8  // entries of the line that have to be there
	LogStride uint8
	Vendor    abi.VendorErr // refused without a look at the entry
	NoLine    bool          // no line is held
	Mark      bool          // Purge: comes behind the reads before it
}

// flight is a read on its way: entries From up to To, from lane Shift of word Word
// on. It may also be a marker behind the reads so far.
type flight struct {
	Mark     bool
	Line     uint8
	Gen      bool
	Word     uint8
	Shift    uint8
	From, To uint8
	More     bool // another read of the line follows
	Shared   bool // of a shared queue: Lookup wants to know the links
}

// filled says that what was asked for of a line has come.
type filled struct {
	Line uint8
	Err  bool // it could not be read
}

// answered says that a request no longer needs its line.
type answered struct {
	Line uint8
}
