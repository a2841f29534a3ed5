// Package accept is the reference: an acceptor of what a NIC does, written from the
// specification alone. It computes nothing in advance. It is told what the NIC was
// asked for and what arrived at its port, in observed order, and judges each thing
// that the NIC puts out: it must be legal at that point, and nothing may stay missing
// at the end.
//
//	inputs   Create Connect Connected Stop Stopped Drain Resume, PostSend PostRecv,
//	         Register Deregister, Frame (arrived), Overflow
//	outputs  Frame (sent), Complete, counters, events
//
// Of the design it shares the layouts of packages abi and roce. PSNs are counted in 64
// bits, so that nothing is compared modulo 2^24 but where a packet is taken apart; the
// tables of credits and of RNR timers are computed, and so is the ICRC.
//
// # Requester
//
// The packets that a queue of work requests makes are known: PSN, opcode and content
// of each follow from the posts. What the NIC sends is that sequence, a cursor that
// goes forward, but for restarts. Each restart needs a cause that has arrived (NAK,
// implied NAK, RNR NAK whose wait is over) or a timeout that may have expired, and
// begins where that cause says; a timeout that is due may not be missing. An arrived acknowledgement is taken for seen at once,
// where that allows more; where it forbids, the NIC has Params.Inside cycles to obey.
//
// # Responder
//
// What a request leads to depends on little that cannot be seen from outside: whether
// a receive posted just now was found, whether a QP just connected listens already,
// whether the port had room. Only there the acceptor forks: it follows a set of
// states, each with the answers that are owed, and an output removes the states that
// it contradicts. None left is a broken rule. Answers may be late and acknowledgements
// may be merged, but they keep their order.
//
// # Limits
//
// RC without SRQ, windows and congestion control. Time has three tolerances: Inside,
// Posted and Early, see Params. An answer that the port drops for want of room must not
// be told of as arrived; requests may (Params.Lossy). A QP that has broken a rule is not judged further.
package accept
