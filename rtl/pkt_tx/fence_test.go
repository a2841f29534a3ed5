package pkttx_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	pkttx "rnic/rtl/pkt_tx"
	"rnic/rtl/port"
)

// marker puts markers among the answers of mpt, and watches what is read.
type marker struct {
	hdl.Behave
	In   hdl.In[port.MptRes]
	Out  hdl.Out[port.MptRes]
	Back hdl.In[port.Fence]

	seed uint64 // 0: none
	rng  *rand.Rand
	b    *bench
	max  int // markers that may be under way
	hand int // markers that the test wants

	runs   []port.BusAddr // all that answers have led to, in order
	sent   []sentMark     // markers that are not back
	marks  int
	next   int   // run after the last one that was read
	beats  []int // for each run that was read, all beats of data that it ends with
	read   []int // its index
	passed int   // nothing before this run may be read any more
	slow   int   // markers that were not back at once
}

type sentMark struct {
	fence port.Fence
	runs  int // before it
	at    uint64
}

func (m *marker) Tick() {
	now := m.Now()
	if m.Back.Valid() {
		m.back(*m.Back.Take(), now)
	}
	if m.Out.Ready() {
		switch {
		case m.hand > 0, m.seed != 0 && m.marks < 300 && len(m.sent) < m.max && m.rng.IntN(4) == 0:
			m.hand = max(0, m.hand-1)
			f := port.Fence(1 + m.rng.IntN(7))
			m.sent = append(m.sent, sentMark{f, len(m.runs), now})
			m.marks++
			m.Out.Put(port.MptRes{Fence: f})
		case m.In.Valid():
			r := *m.In.Take()
			if r.Status == port.MptOK {
				m.runs = append(m.runs, r.Addr0)
				if r.Len1 != 0 {
					m.runs = append(m.runs, r.Addr1)
				}
			}
			m.Out.Put(r)
		}
	}
	if m.In.Valid() || m.hand > 0 || m.seed != 0 && now < 20_000 {
		m.WakeAt(now + 1)
	}
}

// asked finds the run of a read, which comes in the order of answers, if at all.
func (m *marker) asked(q port.ReadReq, beats int) {
	for m.runs[m.next] != q.Addr {
		m.next++
	}
	require.GreaterOrEqual(m.b.t, m.next, m.passed, "read behind its fence")
	all := beats
	if n := len(m.beats); n > 0 {
		all += m.beats[n-1]
	}
	m.beats, m.read = append(m.beats, all), append(m.read, m.next)
	m.next++
}

// back takes a marker: what was read before it has come.
func (m *marker) back(f port.Fence, now uint64) {
	require.NotEmpty(m.b.t, m.sent)
	s := m.sent[0]
	m.sent = m.sent[1:]
	require.Equal(m.b.t, s.fence, f)
	m.passed = s.runs
	for i := len(m.read) - 1; i >= 0; i-- {
		if m.read[i] < s.runs {
			require.GreaterOrEqual(m.b.t, m.b.Data.Sent(), m.beats[i], "the data of a read has not come")
			break
		}
	}
	if now > s.at+4 {
		m.slow++
	}
}

// TestFence: markers come back in order, each when all that was translated before it has
// been read, or never will be; and they disturb nobody.
func TestFence(t *testing.T) {
	for seed := uint64(1); seed <= 12; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := setup{marks: seed, markMax: 1 + int(seed)*7%40, t: t, cycles: 150_000}
			if seed%4 != 0 {
				s.seed = seed
			}
			if seed%3 == 0 {
				s.params = pkttx.Params{PayloadBeats: 66, Packets: 2, Asked: 2}
			}
			l := random(seed, 300, 0.03*float64(seed%2))
			r := run(t, s, l)
			require.NotEmpty(t, r.Reads)
			if seed%2 == 0 {
				compare(t, l, r)
			}
			x := rewound(seed, 0.02*float64(seed%2))
			x.check(t, x.run(t, s))
		})
	}
}

// TestFenceAlone: with nothing under way a marker is back in 3 cycles, and one behind a read
// when the last byte of that is here, whatever the packet waits for.
func TestFenceAlone(t *testing.T) {
	b := build(setup{t: t, dmaCycles: 300})
	k, err := hdl.Elaborate("bench", b, hdl.Options{Strict: true})
	require.NoError(t, err)
	put := func() {
		b.Mark.hand++
		b.Mark.Wake()
	}
	require.NoError(t, k.Run(1))
	put()
	require.NoError(t, k.Run(6))
	require.Equal(t, 1, b.Mark.marks)
	require.Empty(t, b.Mark.sent)
	var l load
	l.request(0x10, 0x04, host(0x1000, 200), host(0x5000, 100))
	b.feed(l)
	require.NoError(t, k.Run(100))
	require.Len(t, b.Read.Got, 2)
	put()
	require.NoError(t, k.Run(300))
	require.Len(t, b.Mark.sent, 1)
	require.NoError(t, k.Run(500))
	require.Equal(t, 2, b.Mark.marks)
	require.Empty(t, b.Mark.sent)
}
