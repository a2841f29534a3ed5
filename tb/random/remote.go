package random

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
)

// regions is what a host tells the peer of its memory in a phase.
type regions struct {
	Arenas  []region
	Victims []abi.Key
}

// region is a memory region as the peer needs it. Addr is that of offset 0 of the
// buffer.
type region struct {
	Addr uint64
	RKey abi.Key
}

// outcome is how far what a QP sent in a phase has come. The peer looks at it when
// both hosts are at rest.
type outcome struct {
	done   int      // messages that are known to be done
	posted int      // and that may be
	adds   []addend // done on shared words
}

// addend is a FETCH_ADD and what it returned.
type addend struct {
	id       uint64
	word     int
	old, add uint64
}

// some is an option for a depth of n, of which 0 is the default.
func some(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// fill stores what the peer's READs and atomics find.
func (s *side) fill(p *Phase) {
	for q := range p.Flows[1-s.n] {
		for i := range p.Flows[1-s.n][q].Messages {
			if m := &p.Flows[1-s.n][q].Messages[i]; m.Op == abi.OpRead {
				s.store([]Span{m.Remote}, m.Data)
			}
		}
	}
	for i := range p.Words[s.n] {
		w := &p.Words[s.n][i]
		s.store([]Span{w.Span}, binary.LittleEndian.AppendUint64(nil, w.Initial))
	}
}

// victimise registers regions for SENDs to invalidate.
func (s *side) victimise(p *Phase) (err error) {
	if len(p.Victims[s.n]) == 0 {
		return nil
	}
	if s.victimBuf, err = s.dev.AllocBuffer(4096, 0); err != nil {
		return err
	}
	for _, pd := range p.Victims[s.n] {
		mr, err := s.pds[pd].RegMR(s.victimBuf, abi.AccessRemoteRead)
		if err != nil {
			return err
		}
		s.tellRegion(pd, mr, s.victimBuf, 0, abi.AccessRemoteRead)
		s.victims = append(s.victims, mr)
	}
	return nil
}

// bury gives the victims back: an invalid key is a registered one still.
func (s *side) bury() error {
	if s.victimBuf == nil {
		return nil
	}
	for _, mr := range s.victims {
		if err := s.deregister(mr); err != nil {
			return err
		}
	}
	err := s.victimBuf.Free()
	s.victims, s.victimBuf = nil, nil
	return err
}

// swapRegions swaps addresses and keys of memory with the other host, and begins to
// note how far each QP comes.
func (s *side) swapRegions(t *hdl.Thread, phase int) error {
	g := regions{}
	for _, a := range s.arenas {
		g.Arenas = append(g.Arenas, region{Addr: a.mr.Addr - uint64(a.From), RKey: a.mr.RKey})
	}
	for _, mr := range s.victims {
		g.Victims = append(g.Victims, mr.RKey)
	}
	m, err := json.Marshal(g)
	if err != nil {
		return err
	}
	s.r.told[phase][s.n] = make([]outcome, len(s.ends))
	s.h.OOB.Send(append([]byte{msgRegions}, m...))
	s.wait(t, func() bool { return len(s.regions) > phase })
	return nil
}

// target fills in what a work request says of the peer's memory.
func (e *end) target(m *Message, w *driver.SendWR) {
	g := &e.s.regions[e.s.phase-1]
	switch {
	case m.Op == abi.OpSendInv:
		w.Imm = uint32(g.Victims[m.Victim])
	case m.Remote.Len > 0:
		a := &g.Arenas[m.Remote.Arena]
		w.RemoteAddr, w.RKey = a.Addr+uint64(m.Remote.Off), a.RKey
	case m.Remote.Garbage:
		w.RemoteAddr, w.RKey = m.ID<<32, ^g.Arenas[0].RKey
	}
	w.SwapAdd, w.Compare = m.SwapAdd, m.Compare
	e.misdirect(m, w)
}

// arrival is the completion of the receive that a message meets.
func (e *end) arrival(m *Message) completion {
	c := completion{ID: ^m.ID, Opcode: abi.WCRecv, ByteLen: uint32(len(m.Data)), SrcQPN: e.peer.QPN}
	switch m.Op {
	case abi.OpSendImm:
		c.Flags, c.Imm = abi.CQEWithImm, m.Imm
	case abi.OpSendInv:
		c.Flags, c.Imm = abi.CQEWithInv, uint32(e.s.victims[m.Victim].RKey)
	case abi.OpWriteImm:
		c.Opcode, c.Flags, c.Imm = abi.WCRecvWithImm, abi.CQEWithImm, m.Imm
	}
	return c
}

// arrived demands that all is there that a message brought, and the WRITEs before it.
func (e *end) arrived(m *Message) error {
	if err := e.writtenUpTo(index(m.ID) + 1); err != nil {
		return err
	}
	return e.s.land(m)
}

// writtenUpTo lands the first n messages of the peer's flow that are WRITEs.
func (e *end) writtenUpTo(n int) error {
	for ; e.written < n; e.written++ {
		m := &e.in.Messages[e.written]
		if !m.writes() || m.Remote.Len == 0 {
			continue
		}
		if err := e.s.landed(m, []Span{m.Remote}, m.Data); err != nil {
			return err
		}
	}
	return nil
}

// finished notes that a message is done, and all before it: what they fetched must
// be there.
func (e *end) finished(id uint64) error {
	s := e.s
	for ; e.done <= index(id); e.done++ {
		m := &e.out.Messages[e.done]
		switch {
		case m.Shared:
			old := make([]byte, 8)
			sp := m.Src[0]
			if _, err := s.arenas[sp.Arena].buf.ReadAt(old, int64(sp.Off)); err != nil {
				return err
			}
			s.store(m.Src, old)
			o := &s.r.told[s.phase-1][s.n][e.i]
			o.adds = append(o.adds, addend{m.ID, m.Word, binary.LittleEndian.Uint64(old), m.SwapAdd})
		case m.fetches():
			if err := s.landed(m, m.Src, m.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// tell says how far the QPs have come in a phase.
func (s *side) tell(phase int) {
	for i, e := range s.ends {
		o := &s.r.told[phase][s.n][i]
		o.done, o.posted = e.done, e.next
	}
}

// settleRemote brings the images to where READs, WRITEs and atomics of the phase
// have brought memory: what is done, all of it; what was posted and may be, either
// way; else nothing.
func (s *side) settleRemote() error {
	told := &s.r.told[s.phase-1]
	for i, e := range s.ends {
		for k := e.done; k < e.next; k++ {
			m := &e.out.Messages[k]
			if m.Fault == RemoteKey {
				break // nothing comes of it, nor of what is behind
			}
			if m.fetches() {
				if err := s.partly(m, m.Src, m.Data); err != nil {
					return err
				}
			}
		}
		o := &told[1-s.n][i]
		if err := e.writtenUpTo(o.done); err != nil {
			return err
		}
		for k := e.written; k < o.posted; k++ {
			m := &e.in.Messages[k]
			if m.Fault != NoFault && m.Fault != FetchKey {
				break
			}
			if m.writes() {
				if err := s.partly(m, []Span{m.Remote}, m.Data); err != nil {
					return err
				}
			}
		}
	}
	p := &s.s.Phases[s.phase-1]
	for i := range p.Words[s.n] {
		if err := s.word(p, i, told[1-s.n]); err != nil {
			return err
		}
	}
	return s.bury()
}

// word demands that a word has a value that its atomics lead to.
func (s *side) word(p *Phase, i int, told []outcome) error {
	w := &p.Words[s.n][i]
	b := make([]byte, 8)
	if _, err := s.arenas[w.Arena].buf.ReadAt(b, int64(w.Off)); err != nil {
		return err
	}
	got := binary.LittleEndian.Uint64(b)
	s.store([]Span{w.Span}, b)
	if w.Shared {
		return w.chain(i, got, told)
	}
	l, o := p.Flows[1-s.n][w.Pair].Messages, &told[w.Pair]
	err := w.replay(l, i, got, o, -1)
	// What could not be read is not done, but may be what came close behind it.
	for k := o.done; err != nil && s.s.Unreadable != 0 && k < o.posted; k++ {
		if l[k].fetches() && w.replay(l, i, got, o, k) == nil {
			return nil
		}
	}
	return err
}

// chain demands an order of the additions in which each returns what those before it
// have made, and all together make what is there. There is one at most, as no two
// sums are equal.
func (w *Word) chain(i int, got uint64, told []outcome) error {
	by := map[uint64]addend{}
	n := 0
	for _, o := range told {
		for _, a := range o.adds {
			if a.word != i {
				continue
			}
			if b, ok := by[a.old]; ok {
				return fmt.Errorf("word %d: messages %#x and %#x both got %#x", i, a.id, b.id, a.old)
			}
			by[a.old] = a
			n++
		}
	}
	v := w.Initial
	for k := range n {
		a, ok := by[v]
		if !ok {
			return fmt.Errorf("word %d, which began as %#x: no addition got %#x, made by %d of %d", i, w.Initial, v, k, n)
		}
		delete(by, v)
		v += a.add
	}
	if v != got {
		return fmt.Errorf("word %d is %#x, %d additions make %#x of it", i, got, n, v)
	}
	return nil
}

// replay demands a value that the word has when all that is done is, and of what
// was posted behind it the first so many, but for message skip.
func (w *Word) replay(l []Message, i int, got uint64, o *outcome, skip int) error {
	v := w.Initial
	ok := o.done == 0 && v == got
	for k := range l[:o.posted] {
		m := &l[k]
		if m.Fault == RemoteKey {
			break
		}
		if m.atomic() && m.Word == i && k != skip {
			switch {
			case m.Op == abi.OpFetchAdd:
				v += m.SwapAdd
			case v == m.Compare:
				v = m.SwapAdd
			}
		}
		ok = ok || k+1 >= o.done && v == got
	}
	if !ok {
		return fmt.Errorf("word %d of pair %d is %#x, %#x after %d of %d messages done", i, w.Pair, got, v, o.done, o.posted)
	}
	return nil
}
