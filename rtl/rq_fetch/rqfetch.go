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
// part is completed once more are posted.
//
// Or it holds one send WQE, up to 8 units, whose tag is the QP and the index of its
// first unit. Of one that was not asked for ahead, or was displaced since, as many
// units are read as 16 elements take. It is dropped with the last response. A READ that
// is asked for again has the same unit and needs no new Ahead: its line is there still,
// or the WQE is read again. One whose last response never comes leaves a line that others
// may displace, until its QP's marker.
//
// Latency: 3 cycles from request to answer on a hit, one more for each 128 bytes of a
// WQE with more than 7 elements (6 of a send WQE); on a miss the read's plus 3, plus 4
// for a send WQE. Initiation interval: 1 cycle, 2 when a prefetch starts.
//
// Invariants:
//   - at most two lines of a QP's receive queue are valid: that of the last request
//     and the next; entries that are used up unread (Skip) count as requested;
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
	Lines int // 512-byte lines, 2 to 64; 0: 64
	Gets  int // requests between Lookup and Store, 2 to 48; 0: 48
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
	f := &Fetch{}
	f.Lookup.lines = lines
	f.Store.Even.Init(lines*wordsPerLine/2, hdl.ReadFirst)
	f.Store.Odd.Init(lines*wordsPerLine/2, hdl.ReadFirst)
	hdl.Connect(&f.Lookup.Want, &f.Store.Want, gets)
	hdl.Connect(&f.Lookup.Flight, &f.Store.Flight, lines)
	hdl.Connect(&f.Store.Filled, &f.Lookup.Filled, 2)
	hdl.Connect(&f.Store.Answered, &f.Lookup.Answered, 2)
	return f
}

// want is a request on its way to Store.
type want struct {
	Line      uint8
	Gen       bool   // use of the line
	SQ        bool   // the line holds a send WQE
	Idx       uint16 // asked for; the entry's control segment must name it
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
}

// filled says that what was asked for of a line has come.
type filled struct {
	Line uint8
}

// answered says that a request no longer needs its line.
type answered struct {
	Line uint8
}
