// Package rows tells the string rows of waves what happens in a NIC: the name of each
// packet on the wire and on the packet streams, each work request from doorbell to CQE,
// the state of each QP, what was dropped and why, and the calls of the driver.
//
//	host_a.wire.tx, .rx                 the frame on the wire, from its first beat to its last
//	host_a.wire.fault                   what a fault of the bench did to a frame on its way here
//	host_a.nic.pkt_tx.ask.req.packet    the description at the head of the stream, likewise
//	       .pkt_tx.ask.resp.packet      those of the responder,
//	       .ack_gen.issue.pkt.packet    what pkt_rx has found good,
//	       .ack_gen.judge.verdict.text  what qpc says of it,
//	       .scatter.front.place.packet  where it goes
//	host_a.nic.pkt_rx.drop              a frame dropped, by counter; for PulseCycles
//	       .ack_gen.judge.drop          a packet dropped, likewise
//	host_a.qp_5.state                   of the context
//	host_a.qp_5.send_0 ...              a work request each, from doorbell to CQE
//	host_a.qp_5.recv_0 ...              a receive, from its first packet to CQE
//	host_a.qp_5.error                   a completion in error, for PulseCycles
//	host_a.driver.thread_0 ...          calls of the driver, a row a thread of the host
//
// It observes kernels (hdl.Observer) and reads what is settled after an edge; the run
// does not depend on it. It hears of driver calls by host.Host.OnCall.
//
// The same watch finds what a window of waves is put around: see Event.
package rows
