// Package check judges what a port of a host saw on the wire by the rules of the
// specification alone: it shares no code with the NIC but the header layouts.
//
// Ports gather what the transport and the counters of the NIC must agree with:
// Wire follows every queue pair of both directions packet by packet.
package check
