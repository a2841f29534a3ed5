// Package wqesched decides which QP sends next, brings its WQEs on chip, and cuts
// them into packets.
//
//	Activate ──► Pick ──Get──► (qpc) ──Ctx──► Fetch ──service──► Exec ──► Sent
//	Free, Purge ─►│ ──grant, token, purge──►    │ ──WQE──────►    │ ──► ReadPost, Ahead
//	              │ ◄──ready─────────────────   │                 │ ──► Pkt, Piece
//	              │                             │                 │ ──► Put
//	              │                             │                 │ ◄─► MemOp, MemRes
//	              │        Push, Data, Stale ──►│──► Read, newest │
//	              │ ◄──done─────────────────────│─────────────────┤
//	              │                             │ ◄──release──────┘
//
// Pick holds a record a QP and the queue of QPs that want a service, at most one
// entry each. A service is what a QP may do in one turn: PacketBudget packets,
// MessageBudget WQEs. Services of several QPs are open at once, one of a QP: an
// Activate that comes meanwhile leads to another. Before a service is opened,
// entries of the shared outstanding table are set aside for it; a QP that found
// none waits in a queue of its own for some to come back, while messages that
// have their entry go on. An Activate leads to a service for it too, which gets no
// entries: it may have to send again what the entries are of that it waits for.
//
// Fetch holds WQEs in lines of 8 units. A unit's place is its index modulo 64: one of 8
// lines, and the place in it. They are the one being executed, the one read ahead, and
// those before that stay for a rewind. A line comes from a shared pool
// and belongs to its QP before anything is read into it. What a line holds is
// [Lo, Hi); a line that the producer index has outgrown is read on from Hi. A
// pushed unit goes to the same place. When all lines are taken and a QP waits,
// lines of QPs without a service are taken away, but never one that arrived for a
// QP and was not used yet; so each QP comes round. A WQE over the end of a block
// whose second line can't be had lets the next block into the same line, before
// its own units: nobody holds a line while waiting for one. A WQE has 8 units at
// most, of which 5 mean anything: 16 elements. They are read one a cycle.
// A service whose first WQE is not there waits for it open, if none does so yet and
// nobody can want for the entries that it was given; else it is closed, and opened
// again when the line has come. The line of a QP that found no entry in the
// outstanding table is kept for it, but for one slot that goes round: an entry that
// comes back finds a QP that can use it.
// A service may begin anywhere, before or behind the last one: lines of other blocks
// are read anew, and what is on its way is waited for. The line with the unit that was
// executed last stays, of as many QPs as a quarter of the pool has lines, until
// somebody needs it: it saves a rewind the read of its WQE. As many lines before it stay,
// 6 a QP, as long as another quarter of the pool is free: so the last 48 units are there.
// Who finds no line takes the oldest of his own that stay, then those of others. A unit
// is found by all of its index, and lines further behind are given up when a service
// ends, long before the index comes again.
//
// Exec counts the window, sends packets and pieces, and closes the service. A WQE
// stays at the head of its stream, and a message is where its byte offset says:
// any later service can go on from there.
//
// Each WQE makes one entry in the outstanding table, in posting order, whatever
// becomes of it. NOP, flushed and faulty WQEs are entries that need no answer. WQEs
// from ExecIdx up to Entered have theirs: the message in progress and, after a rewind,
// all that are sent again. Nothing is told or counted a second time, and of what is
// said below only the window and the budgets hold these. What needs no answer is
// passed over; a READ asks for the responses from NextPSN on. A faulty WQE, behind
// which nothing is entered, ends the service with Fault as it did the first time. All
// packets of a service have the Gen of its context.
//
// When a QP is rewound (Stale), its service from before ends at once: Fetch hands no more
// WQEs on, and calls one back that waits for its line open; Exec finishes the packet that
// it is at, and its Put says what was entered so far. A QP that is parked is served
// again. All this is only for speed: of the newest Stale alone, and no service has to end
// early.
//
// Payload is read from host memory again, and WQEs that are not on chip any more. What
// the host has changed is sent as it is now, as long as units and PSNs come out at Entered and EnteredPSN.
// Otherwise the message fails: a packet is described that can't be read, at a PSN that
// was entered, or the service ends with Fault, when none is left.
//
// A READ or atomic is one request packet, and counts as one towards the budget. It
// takes as many PSNs as it has responses, and qpc knows them (ReadPost) before the
// packet is described, as rq_fetch knows its WQE (Ahead). The window counts those
// PSNs, but a READ starts as soon as anything of the window is left: its responses
// take no room of the peer's, one longer than the window has to start some time, and
// two of 64 KiB should overlap. Then the window stays shut until the responses have
// come that it was overdrawn for. Only a READ of nearly 2^23 PSNs waits until
// nothing is in flight, since no more PSNs than that may be.
//
// What stops the queue before a WQE, so that nothing overtakes: its fence, as long
// as a READ or atomic is outstanding; the initiator depth, for a READ or atomic; the
// peer's credits, for what takes a receive WQE there. The service ends, and qpc
// activates the QP when one of these changes, also if that is while the service is
// still open. A QP with no initiator depth at all has its READ or atomic fail
// instead: none could ever start.
//
// UC, UD and raw QPs have the operations of their transport; others are faults, as are a
// datagram over the MTU and a frame that is not of 14 to 4096 bytes. Each datagram and
// frame is one packet; in place of the remote address the WQE of a datagram has the
// address handle. None of their packets asks for an answer: Unacked says that what has
// left is done, and there is no window but that of 2^23 PSNs. So a UC message of nearly
// that many starts only when nothing is in flight.
//
// BIND_MW, LOCAL_INV and FAST_REG are executed by mpt, when all WQEs before them are done:
// nothing of the QP is in flight and no READ is outstanding. Else the service ends, and
// qpc activates the QP when that is so. The room for the entry is there before mpt is
// asked; its answer is awaited with the service open, and nobody else is served
// meanwhile: the entries come in order, and what is behind it finds the key as it is to
// be. That takes as long as accesses by a key that it ended are under way: packets that
// were described before go on, and mpt says why they never wait for this block. One that is refused is an entry in error, signalled or not, and ends the service
// with Fault. Since nothing was in flight none is ever executed again. Only what mpt
// can't judge makes one malformed: its units, how many pages and of what size.
//
// A malformed WQE, an unknown operation or an unreadable ring closes the service
// with Fault. When WQEs are flushed, a unit that can't be told to be part of a WQE
// is flushed as a WQE of its own: each WR completes, whatever the ring holds.
// Flushing begins at Entered.
//
// Ports: Pick.{Activate, Purge, Free, Get}, Fetch.{Ctx, Push, Data, Stale, Read, Stats},
// Exec.{Sent, ReadPost, Ahead, Pkt, Piece, Put, MemOp, MemPages, MemRes}. Connect Ctx with a depth of at least
// Params.CtxDepth: that is the room that answers are promised. Push is held in its
// stream until its doorbell has come by; a depth of 2 works, more lets more
// doorbells overlap. Stale is always taken. qpc must take a Put before a Get that it has not taken yet. Sent,
// ReadPost and Ahead are put in the cycle of the message's first Pkt, and must be
// taken without waiting for anything that comes later; so must MemOp and MemPages, and
// MemRes comes for each MemOp.
//
// Latency: Activate to Get 2 cycles, Ctx to Pkt 4; so a pushed WQE takes 6 and what
// qpc needs. Last beat of a read to Pkt 5, if the service is open. Initiation
// interval: 3 cycles a service of one WQE, 1 cycle a further WQE, 1 cycle a packet
// or piece, 1 cycle a further unit of a WQE, 2 cycles, those of its pages and what mpt needs a
// memory operation. One QP alone has two blocks in 1 round
// trip of DMA; one, if its WQEs lie over the ends of blocks. Stale to Put 5, if the service is between
// packets and nobody else's is before it.
//
// Invariants: one service a QP; lines taken plus lines free is the pool; entries
// set aside, outstanding and free are the table; Sent never waits for room there.
package wqesched
