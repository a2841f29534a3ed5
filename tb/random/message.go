package random

import (
	"rnic/abi"
	"rnic/roce"
)

// flow draws n messages from host h over pair q.
func (d *drawer) flow(phase, h, q int, p *Pair, n int) (f Flow) {
	e := &p.Ends[h]
	every := 1 + d.IntN(8) // every so many ask for a completion
	class := d.IntN(100)   // what messages of this flow are like
	favour := pick(d.Rand, favours...)
	for i := range n {
		m := d.message(h, q, p, class, favour)
		m.Fence = chance(d.Rand, 8)
		m.ID = uint64(phase)<<56 | uint64(h)<<48 | uint64(q)<<32 | uint64(i)
		m.Signaled = i%every == every-1 || i == n-1
		f.Messages = append(f.Messages, m)
	}
	f.group(p, e, d.s.Budget)
	return f
}

// group cuts the messages into groups that fit the send queue and the budget.
func (f *Flow) group(p *Pair, e *End, budget int) {
	var g Group
	for i := range f.Messages {
		m := &f.Messages[i]
		cost, answer := min(beats(p.MTU, m), budget), min(back(p.MTU, m), budget)
		if i > 0 && g.N > 0 && (g.N == e.MaxSend || g.Beats+cost > budget || g.Back+answer > budget) {
			f.Messages[i-1].Signaled = true
			f.Groups, g = append(f.Groups, g), Group{}
		}
		g.N++
		g.Beats += cost
		g.Back += answer
		if m.Signaled || e.SigAll {
			f.Groups, g = append(f.Groups, g), Group{}
		}
	}
	for i := range f.Messages {
		f.Messages[i].Completes = f.Messages[i].Signaled || e.SigAll
	}
}

// beats is what the frames of a message take of rx_buf, at most.
func beats(mtu roce.MTU, m *Message) int {
	if m.Op == abi.OpNop {
		return 0
	}
	n := len(m.Data)
	if m.fetches() {
		n = 0
	}
	return frames(mtu, n)
}

// frames is what the packets with n bytes take, at most.
func frames(mtu roce.MTU, n int) int {
	const headers = 14 + 40 + 8 + 12 + 28 + 4
	full := (headers + mtu.Bytes() + beatBytes - 1) / beatBytes
	packets := int(mtu.Packets(uint32(n)))
	last := n - (packets-1)*mtu.Bytes()
	return (packets-1)*full + (headers+last+3+beatBytes-1)/beatBytes
}

// message draws one.
func (d *drawer) message(h, q int, p *Pair, class int, favour abi.WQEOp) (m Message) {
	src, dst := &p.Ends[h], &p.Ends[1-h]
	pd := q % d.pds
	m.Op = d.operation(h, src, favour)
	switch m.Op {
	case abi.OpNop:
		return m
	case abi.OpCompareSwap, abi.OpFetchAdd:
		d.atomic(h, q, &m)
		m.Src = []Span{d.arenas[h].region(pd, 8, 1, true)}
		return m
	case abi.OpSendImm, abi.OpWriteImm:
		m.Imm = d.Uint32()
	case abi.OpSendInv:
		m.Victim = len(d.phaseOf.Victims[1-h])
		d.phaseOf.Victims[1-h] = append(d.phaseOf.Victims[1-h], pd)
	}
	n := d.length(p.MTU, class)
	m.Data = d.random(n)
	d.bytes -= n
	if m.writes() || m.Op == abi.OpRead {
		d.remote(h, pd, &m)
	}
	if m.Op == abi.OpRead {
		m.Src = d.arenas[h].place(pd, n, src.SendSGE, true)
		return m
	}
	if n <= src.MaxInline && chance(d.Rand, 60) {
		m.Inline = true
	} else {
		m.Src = d.arenas[h].place(pd, n, src.SendSGE, false)
	}
	if !m.receives() {
		return m
	}
	m.Solicited = chance(d.Rand, 25)
	room := len(m.scattered())
	if chance(d.Rand, 40) {
		room += d.IntN(100)
	}
	m.Dst = d.arenas[1-h].place(pd, room, dst.RecvSGE, true)
	return m
}

// length draws the bytes of a message.
func (d *drawer) length(mtu roce.MTU, class int) int {
	unit := mtu.Bytes()
	n := 0
	switch k := d.IntN(100); {
	case class < 20 || k < 20:
		n = d.IntN(65)
	case class < 30:
		n = pick(d.Rand, 0, 1, 8, 64)
	case k < 45:
		n = d.IntN(unit + 1)
	case k < 70:
		n = max(0, d.IntN(5)*unit+d.IntN(3)-1)
	case k < 95:
		n = d.IntN(8 * unit)
	default:
		n = d.IntN(100_000)
	}
	// As much as is left, and as the receive buffer holds.
	const headers = 82
	fit := d.maxBeats * unit / ((headers+unit)/beatBytes + 1)
	return min(n, max(d.bytes, 64), max(fit-unit, unit))
}
