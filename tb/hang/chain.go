package hang

import (
	"fmt"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/qpc"
)

// chain is the explanation of one QP in the making.
type chain struct {
	d     *Dog
	s     *side // of the requester
	peer  *side
	n     int
	c     qpc.Context
	una   roce.PSN
	psn   roce.PSN // that the peer lacks, or has not answered
	graph [2]*graph
	steps []Step
	wr    *WR
}

func (d *Dog) chain(s *side, n int) *chain {
	x := &chain{d: d, s: s, peer: d.sides[1-s.n], n: n, c: s.context(n)}
	for i := range x.graph {
		x.graph[i] = newGraph(d.sides[i])
	}
	x.una = x.c.Requester.Una
	x.wr = x.request()
	x.requester()
	return x
}

// say adds a step about a block without a port.
func (x *chain) say(s *side, block string, since uint64, format string, args ...any) {
	x.steps = append(x.steps, Step{Host: s.name, Block: block, Since: since, Text: fmt.Sprintf(format, args...)})
}

// follow adds what a block waits for.
func (x *chain) follow(s *side, block string) {
	x.steps = append(x.steps, x.graph[s.n].follow(block, nil)...)
}

// from adds the beat of the QP that is furthest between two ports, of those that are
// stuck, and what the block that should take it waits for; false: there is none.
func (x *chain) from(s *side, qpn int, from, to string) bool {
	g := x.graph[s.n]
	l := g.beats(qpn, from, to)
	for i := len(l) - 1; i >= 0; i-- {
		b := l[i]
		if !g.stuck(b.p) {
			continue
		}
		st := g.step(b.p, false)
		st.Text = fmt.Sprintf("it holds what is of QP %d", qpn)
		if b.has && !b.psn.Before(x.una) && b.psn.Before(x.c.SQ.Top) {
			st.Text += fmt.Sprintf(", PSN %#x", uint32(b.psn))
		}
		x.steps = append(x.steps, st)
		rest := g.follow(b.p.To, nil)
		if len(rest) > 0 && rest[0].Port == st.Port && rest[0].State == st.State {
			st.Text, rest = st.Text+"; "+rest[0].Text, rest[1:]
			x.steps[len(x.steps)-1] = st
		}
		x.steps = append(x.steps, rest...)
		return true
	}
	return false
}

// requester finds who has the oldest work request.
func (x *chain) requester() {
	l, r := x.s.h.NIC.Retrans.Lists.Peek(x.n), x.s.h.NIC.Retrans.Clock.Records.Peek(x.n)
	sq := &x.c.SQ
	wire := l.Count > 0 && !l.First.Local
	switch {
	case l.Count == 0 && x.s.waits(x.n):
		x.rewinding()
	case l.Count == 0:
		x.scheduler()
	case l.First.Local || x.una.After(l.First.LastPSN):
		x.done()
	case sq.Rewinding:
		x.rewinding()
	case wire && r.Known && r.Left && x.una.Before(r.End):
		x.unanswered(r.End)
	default:
		x.leaving()
	}
}

// scheduler: nothing of the work request has been entered; wqe_sched has it, or does
// not know of it.
func (x *chain) scheduler() {
	sq := &x.c.SQ
	x.say(x.s, "nic.qpc", x.s.since(x.n), "the driver has posted up to index %d; index %d is not begun, and no message before it is open", sq.PI, sq.Entered)
	if x.c.Common.State != abi.QPRTS {
		x.say(x.s, "nic.qpc", x.s.since(x.n), "the QP is in %v: its work requests are to be flushed", x.c.Common.State)
	}
	k := x.s.h.K
	turn := func(f string) bool {
		v, _ := k.Word(x.s.name+".nic.wqe_sched.pick.turns", x.n, f)
		return v.True()
	}
	const pick, fetch, exec = "nic.wqe_sched.pick", "nic.wqe_sched.fetch", "nic.wqe_sched.exec"
	g := x.graph[x.s.n]
	switch {
	case turn("busy"):
		at := fetch
		if p := g.in[exec+".service"]; p.N > 0 || sq.Busy && g.full(exec) != nil {
			at = exec
		}
		x.say(x.s, pick, x.s.since(x.n), "a service of the QP is open, in %s", at)
		x.follow(x.s, at)
	case turn("parked"):
		x.say(x.s, pick, x.s.since(x.n), "the QP waits for its WQEs")
		x.follow(x.s, fetch)
	case turn("poor") || turn("needs"):
		free, _ := k.Register(x.s.name+"."+pick, "free")
		x.say(x.s, pick, x.s.since(x.n), "the QP waits for a place in the outstanding table, %v are free", free)
		x.follow(x.s, "nic.retrans")
	case turn("queued") && turn("want"):
		open, _ := k.Register(x.s.name+"."+pick, "open")
		x.say(x.s, pick, x.s.since(x.n), "the QP waits for its turn, %v services are open", open)
		x.follow(x.s, pick)
	case x.from(x.s, x.n, "qpc.told", "wqe_sched.pick.activate"):
	default:
		x.say(x.s, pick, g.in[pick+".activate"].Since, "it does not know that the QP has work: no Activate is under way, and the last of any QP came in cycle %d", g.in[pick+".activate"].Since)
	}
}

// leaving: the message is open, and no packet of what is not acknowledged has left.
func (x *chain) leaving() {
	x.say(x.s, "nic.retrans", x.s.since(x.n), "the message is open; no packet of it that asks for an answer has left, so no ACK timer runs")
	if x.from(x.s, x.n, "pkt_tx.ask.req", "mac.transmit.tx_in") {
		return
	}
	x.scheduler()
}

// rewinding: retrans was asked where to go on.
func (x *chain) rewinding() {
	r := x.s.h.NIC.Retrans.Clock.Records.Peek(x.n)
	x.say(x.s, "nic.qpc", x.s.since(x.n), "the QP goes back to PSN %#x, and waits for retrans to say where that is", uint32(x.una))
	switch {
	case x.s.waits(x.n):
		x.say(x.s, "nic.retrans.clock", r.Deadline, "an RNR NAK has it wait until cycle %d", r.Deadline)
		n := int(x.c.Common.DestQPN)
		c := x.peer.context(n)
		x.refusal(n, &c, x.graph[x.peer.n].in["nic.qpc.rx"].Since)
	case x.from(x.s, x.n, "ack_gen.judge.verdict", "qpc.retire"):
	default:
		x.follow(x.s, "nic.retrans")
	}
}

// done: the work request is acknowledged, its completion is not made.
func (x *chain) done() {
	x.say(x.s, "nic.qpc", x.s.since(x.n), "the work request needs no answer any more: all before PSN %#x is acknowledged; its completion is not made", uint32(x.una))
	if x.from(x.s, x.n, "ack_gen.judge.verdict", "retrans.expired") {
		return
	}
	x.follow(x.s, "nic.retrans")
}

// since is the cycle of the last progress of a QP.
func (s *side) since(n int) uint64 {
	for _, q := range s.qps {
		if q.n == n {
			return q.since
		}
	}
	return 0
}
