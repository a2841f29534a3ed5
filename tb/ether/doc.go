// Package ether connects one simulated host to the world outside: what its NIC puts
// on the wire goes to a socket or a TAP device as Ethernet frames, and what comes
// from there arrives at the NIC.
//
//	lines ─► thread ─┬ driver ─ Bus ═PCIe═ rtl.NIC ─ Port ┊ Wire ── QEMU, TAP, …
//	      software ─┘                                    ┊
//	                                                     ┊
//	                                         recorded: frame or line, and its cycle
//
// # Simulated and real time
//
// The model is slower than what it models, the peer outside is not. [Station.Run]
// keeps simulated time from running ahead of real time: while the model rests, the
// next thing that is due in it, a timer perhaps, happens when as much real time has
// passed. While the model works, its clock falls behind, and what it fell behind is
// forgotten, not caught up: otherwise a timer would run out as soon as the model
// rests, with no time for the peer to answer. So a timer of the model never takes
// less real time than simulated time, and a slow peer is given what it would be
// given by hardware. Where that is not enough, TIME_UNIT stretches all timers.
// A timer of the peer must allow for the time that the model takes: some
// microseconds of real time a cycle in which all of it is busy.
//
// # The same run again
//
// What comes from outside, and the cycle in which it does, is all that is not
// determined by the configuration. It goes into a recording, and [Station.Replay]
// repeats the run to the bit, without peer or wire.
//
// # What is not the NIC's
//
// A host answers ARP, neighbour discovery and echo requests by its own software, so
// that others find the NIC's addresses. A second thread of the host does that. It has
// the device's raw QP, which gets every frame to the host, to all and to groups that is
// not RoCE, and sends its answers by it: they pass the NIC as everything else.
package ether
