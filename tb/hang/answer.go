package hang

import (
	"fmt"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/qpc"
)

// unanswered: requests up to end have left, and the answer to the oldest is missing.
func (x *chain) unanswered(end roce.PSN) {
	x.psn = x.una
	last := x.s.h.NIC.Retrans.Lists.Peek(x.n).First.LastPSN
	if next := x.peer.context(int(x.c.Common.DestQPN)).Responder.Expected; next.After(x.una) && !next.After(last) {
		x.psn = next // the peer has a part of the message
	}
	x.say(x.s, "nic.retrans", x.s.since(x.n), "requests up to PSN %#x have left; PSN %#x is the oldest without an answer; %s", uint32(end.Add(0xffffff)), uint32(x.una), timer(&x.c))
	asked := x.sent()
	var arrived uint64
	switch k := x.struck(); {
	case asked != nil && asked.Fault != "":
		x.say(x.s, "wire", asked.Cycle, "%v", asked)
		x.off()
		return
	case asked != nil:
		arrived = asked.Arrives
		x.say(x.s, "wire", asked.Cycle, "%v; it arrived in cycle %d", asked, arrived)
	case k != nil:
		x.say(x.s, "wire", k.cycle, "the packet of PSN %#x was %s by a fault in cycle %d", uint32(x.psn), k.what, k.cycle)
		x.off()
		return
	default:
		x.say(x.s, "wire", x.s.since(x.n), "no fault struck the packet of PSN %#x, which left before the last ones", uint32(x.psn))
	}
	if a := x.answered(arrived); a != nil {
		x.say(x.peer, "wire", a.Cycle, "%v", a)
		if a.Fault != "" {
			x.off()
			return
		}
		if !x.from(x.s, x.n, "mac.receive.rx", "retrans.event") {
			x.follow(x.s, "nic.pkt_rx")
		}
		return
	}
	x.responder()
}

// off is the root when a packet is lost: nothing sends it again.
func (x *chain) off() {
	r := x.s.h.NIC.Retrans.Clock.Records.Peek(x.n)
	word := "the timer is " + r.Phase.String()
	if word == "the timer is RUN" {
		word = fmt.Sprintf("the timer runs until cycle %d", r.Deadline)
	}
	x.say(x.s, "nic.retrans.clock", x.s.since(x.n), "nothing is sent again: %s; %s", word, timer(&x.c))
}

// sent is the last packet of the PSN that the peer lacks, or has not answered.
func (x *chain) sent() (found *Packet) {
	l := x.s.packets(roce.QPN(x.c.Common.DestQPN))
	for i := range l {
		p := &l[i]
		if p.Op.IsRequest() && (p.PSN == x.psn || p.Op.IsReadRequest() && !p.PSN.After(x.psn)) {
			found = p
		}
	}
	return found
}

// struck is what a fault last did to a packet of that PSN.
func (x *chain) struck() (found *strike) {
	for i := range x.s.log.strikes {
		if k := &x.s.log.strikes[i]; k.qp == roce.QPN(x.c.Common.DestQPN) && k.psn == x.psn {
			found = k
		}
	}
	return found
}

// answered is the first answer to the packet that arrived in a cycle, or to a later one.
func (x *chain) answered(arrived uint64) *Packet {
	l := x.peer.packets(roce.QPN(x.n))
	for i := range l {
		p := &l[i]
		if p.Cycle > arrived && p.Op.IsResponse() && !p.PSN.Before(x.una) {
			return p
		}
	}
	return nil
}

// responder: the request has arrived, and no answer has left.
func (x *chain) responder() {
	n := int(x.c.Common.DestQPN)
	c := x.peer.context(n)
	g := x.graph[x.peer.n]
	const first, judged = "mac.receive.rx", "ack_gen.judge.verdict"
	switch state := c.Common.State; {
	case !c.Common.Exists:
		x.say(x.peer, "nic.qpc", g.now, "QP %d does not exist: what comes for it is dropped", n)
		return
	case state != abi.QPRTR && state != abi.QPRTS && state != abi.QPSQD && state != abi.QPSQE:
		x.say(x.peer, "nic.qpc", g.now, "QP %d is in %v: what comes for it is dropped", n, state)
		return
	}
	p := g.in["nic.qpc.rx"]
	if c.Responder.Expected.After(x.psn) {
		x.say(x.peer, "nic.qpc", p.Since, "QP %d has accepted the request, it expects PSN %#x", n, uint32(c.Responder.Expected))
		if !x.from(x.peer, n, judged, "pkt_tx.ask.resp") && !x.from(x.peer, n, "pkt_tx.translate.in", "pkt_tx.send.fast") {
			x.follow(x.peer, "nic.responder")
		}
		return
	}
	if x.from(x.peer, n, first, "qpc.rx") {
		return
	}
	x.refusal(n, &c, p.Since)
}

// refusal: the responder has not accepted the request, and does not hold it.
func (x *chain) refusal(n int, c *qpc.Context, judged uint64) {
	r := &c.Responder
	switch {
	case r.Nak == qpc.NakRNR && r.PI == r.CI:
		x.say(x.peer, "nic.qpc", judged, "QP %d has no receive work request for PSN %#x: the host has posted up to index %d, and all are used", n, uint32(r.Expected), r.PI)
	case r.Nak != qpc.NakNone:
		x.say(x.peer, "nic.qpc", judged, "QP %d has sent a NAK (%v) and waits for PSN %#x to come again", n, r.Nak, uint32(r.Expected))
	default:
		if p := x.graph[x.peer.n].full("nic.pkt_rx"); p != nil {
			x.follow(x.peer, "nic.pkt_rx")
			return
		}
		x.say(x.peer, "nic.pkt_rx", judged, "QP %d expects PSN %#x, and the packet is in no stream: the NIC did not take it, as its counters say", n, uint32(r.Expected))
	}
}
