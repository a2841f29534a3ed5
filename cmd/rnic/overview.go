package main

import "rnic/waves"

// marks are the streams whose first beat is a marker in the waves.
var marks = []struct {
	name string
	host int
	path string
}{
	{"doorbell", 0, "host_a.nic.csr.qp_bell.put"},
	{"first packet", 0, "host_a.nic.mac.transmit.tx.put"},
	{"ACK", 1, "host_b.nic.mac.transmit.tx.put"},
	{"CQE", 0, "host_a.nic.cq_writer.send.take"},
}

// overview is what the save file shows first: the way of a SEND through the blocks,
// from top to bottom as time goes from left to right.
var overview = []waves.Group{
	{Name: "host_a: doorbell, WQE", Under: "host_a.nic", Signals: []string{
		"csr.qp_bell.fire", "wqe_sched.pick.qpn", "wqe_sched.fetch.push.fire", "wqe_sched.fetch.read.fire", "wqe_sched.fetch.data.fire",
		"wqe_sched.fetch.reader.ctx.state", "wqe_sched.exec.pkt.fire",
	}},
	{Name: "host_a: payload, packets out", Under: "host_a.nic", Signals: []string{
		"retrans.used", "pkt_tx.load.read.fire", "pkt_tx.buffer.data.fire",
		"pkt_tx.send.payload.head.pkt.opcode", "pkt_tx.send.payload.head.pkt.psn", "mac.transmit.tx.fire",
	}},
	{Name: "host_b: packets in, payload to memory", Under: "host_b.nic", Signals: []string{
		"mac.receive.rx.fire", "pkt_rx.used", "ack_gen.judge.verdict.fire", "rq_fetch.lookup.read.fire", "scatter.split.rqwqe.fire",
		"scatter.forward.write_data.fire", "scatter.finish.write_done.fire",
	}},
	{Name: "host_b: CQE, ACK", Under: "host_b.nic", Signals: []string{
		"cq_writer.source", "cq_writer.write.fire", "responder.pkt.fire", "mac.transmit.tx.fire",
	}},
	{Name: "host_a: ACK, CQE", Under: "host_a.nic", Signals: []string{
		"mac.receive.rx.fire", "retrans.last", "cq_writer.source", "cq_writer.write.fire", "cq_writer.msix.fire",
	}},
}
