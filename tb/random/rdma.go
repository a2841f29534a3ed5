package random

import (
	"encoding/binary"

	"rnic/abi"
	"rnic/roce"
)

// Word is 8 bytes of a host that the peer's atomics work on. A shared one is added
// to by several QPs, none of which is cut: their order is not known, their sum is. A
// private one belongs to a pair, so that each old value is known.
type Word struct {
	Span
	Initial uint64
	Shared  bool
	Pair    int
	PD      int
}

// maxVictims is how many keys of a host the peer's SENDs invalidate in a phase.
const maxVictims = 20

// receives tells whether a message takes a receive.
func (m *Message) receives() bool {
	return m.Op == abi.OpSend || m.Op == abi.OpSendImm || m.Op == abi.OpSendInv || m.Op == abi.OpWriteImm
}

// writes tells whether it writes to Remote.
func (m *Message) writes() bool { return m.Op == abi.OpWrite || m.Op == abi.OpWriteImm }

// atomic tells whether it works on a Word.
func (m *Message) atomic() bool { return m.Op == abi.OpCompareSwap || m.Op == abi.OpFetchAdd }

// fetches tells whether Src is written to, when it is done.
func (m *Message) fetches() bool { return m.Op == abi.OpRead || m.atomic() }

// scattered is what comes to the receive's memory.
func (m *Message) scattered() []byte {
	if m.Op == abi.OpWriteImm {
		return nil
	}
	return m.Data
}

// index is the place of a message in its flow, by its ID.
func index(id uint64) int { return int(uint32(id)) }

// favours are the operations that a flow may have many of; NOP: none.
var favours = []abi.WQEOp{
	abi.OpNop, abi.OpNop, abi.OpSend, abi.OpSend, abi.OpWrite, abi.OpWriteImm, abi.OpRead, abi.OpRead,
	abi.OpFetchAdd, abi.OpCompareSwap,
}

// operation draws what a message of a flow does.
func (d *drawer) operation(h int, src *End, favour abi.WQEOp) abi.WQEOp {
	mixed := []struct {
		op abi.WQEOp
		n  int
	}{
		{abi.OpNop, 6}, {abi.OpSend, 22}, {abi.OpSendImm, 14}, {abi.OpSendInv, 6}, {abi.OpWrite, 15},
		{abi.OpWriteImm, 9}, {abi.OpRead, 14}, {abi.OpFetchAdd, 8}, {abi.OpCompareSwap, 6},
	}
	op := favour
	if favour == abi.OpNop || chance(d.Rand, 40) {
		k := d.IntN(100)
		for _, x := range mixed {
			if k -= x.n; k < 0 {
				op = x.op
				break
			}
		}
	}
	switch {
	case op == abi.OpSendInv && len(d.phaseOf.Victims[1-h]) >= maxVictims:
		return abi.OpSend
	case (op == abi.OpRead || op == abi.OpFetchAdd || op == abi.OpCompareSwap) && src.RdAtomic == 0:
		return abi.OpWrite
	}
	return op
}

// random draws n bytes.
func (d *drawer) random(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 8 {
		v := d.Uint64()
		for k := i; k < min(i+8, n); k, v = k+1, v>>8 {
			b[k] = byte(v)
		}
	}
	return b
}

// remote draws the memory of a READ or WRITE.
func (d *drawer) remote(h, pd int, m *Message) {
	m.Remote = Span{Garbage: true}
	if n := len(m.Data); n > 0 {
		m.Remote = d.arenas[1-h].region(pd, n, 1, m.writes())
	}
}

// atomic draws the word and the operands of an atomic from host h over pair q.
func (d *drawer) atomic(h, q int, m *Message) {
	words := &d.phaseOf.Words[1-h]
	m.Word = d.word(1-h, q, m.Op == abi.OpFetchAdd && !d.isCut(q) && chance(d.Rand, 70))
	w := &(*words)[m.Word]
	m.Remote = w.Span
	m.SwapAdd, m.Compare = d.Uint64(), d.Uint64()
	if chance(d.Rand, 20) {
		m.SwapAdd = pick[uint64](d.Rand, 1, 1<<63, 1<<64-1)
	}
	m.Data = make([]byte, 8)
	if w.Shared {
		m.Shared = true
		m.SwapAdd = d.Uint64() | 1 // no sum of some is the sum of others
		return
	}
	now := d.values[1-h][m.Word]
	binary.LittleEndian.PutUint64(m.Data, now)
	switch {
	case m.Op == abi.OpFetchAdd:
		now += m.SwapAdd
	case chance(d.Rand, 60):
		m.Compare = now
		now = m.SwapAdd
	case m.Compare == now:
		now = m.SwapAdd
	}
	d.values[1-h][m.Word] = now
}

// word draws one of a host for a pair, or makes it.
func (d *drawer) word(h, q int, shared bool) int {
	words, pd := &d.phaseOf.Words[h], q%d.pds
	var list []int
	for i, w := range *words {
		if w.Shared == shared && w.PD == pd && (shared || w.Pair == q) {
			list = append(list, i)
		}
	}
	if len(list) > 0 && (len(list) == 3 || chance(d.Rand, 80)) {
		return pick(d.Rand, list...)
	}
	w := Word{Span: d.arenas[h].region(pd, 8, 8, true), Initial: d.Uint64(), Shared: shared, Pair: q, PD: pd}
	*words = append(*words, w)
	d.values[h] = append(d.values[h], w.Initial)
	return len(*words) - 1
}

// isCut tells whether a pair is stopped in the phase that is drawn.
func (d *drawer) isCut(q int) bool {
	for _, c := range d.phaseOf.Cuts[0] {
		if c.Pair == q {
			return true
		}
	}
	return false
}

// region finds room for n bytes in a row.
func (m *memory) region(pd, n, align int, write bool) Span {
	s := Span{Arena: m.choose(pd, write), Len: n}
	a := &m.arenas[s.Arena]
	s.Off = m.next[s.Arena]
	if len(a.Spans) > 0 {
		s.Off += 1 + m.IntN(20)
	}
	s.Off += -(s.Off + a.InPage) & (align - 1)
	m.next[s.Arena] = s.Off + n
	a.Spans = append(a.Spans, s)
	a.Len = s.Off + n - a.From
	a.Size = s.Off + n + m.IntN(300)
	return s
}

// back is what the answers to a message take of the sender's own rx_buf, at most.
// Acknowledgements are not counted.
func back(mtu roce.MTU, m *Message) int {
	if !m.fetches() {
		return 0
	}
	return frames(mtu, len(m.Data))
}
