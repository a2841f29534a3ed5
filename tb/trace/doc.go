// Package trace writes the story of a run as trace events, for Perfetto (ui.perfetto.dev)
// and chrome://tracing: trace.json.
//
//	process  a host
//	thread   a QP's queue: a slice for each work request, in it one for each stage; one
//	         that has not ended goes to the end of the run, and its name says so; a
//	         receive's begins with its first packet, and one that none came for has none
//	         wire out, wire in: a slice for each packet
//	         a block of the NIC: a slice for each wait whose signal is there, an instant for
//	         each stage that is seen there
//	flow     packet: from the sender's wire to the receiver's
//	         cause: from a packet to the one that it caused
//	         retry: from a packet to the next with its PSN, of the same work request
//	counter  bandwidth of a host; outstanding messages and queue depth of a QP
//
// What overlaps is put on as many threads of one name as it takes, so that slices of a
// thread nest. Times are us with three digits, whole ns: slices are written as begin and
// end events, since a reader that cuts digits off cannot make those overlap, as it can
// those with a duration. Format: "Trace Event Format", Google, 2016.
package trace
