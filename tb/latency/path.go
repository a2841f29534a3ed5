package latency

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

// request is the way of a message of one packet up to the write of its payload.
func request(m Mode) []step {
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
	if m == Fetched {
		s = append(s,
			step{name: "key and address", block: "pkt_tx, mpt", host: a, signal: "nic.pkt_tx.load.read.put"},
			step{name: "payload asked for", block: "dma", host: a, signal: "rc.from_nic.take"},
			step{name: "payload read", block: PCIe, host: a, signal: "rc.to_nic.put"},
			step{name: "payload arrives", block: "dma", host: a, signal: "nic.pkt_tx.buffer.data.take", last: true},
		)
	}
	return append(s,
		step{name: "frame complete", block: "pkt_tx", host: a, signal: "nic.pkt_tx.send.out.put"},
		step{name: "ICRC", block: "pkt_tx", host: a, signal: "nic.pkt_tx.seal.eth.put"},
		step{name: "first bit on the wire", block: "mac", host: a, signal: "nic.mac.transmit.tx.put"},
		step{name: "serialisation", block: Wire, host: a, signal: "nic.mac.transmit.tx.put", last: true},
		step{name: "link", block: Wire, host: b, signal: "nic.mac.receive.rx.take", last: true},
		step{name: "FCS checked", block: "mac", host: b, signal: "nic.mac.receive.rx_out.put", last: true},
		step{name: "ICRC and headers checked", block: "pkt_rx", host: b, signal: "nic.pkt_rx.pkt.put"},
		step{name: "verdict", block: "ack_gen, qpc", host: b, signal: "nic.ack_gen.judge.place.put"},
		step{name: "receive WQE", block: "scatter, rq_fetch", host: b, signal: "nic.scatter.split.rqwqe.take"},
		step{name: "key and address", block: "scatter, mpt", host: b, signal: "nic.scatter.collect.mpt_res.take"},
		step{name: "payload out of rx_buf", block: "scatter, pkt_rx", host: b, signal: "nic.scatter.forward.write_data.put"},
		step{name: "payload leaves", block: "dma", host: b, signal: "rc.from_nic.take"},
	)
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
	return []step{
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
		{name: "message acknowledged", block: "retrans", host: a, signal: "nic.retrans.cqe.put"},
		{name: "CQE made", block: "cq_writer", host: a, signal: "nic.cq_writer.write_data.put"},
		{name: "CQE leaves", block: "dma", host: a, signal: "rc.from_nic.take"},
	}
}
