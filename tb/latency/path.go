package latency

import "rnic/abi"

// Mode is how a message gets to the NIC.
type Mode uint8

// Modes, from the slowest.
const (
	Fetched Mode = iota // the NIC reads the WQE, then the payload
	Inline              // the NIC reads the WQE, with the payload in it
	Pushed              // the CPU writes the WQE to the doorbell page
)

// Modes lists them.
var Modes = [...]Mode{Fetched, Inline, Pushed}

// String is the name in tables.
func (m Mode) String() string { return [...]string{"fetched", "inline", "pushed"}[m] }

// Blocks of stages that no NIC has a part in.
const (
	PCIe = "pcie"
	Wire = "wire"
)

// hosts of a step.
const (
	a = 0
	b = 1
)

// step is where a stage ends: the first cycle, not before the end of the stage
// before it, in which the stream moved, or the last of all.
type step struct {
	name, block string
	host        int
	signal      string // below the host
	last        bool
}

// path is the way of a message of one packet: to the write of the payload where it
// is wanted, on to the end of the latency, and from that write back to the sender.
func path(op abi.WQEOp, m Mode) (there, on, back []step) {
	there = submission(m, answers(op))
	there = append(there, frame(a, b)...)
	switch op {
	case abi.OpRead:
		there = append(there, checked(b)...)
		there = append(there, readResponse()...)
		there = append(append(there, frame(b, a)...), placement(a, true)...)
		return there, answered(), nil
	case abi.OpFetchAdd:
		there = append(there, checked(b)...)
		there = append(there, atomicResponse()...)
		there = append(append(there, frame(b, a)...), placement(a, true)...)
		return there, answered(), nil
	case abi.OpSend:
		return append(there, placement(b, true)...), completion(), acknowledgement()
	}
	return append(there, placement(b, false)...), nil, acknowledgement()
}

// submission leads from the doorbell to a complete packet in pkt_tx.
func submission(m Mode, answered bool) []step {
	s := []step{
		{name: "register write", block: PCIe, host: a, signal: "rc.to_nic.put"},
		{name: "TLP to doorbell", block: "dma, csr", host: a, signal: "nic.csr.qp_bell.put"},
		{name: "doorbell to context", block: "qpc", host: a, signal: "nic.qpc.activate.put"},
		{name: "QP picked", block: "wqe_sched", host: a, signal: "nic.wqe_sched.pick.get.put"},
		{name: "context read", block: "qpc", host: a, signal: "nic.wqe_sched.fetch.ctx.take"},
	}
	if m != Pushed {
		s = append(s,
			step{name: "WQE asked for", block: "wqe_sched, dma", host: a, signal: "rc.from_nic.take"},
			step{name: "WQE read", block: PCIe, host: a, signal: "rc.to_nic.put"},
			step{name: "WQE arrives", block: "dma", host: a, signal: "nic.wqe_sched.fetch.data.take"},
		)
	}
	s = append(s,
		step{name: "WQE parsed and cut", block: "wqe_sched", host: a, signal: "nic.wqe_sched.exec.pkt.put"},
		step{name: "headers from context", block: "pkt_tx, qpc", host: a, signal: "nic.pkt_tx.ask.payload.put"},
	)
	if m == Fetched && !answered {
		s = append(s, payloadRead(a)...)
	}
	return s
}

// payloadRead brings the payload of a packet into pkt_tx.
func payloadRead(h int) []step {
	return []step{
		{name: "key and address", block: "pkt_tx, mpt", host: h, signal: "nic.pkt_tx.load.read.put"},
		{name: "payload asked for", block: "dma", host: h, signal: "rc.from_nic.take"},
		{name: "payload read", block: PCIe, host: h, signal: "rc.to_nic.put"},
		{name: "payload arrives", block: "dma", host: h, signal: "nic.pkt_tx.buffer.data.take", last: true},
	}
}

// frame brings a complete packet to the verdict at the other host.
func frame(from, to int) []step {
	return []step{
		{name: "frame complete", block: "pkt_tx", host: from, signal: "nic.pkt_tx.send.out.put"},
		{name: "ICRC", block: "pkt_tx", host: from, signal: "nic.pkt_tx.seal.eth.put"},
		{name: "first bit on the wire", block: "mac", host: from, signal: "nic.mac.transmit.tx.put"},
		{name: "serialisation", block: Wire, host: from, signal: "nic.mac.transmit.tx.put", last: true},
		{name: "link", block: Wire, host: to, signal: "nic.mac.receive.rx.take", last: true},
		{name: "FCS checked", block: "mac", host: to, signal: "nic.mac.receive.rx_out.put", last: true},
		{name: "ICRC and headers checked", block: "pkt_rx", host: to, signal: "nic.pkt_rx.pkt.put"},
		{name: "verdict", block: "ack_gen, qpc", host: to, signal: "nic.ack_gen.judge.place.put"},
	}
}

