package random

import "math/rand/v2"

// memory lays out the arenas of a host.
type memory struct {
	*rand.Rand
	arenas []Arena
	next   []int // where the next span of each may begin
}

// newMemory draws some arenas for each protection domain, one of which may be
// written by the device. They grow as spans are placed.
func newMemory(r *rand.Rand, pds int) *memory {
	m := &memory{Rand: r}
	for pd := range pds {
		for k := range 1 + r.IntN(3) {
			a := Arena{PD: pd, InPage: r.IntN(4096), From: r.IntN(300), ReadOnly: k > 0 && chance(r, 20)}
			if chance(r, 20) {
				a.Contiguous, a.InPage = true, 0
			}
			m.arenas = append(m.arenas, a)
			m.next = append(m.next, a.From)
		}
	}
	return m
}

// choose draws an arena of a domain.
func (m *memory) choose(pd int, write bool) int {
	for {
		i := m.IntN(len(m.arenas))
		if m.arenas[i].PD == pd && !(write && m.arenas[i].ReadOnly) {
			return i
		}
	}
}

// place finds room for n bytes in up to most elements.
func (m *memory) place(pd, n, most int, write bool) []Span {
	var spans []Span
	for _, k := range m.split(n, most) {
		s := Span{Arena: m.choose(pd, write), Len: k, Garbage: k == 0 && chance(m.Rand, 50)}
		a := &m.arenas[s.Arena]
		s.Off = m.next[s.Arena]
		if len(a.Spans) > 0 {
			s.Off += 1 + m.IntN(20)
		}
		if k > 0 {
			m.next[s.Arena] = s.Off + k
			a.Spans = append(a.Spans, s)
			a.Len = s.Off + k - a.From
			a.Size = s.Off + k + m.IntN(300)
		}
		spans = append(spans, s)
	}
	return spans
}

// finish returns the arenas; each has a byte at least.
func (m *memory) finish() []Arena {
	for i := range m.arenas {
		a := &m.arenas[i]
		a.Len = max(a.Len, 1)
		a.Size = max(a.Size, a.From+a.Len)
	}
	return m.arenas
}

// split cuts n bytes into up to most elements, some of which may be empty. No bytes
// may be no element at all.
func (m *memory) split(n, most int) []int {
	k := 1 + m.IntN(most)
	if n == 0 && chance(m.Rand, 50) {
		return nil
	}
	l := make([]int, k)
	for i := range l[:k-1] {
		switch m.IntN(4) {
		case 0: // empty
		case 1:
			l[i] = min(n, 1+m.IntN(70))
		default:
			l[i] = m.IntN(n + 1)
		}
		n -= l[i]
	}
	l[k-1] = n
	m.Shuffle(k, func(i, j int) { l[i], l[j] = l[j], l[i] })
	return l
}
