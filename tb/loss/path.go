package loss

// step is where a stage ends: the first cycle, not before the end of the stage before,
// in which a stream moved.
type step struct{ name, block, signal string }

// The way of a NAK, from the frame that tells of the gap.
var nakPath = []step{
	{"FCS checked", "mac", "nic.mac.receive.rx_out.put"},
	{"ICRC and headers checked", "pkt_rx", "nic.pkt_rx.pkt.put"},
	{"asked for a verdict", "ack_gen", "nic.ack_gen.issue.op.put"},
	{"verdict: beyond the expected PSN", "qpc", "nic.qpc.verdict.put"},
	{"into the order of placements", "ack_gen", "nic.ack_gen.judge.place.put"},
	{"all before it is placed", "scatter", "nic.scatter.finish.placed.put"},
	{"NAK due", "ack_gen", "nic.ack_gen.reply.resp.put"},
	{"NAK made", "responder", "nic.responder.pkt.put"},
	{"headers from context", "pkt_tx, qpc", "nic.pkt_tx.ask.fast.put"},
	{"frame, ICRC", "pkt_tx", "nic.pkt_tx.seal.eth.put"},
}

// The way from a NAK to the packet that it asks for.
var againPath = []step{
	{"FCS checked", "mac", "nic.mac.receive.rx_out.put"},
	{"ICRC and headers checked", "pkt_rx", "nic.pkt_rx.pkt.put"},
	{"asked for a verdict", "ack_gen", "nic.ack_gen.issue.op.put"},
	{"verdict: rewind", "qpc", "nic.qpc.verdict.put"},
	{"into the order of events", "ack_gen", "nic.ack_gen.judge.place.put"},
	{"event", "scatter", "nic.scatter.finish.event.put"},
	{"which message?", "retrans", "nic.retrans.retire.put"},
	{"queue moved back", "qpc", "nic.qpc.activate.put"},
	{"QP picked", "wqe_sched", "nic.wqe_sched.pick.get.put"},
	{"context read", "qpc", "nic.wqe_sched.fetch.ctx.take"},
	{"WQE, cut", "wqe_sched", "nic.wqe_sched.exec.pkt.put"},
	{"headers from context", "pkt_tx, qpc", "nic.pkt_tx.ask.payload.put"},
	{"key and address", "pkt_tx, mpt", "nic.pkt_tx.load.read.put"},
	{"payload asked for", "dma", "rc.from_nic.take"},
}

func signals(steps []step) (s []string) {
	for _, x := range steps {
		s = append(s, x.signal)
	}
	return s
}
