package random

import "rnic/rtl"

// least shrinks every buffer and budget of the NIC to the least there is, and tells
// how many beats rx_buf has.
func least(p *rtl.Params) (rxBeats int) {
	p.Dma.Tags = 5
	p.QPC.Messages = 1
	p.QPC.LogWindow = 17
	p.Sched.Lines, p.Sched.Entries, p.Sched.Services = 1, 1, 1
	p.Sched.PacketBudget, p.Sched.MessageBudget = 1, 1
	p.Retrans.Entries, p.Retrans.Burst = 1, 1
	p.Tx.PayloadBeats, p.Tx.Packets, p.Tx.Asked = 66, 2, 2
	p.Rx.LogBeats = 8
	p.AckGen.Ops = 2
	p.Responder.Jobs, p.Responder.Budget = 1, 1
	p.Atomic.Slots = 1
	p.Scatter.Jobs, p.Scatter.Pieces, p.Scatter.Runs = 2, 2, 2
	p.Scatter.InFlight, p.Scatter.Asides = 2, 2
	p.RQFetch.Lines, p.RQFetch.Gets = 2, 2
	return 1 << p.Rx.LogBeats
}
