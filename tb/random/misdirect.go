package random

import (
	"rnic/abi"
	"rnic/driver"
)

// spoilRemote makes a message faulty that is not a SEND, and tells whether it did.
func (m *Message) spoilRemote(d *drawer) bool {
	switch {
	case m.Remote.Len == 0:
		return false
	case m.fetches() && chance(d.Rand, 30):
		i := d.element(m.Src, len(m.Data))
		m.Src[i].Bad = true
		m.Fault = FetchKey
		return true
	}
	m.Fault = RemoteKey
	m.Remote.Bad = true
	return true
}

// misdirect has a faulty message say what it must not about the peer's memory: a key
// that is none, an older one of the same place, bytes beyond the region or before it,
// or another protection domain's key.
func (e *end) misdirect(m *Message, w *driver.SendWR) {
	if !m.Remote.Bad {
		return
	}
	g := e.s.regions[e.s.phase-1].Arenas
	arenas := e.s.s.Phases[e.s.phase-1].Arenas[1-e.s.n]
	a, at := &arenas[m.Remote.Arena], g[m.Remote.Arena].Addr
	size := uint64(m.Remote.Len)
	switch m.Remote.Off / 8 % 4 {
	case 0:
		w.RKey = ^w.RKey
	case 1:
		w.RKey ^= 1
	case 2:
		w.RemoteAddr = (at + uint64(a.From+a.Len) - size + 8) &^ 7
	case 3:
		w.RemoteAddr = (at + uint64(a.From) - 1) &^ 7
		for i, b := range arenas {
			if b.PD != a.PD && uint64(b.Len) >= size+8 {
				w.RKey, w.RemoteAddr = g[i].RKey, (g[i].Addr+uint64(b.From)+7)&^7
			}
		}
	}
}

// unanswered tells whether a READ or atomic may end so because the peer could not
// read its memory.
func (s *side) unanswered(c completion, op abi.WCOpcode) bool {
	return s.s.Unreadable != 0 && c.Status == abi.StatusRemOp &&
		(op == abi.WCRead || op == abi.WCCompareSwap || op == abi.WCFetchAdd)
}
