// Package cqwriter writes completions, events and interrupts. It alone holds
// completion and event queues.
//
//	Admin ──┐                 ┌───────┐ CQE    ┌───────┐ event
//	Bell ───┤  pick           │ CQs   ├──────┐ │ EQs   ├──────┐
//	Send ───┼─►read CQ or EQ─►│execute│      │ │ event │      │
//	Recv ───┤                 └──┬────┘ owed │ └──┬────┘      ▼
//	Async ──┤                    └──────────┼───►│      Write, WriteData ──► dma
//	sweep ──┤                               │    ▼             ▲
//	wheel ──┤                               │    │             │
//	last ───┘                               │    │             │
//	                                        │  Raise ──►Msix, MsixRes
//	                                  Fatal ▼    ▲ MsixFire
//
// One operation is executed at a time, picked round robin, so that Send and Recv
// take turns. An operation stays at the head of its port until it is done. When
// it leaves a CQ that owes an event, the event queue of that CQ is read and the
// event written right behind.
//
// All writes go through one stream in the order in which they are made: a CQE,
// then its event, then the interrupt for it. The interrupt is asked from csr only
// after its event, as a bit a vector, so interrupts of one vector may collapse.
//
// Arming. CQ_ARM asks for one event for the next CQE beyond its index: at once if
// there is one. Armed for solicited, the CQ waits for a CQE that is solicited or
// in error; that never weakens an arm for any. An EQ doorbell asks for one
// interrupt for the next event beyond its index in the same way.
//
// Moderation. A CQ with a period holds the event back that an arm has called for,
// until enough CQEs are not consumed or the period is over. The timers are a wheel of
// 4,096 slots, one for each unit of 256 cycles, with a list of CQs in each: a CQ is
// put in when it begins to hold, and looked at when its slot's time comes, also if its
// event came earlier. So as many CQs may hold events as there are, each costs one
// cycle more when it begins and one when it ends, and none in between.
//
// Resizing. CQ_RESIZE takes another ring between two CQEs; indices go on, and the one
// of the first CQE in it is answered. What is not consumed counts against its size,
// and must fit. Doorbells that came before the command are executed before it.
//
// Full event queue. A completion event is never lost: the CQ keeps owing it, and
// after a doorbell of the event queue a sweep over all CQs pays what is owed.
// Notifications of one CQ may collapse into one. Asynchronous events wait at the
// port while event queue 0 is full.
//
// Last WQE of a QP with a shared receive queue. Recv asks for the event behind the QP's
// completions; it comes behind them in memory too. Only it may wait for event queue 0,
// in Order, while Recv goes on. When the QP's life ends first, it is not told.
//
// Full completion queue. The CQ is dead from then on: a CQ_ERR event tells once,
// its CQEs are lost and counted, and each QP that has one is reported on Fatal.
//
// Purge. The marker is answered on Purged when all writes made before it have
// entered the posted queue; so are answers to admin, which may let the driver
// free a ring.
//
// Latency in cycles: CQE request to write request 2, event 1 behind it, interrupt
// 4 behind that (csr answers in 1). Initiation interval over both ports: 1 a CQE,
// 2 with an event, 2 also when it begins to be held back; for a port alone 2.
//
// Invariants: the consumer index of a queue never passes its producer index; a
// slot is written again only after the driver has consumed it; nothing here waits
// for the driver but Async; a doorbell that means nothing is counted and changes
// nothing.
package cqwriter
