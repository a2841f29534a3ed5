package scatter_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	ackgen "rnic/rtl/ack_gen"
	"rnic/rtl/port"
	rqfetch "rnic/rtl/rq_fetch"
	"rnic/rtl/scatter"
)

// tagBit is where the bus addresses of a bench with markers have the number of their
// look-up.
const tagBit = 40

// marker puts markers among the answers of mpt, and watches what is written.
type marker struct {
	hdl.Behave
	In   hdl.In[port.MptRes]
	Out  hdl.Out[port.MptRes]
	Back hdl.In[port.Fence]

	seed uint64 // 0: none
	rng  *rand.Rand
	b    *bench
	max  int    // markers that may be under way
	when uint64 // cycle from which on there is one more

	looks  uint64 // look-ups answered
	sent   []sentMark
	marks  int
	passed uint64 // look-ups before this one write no more
}

type sentMark struct {
	fence port.Fence
	looks uint64 // before it
	at    uint64
}

func (m *marker) Tick() {
	now := m.Now()
	if m.Back.Valid() {
		m.back(*m.Back.Take())
	}
	if m.Out.Ready() {
		switch {
		case m.when != 0 && now >= m.when:
			m.when = 0
			m.sent = append(m.sent, sentMark{port.FenceMem, m.looks, now})
			m.marks++
			m.Out.Put(port.MptRes{Fence: port.FenceMem})
		case m.seed != 0 && m.marks < 400 && len(m.sent) < m.max && m.rng.IntN(8) == 0:
			f := port.Fence(1) << m.rng.IntN(3)
			if !m.waits(f) {
				m.sent = append(m.sent, sentMark{f, m.looks, now})
				m.marks++
				m.Out.Put(port.MptRes{Fence: f})
			}
		case m.In.Valid():
			r := *m.In.Take()
			if m.seed != 0 {
				m.looks++
				r.Addr0 |= port.BusAddr(m.looks << tagBit)
				r.Addr1 |= port.BusAddr(m.looks << tagBit)
			}
			m.Out.Put(r)
		}
	}
	if m.In.Valid() || m.seed != 0 && now < 60_000 {
		m.WakeAt(now + 1)
	}
}

// waits tells whether a marker of somebody is under way: nobody has two.
func (m *marker) waits(f port.Fence) bool {
	for _, s := range m.sent {
		if s.fence == f {
			return true
		}
	}
	return false
}

// untag takes the number of its look-up off an address, which must still be alive.
func (m *marker) untag(a port.BusAddr) (port.BusAddr, uint64) {
	n := uint64(a) >> tagBit
	if m.seed != 0 {
		require.Greater(m.b.t, n, m.passed, "written behind its fence")
	}
	return a & (1<<tagBit - 1), n
}

// back takes markers, of several who wait perhaps: what was written before them is posted.
func (m *marker) back(f port.Fence) {
	require.NotZero(m.b.t, f)
	var left []sentMark
	for _, s := range m.sent {
		if f&s.fence == 0 {
			left = append(left, s)
			continue
		}
		f &^= s.fence
		m.passed = max(m.passed, s.looks)
	}
	require.Zero(m.b.t, f, "nobody waits")
	m.sent = left
	d := &m.b.dma
	for _, r := range d.reqs {
		require.Greater(m.b.t, uint64(r.Addr)>>tagBit, m.passed, "on its way")
	}
	for i, n := range d.looks {
		require.True(m.b.t, n > m.passed || d.due[i] < m.Now(), "not posted")
	}
	for _, s := range m.b.Atomic.slots {
		require.Greater(m.b.t, s.look, m.passed, "an atomic is under way")
	}
}

// TestFenceAroundAtomic: a marker in each cycle around an atomic, and a WRITE behind it,
// comes back when both that were before it are over.
func TestFenceAroundAtomic(t *testing.T) {
	for at := range uint64(100) {
		b := playWith(t, setup{marks: 1}, []step{atomicOf(1, 0x20000), writeOf(2)})
		b.dma.latency = 60
		b.Mark.when = 1 + at
		b.settle()
		require.Equal(t, 1, b.Mark.marks)
		require.Empty(t, b.Mark.sent, "marker in cycle %d", at)
	}
}

// TestFence: markers come back, each when all that was translated before it is posted, or
// never will be; and they disturb nobody.
func TestFence(t *testing.T) {
	least := setup{
		scatter: scatter.Params{Jobs: 2, Pieces: 2, Runs: 2, InFlight: 2, Asides: 2},
		ackgen:  ackgen.Params{Ops: 2}, fetch: rqfetch.Params{Lines: 2, Gets: 2},
	}
	for seed := uint64(1); seed <= 10; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := setup{}
			if seed%4 == 3 {
				s = least
			}
			s.marks, s.markMax = seed, 1+int(seed)%3
			if seed%2 == 1 {
				s.throttle = seed
			}
			hdltest.Identical(t, hdl.Options{Seed: 1}, func(o hdl.Options) (hdltest.Digester, int) {
				b := newBench(t, s, o)
				x := newTraffic(b, 20+seed, 6, 900, seed%3 > 0)
				slow := rand.New(rand.NewPCG(seed, 8))
				b.Ended.NotBefore = func(int) uint64 { return b.Ended.Now() + slow.Uint64N(300)/150*40 }
				b.dma.latency = 1 + slow.Uint64N(100)
				b.k.Go("driver", x.driver)
				require.NoError(t, b.k.Run(2_000_000))
				x.finish()
				require.Empty(t, b.Mark.sent, "markers are kept")
				require.NotZero(t, b.Mark.marks)
				return b.k, b.Mark.marks
			})
		})
	}
}
