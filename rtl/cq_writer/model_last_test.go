package cqwriter_test

import (
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// lastOf is a QP that waits for its QP_LAST_WQE_REACHED.
type lastOf struct {
	qpn   int
	owed  bool
	moved bool // its life has ended meanwhile: its place may be that of the old one, or behind
}

// last notes that a QP of so many has come to its last WQE; of a life it is told once.
func (m *model) last(qpn, qps int) {
	i := slices.IndexFunc(m.lasts, func(l lastOf) bool { return l.qpn == qpn })
	switch {
	case qpn >= qps:
		m.lost++
	case i >= 0:
		m.lasts[i].owed = true
	default:
		m.lasts = append(m.lasts, lastOf{qpn: qpn, owed: true})
	}
}

// end is that of a life: what of it has not been told never will be.
func (m *model) end(qpn int) {
	for i := range m.lasts {
		if l := &m.lasts[i]; l.qpn == qpn {
			l.owed, l.moved = false, true
		}
	}
}

// tellLast takes the event of a QP: it must be owed, and those that have waited longer
// come first.
func (m *model) tellLast(t *rapid.T, qpn int) {
	i := slices.IndexFunc(m.lasts, func(l lastOf) bool { return l.qpn == qpn })
	require.True(t, i >= 0 && m.lasts[i].owed, "the last WQE of QP %d is not due: %v", qpn, m.lasts)
	for _, l := range m.lasts[:i] {
		require.True(t, !l.owed || l.moved || m.lasts[i].moved, "QP %d is told before QP %d", qpn, l.qpn)
	}
	m.lasts = slices.Delete(m.lasts, i, i+1)
}

func (m *model) owedLasts() (n int) {
	for _, l := range m.lasts {
		if l.owed {
			n++
		}
	}
	return n
}

func (m *model) bellEQ(n, ci int) {
	e := m.eqs[n]
	if e == nil || ci < e.ci || ci > e.pi {
		m.bad++
		return
	}
	e.ci = ci
	e.armed = e.pi == ci
	if !e.armed {
		m.vector |= 1 << e.vector
	}
}