// placement writes a payload, where a WQE says or where the request does.
func placement(h int, byWQE bool) []step {
	var s []step
	if byWQE {
		s = append(s, step{name: "WQE", block: "scatter, rq_fetch", host: h, signal: "nic.scatter.split.rqwqe.take"})
	}
	return append(s,
		step{name: "key and address", block: "scatter, mpt", host: h, signal: "nic.scatter.collect.mpt_res.take"},
		step{name: "payload out of rx_buf", block: "scatter, pkt_rx", host: h, signal: "nic.scatter.forward.write_data.put"},
		step{name: "payload leaves", block: "dma", host: h, signal: "rc.from_nic.take"},
	)
}

// checked is a request's key, address and range.
func checked(h int) []step {
	return []step{{name: "key, address, range", block: "scatter, mpt", host: h, signal: "nic.scatter.collect.mpt_res.take"}}
}

// readResponse makes the response of a READ.
func readResponse() []step {
	return append([]step{
		{name: "its turn", block: "scatter", host: b, signal: "nic.scatter.finish.placed.put"},
		{name: "answer due", block: "ack_gen", host: b, signal: "nic.ack_gen.reply.resp.put"},
		{name: "response cut", block: "responder", host: b, signal: "nic.responder.pkt.put"},
		{name: "headers from context", block: "pkt_tx, qpc", host: b, signal: "nic.pkt_tx.ask.payload.put"},
	}, payloadRead(b)...)
}

// atomicResponse does an atomic, and makes its acknowledgement.
func atomicResponse() []step {
	return []step{
		{name: "its turn", block: "scatter", host: b, signal: "nic.scatter.finish.atomic.put"},
		{name: "no other at the address", block: "atomic", host: b, signal: "nic.atomic.read.put"},
		{name: "word asked for", block: "dma", host: b, signal: "rc.from_nic.take"},
		{name: "word read", block: PCIe, host: b, signal: "rc.to_nic.put"},
		{name: "word arrives", block: "dma", host: b, signal: "nic.atomic.data.take"},
		{name: "operation, write posted", block: "atomic, dma", host: b, signal: "nic.atomic.res.put"},
		{name: "acknowledgement made", block: "responder", host: b, signal: "nic.responder.pkt.put"},
		{name: "headers from context", block: "pkt_tx, qpc", host: b, signal: "nic.pkt_tx.ask.fast.put"},
	}
}

// answered goes on with the CQE of the one who asked.
func answered() []step {
	return append([]step{
		{name: "payload in the posted queue", block: "dma, scatter", host: a, signal: "nic.scatter.finish.event.put"},
	}, retired()...)
}

// retired brings what is done to the sender's CQ.
func retired() []step {
	return []step{
		{name: "message acknowledged", block: "retrans", host: a, signal: "nic.retrans.cqe.put"},
		{name: "CQE made", block: "cq_writer", host: a, signal: "nic.cq_writer.write_data.put"},
		{name: "CQE leaves", block: "dma", host: a, signal: "rc.from_nic.take"},
	}
}

// completion goes on with the CQE of the receiver; its write ends in memory.
func completion() []step {
	return []step{
		{name: "message done", block: "dma, scatter", host: b, signal: "nic.scatter.finish.cqe.put"},
		{name: "CQE made", block: "cq_writer", host: b, signal: "nic.cq_writer.write_data.put"},
		{name: "CQE leaves", block: "dma", host: b, signal: "rc.from_nic.take"},
	}
}

// acknowledgement goes back from the payload to the CQE of the sender.
func acknowledgement() []step {
	return append([]step{
		{name: "payload in the posted queue", block: "dma, scatter", host: b, signal: "nic.scatter.finish.placed.put"},
		{name: "answer due", block: "ack_gen", host: b, signal: "nic.ack_gen.reply.resp.put"},
		{name: "ACK made", block: "responder", host: b, signal: "nic.responder.pkt.put"},
		{name: "headers from context", block: "pkt_tx, qpc", host: b, signal: "nic.pkt_tx.ask.fast.put"},
		{name: "frame, ICRC", block: "pkt_tx", host: b, signal: "nic.pkt_tx.seal.eth.put"},
		{name: "first bit on the wire", block: "mac", host: b, signal: "nic.mac.transmit.tx.put"},
		{name: "serialisation", block: Wire, host: b, signal: "nic.mac.transmit.tx.put", last: true},
		{name: "link", block: Wire, host: a, signal: "nic.mac.receive.rx.take", last: true},
		{name: "FCS checked", block: "mac", host: a, signal: "nic.mac.receive.rx_out.put", last: true},
		{name: "ICRC and headers checked", block: "pkt_rx", host: a, signal: "nic.pkt_rx.pkt.put"},
		{name: "verdict", block: "ack_gen, qpc, scatter", host: a, signal: "nic.scatter.finish.event.put"},
	}, retired()...)
}
