package rows

import (
	"strconv"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// packets follows the packet streams of the NIC.
func (s *side) packets() error {
	n := s.h.NIC
	req, resp := s.row("nic.pkt_tx.ask.req.packet"), s.row("nic.pkt_tx.ask.resp.packet")
	pkt, verdict := s.row("nic.ack_gen.issue.pkt.packet"), s.row("nic.ack_gen.judge.verdict.text")
	place, drop := s.row("nic.scatter.front.place.packet"), s.row("nic.ack_gen.judge.drop")
	for _, err := range []error{
		follow(s, "nic.pkt_tx.ask.req", &n.PktTx.Ask.Req, func(now int64, p *port.TxPkt) { req.Set(now, text(p, described)) }),
		follow(s, "nic.pkt_tx.ask.resp", &n.PktTx.Ask.Resp, func(now int64, p *port.TxPkt) { resp.Set(now, text(p, described)) }),
		follow(s, "nic.ack_gen.issue.pkt", &n.AckGen.Issue.Pkt, func(now int64, p *port.RxPkt) { pkt.Set(now, text(p, received)) }),
		follow(s, "nic.qpc.rx", &n.QPC.Rx, func(now int64, o *port.RxOp) {
			if o != nil {
				s.ops = append(s.ops, operation(o))
			}
		}),
		follow(s, "nic.ack_gen.judge.verdict", &n.AckGen.Judge.Verdict, func(now int64, v *port.RxVerdict) {
			if v == nil {
				verdict.Set(now, "")
				return
			}
			of := ""
			if len(s.ops) > 0 { // answers come in the order of the operations
				of = s.ops[0]
				s.ops = append(s.ops[:0], s.ops[1:]...)
			}
			verdict.Set(now, judged(v, of))
			if dropped(v) {
				why := v.Drop.String() + ": " + of
				s.pulses.show(drop, now, PulseCycles*s.period, why)
				s.event(Drop, now, why, uint32(v.QPN), 0)
			}
		}),
		follow(s, "nic.scatter.front.place", &n.Scatter.Front.Place, func(now int64, p *port.Place) {
			place.Set(now, text(p, placed))
			if p != nil {
				s.taken(now, p)
			}
		}),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// text is that of a beat, and nothing without one.
func text[T any](p *T, f func(*T) string) string {
	if p == nil {
		return ""
	}
	return f(p)
}

// operation is what qpc is asked for.
func operation(o *port.RxOp) string {
	if o.Kind == port.RxPacket {
		return received(&o.Pkt)
	}
	return o.Kind.String() + " qp=" + strconv.Itoa(int(o.QPN))
}

// dropped tells whether a verdict has a packet come to nothing: a NAK is sent for it at
// most. A duplicate has come to something before.
func dropped(v *port.RxVerdict) bool {
	return v.Action == port.RxDrop || v.Kind == port.RxPacket && v.Action == port.RxReply && v.Drop != 0 && v.Drop != abi.DuplicateRequest
}

// judged is a verdict on an operation.
func judged(v *port.RxVerdict, of string) string {
	t := v.Action.String()
	if v.Target != port.TargetNone {
		t += " to " + v.Target.String()
	}
	if v.Ack.Send {
		t += " answer " + syndromes[v.Ack.Syndrome] + " psn=0x" + strconv.FormatUint(uint64(v.Ack.PSN), 16)
	}
	if v.Drop != 0 || v.Action == port.RxDrop {
		t += " " + v.Drop.String()
	}
	if v.Error {
		t += " " + v.Status.String()
	}
	return t + ": " + of
}

// placed is a packet on its way to memory.
func placed(p *port.Place) string {
	switch {
	case p.Purge:
		return "purge qp=" + strconv.Itoa(int(p.V.QPN))
	case !p.HasFrame:
		return p.V.Kind.String() + " " + p.V.Action.String() + " qp=" + strconv.Itoa(int(p.V.QPN))
	}
	n := named{op: p.Opcode, qpn: uint32(p.V.QPN), psn: p.PSN, bytes: int(p.Len), msn: p.MSN}
	t := p.V.Action.String()
	if p.V.Target != port.TargetNone {
		t += " to " + p.V.Target.String()
	}
	if n.op.HasAETH() {
		// A Place has no syndrome.
		return t + " " + opcodes[n.op] + " qp=" + strconv.Itoa(int(n.qpn)) + " psn=0x" + strconv.FormatUint(uint64(n.psn), 16) + bytes(n.bytes)
	}
	return t + " " + n.String()
}

func bytes(n int) string {
	if n == 0 {
		return ""
	}
	return " " + strconv.Itoa(n) + "B"
}

// arrival is a frame that pkt_rx has taken, when its last beat was there.
type arrival struct {
	ps   int64
	text string
	qpn  uint32
	psn  roce.PSN
}

// receive follows what pkt_rx drops: by its counters, which tell two cycles after the
// last beat of a frame.
func (s *side) receive() error {
	rx := s.h.NIC.PktRx
	row := s.row("nic.pkt_rx.drop")
	l := &line{s: s, ended: func(l *line, now int64) {
		s.came[0] = s.came[1]
		s.came[1] = arrival{now, l.text, l.pkt.qpn, l.pkt.psn}
	}}
	if err := follow(s, "nic.pkt_rx.eth", &rx.Eth, l.beat); err != nil {
		return err
	}
	level, err := s.signal("nic.pkt_rx.stats.drop_other")
	if err != nil {
		return err
	}
	var last port.RxStats
	s.when(level.Owner, func(now int64) {
		st := rx.Stats.Get()
		was := last
		last = st
		for _, d := range []struct {
			a, b uint64
			why  abi.Counter
		}{
			{was.DropOverflow, st.DropOverflow, abi.RxDropOverflow},
			{was.DropFCS, st.DropFCS, abi.RxDropBadFCS},
			{was.DropNotRoCE, st.DropNotRoCE, abi.RxDropNotRoCE},
			{was.DropMalformed, st.DropMalformed, abi.RxDropMalformed},
			{was.DropICRC, st.DropICRC, abi.RxDropBadICRC},
			{was.DropOther, st.DropOther, abi.RxDropOther},
		} {
			if d.a == d.b {
				continue
			}
			of := arrival{text: "frame"}
			for _, c := range s.came {
				if c.ps == now-2*s.period && c.text != "" {
					of = c
				}
			}
			why := d.why.String() + ": " + of.text
			s.pulses.show(row, now, PulseCycles*s.period, why)
			s.event(Drop, now, why, of.qpn, of.psn)
		}
	})
	return nil
}
