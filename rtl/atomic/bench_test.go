package atomic_test

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/rtl/atomic"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

// memory is dma with host memory behind it. A read sees memory as it is at some
// time between its request and its answer, a write is in memory when it is done.
type memory struct {
	hdl.Behave
	Read     hdl.In[port.ReadReq]
	Data     hdl.Out[port.ReadBeat]
	Write    hdl.In[port.WriteReq]
	In       hdl.In[port.Beat]
	Done     hdl.Out[port.WriteDone]
	Throttle agent.Throttle
	Latency  uint64 // cycles, at most
	rng      *rand.Rand
	word     map[port.BusAddr]uint64
	bad      map[port.BusAddr]bool // unreadable
	reads    []access
	writes   []access
	most     int // reads under way at once
	odd      int // accesses of the wrong size or place
	written  int
}

type access struct {
	sample, at uint64
	addr       port.BusAddr
	value      uint64
}

func (m *memory) Tick() {
	now := m.Now()
	m.written += m.post(now)
	for i := range m.reads {
		if r := &m.reads[i]; r.sample == now {
			r.value = m.word[r.addr]
		}
	}
	if len(m.reads) > 0 && m.reads[0].at <= now && m.Data.Ready() {
		r := m.reads[0]
		m.reads = m.reads[1:]
		b := port.ReadBeat{Beat: port.Beat{Len: 8, Last: true}, Err: m.bad[r.addr]}
		binary.LittleEndian.PutUint64(b.Data[:], r.value)
		if b.Err {
			b.Data[0] ^= 0xff
		}
		m.Data.Put(b)
	}
	if m.Read.Valid() && m.Throttle.Go(m.Path(), now) {
		r := m.Read.Take()
		if r.Len != 8 || r.Shift != 0 || r.Addr%8 != 0 {
			m.odd++
		}
		at := now + 1 + m.rng.Uint64N(m.Latency)
		if n := len(m.reads); n > 0 {
			at = max(at, m.reads[n-1].at)
		}
		m.reads = append(m.reads, access{sample: now + 1 + m.rng.Uint64N(at-now), at: at, addr: r.Addr})
		m.most = max(m.most, len(m.reads))
	}
	if m.Write.Valid() && m.In.Valid() && m.Throttle.Go(m.Path(), now) {
		w, d := m.Write.Take(), m.In.Take()
		if w.Len != 8 || w.Shift != 0 || w.Addr%8 != 0 || !w.Notify || d.Len != 8 || !d.Last {
			m.odd++
		}
		m.writes = append(m.writes, access{at: now + 1 + m.rng.Uint64N(m.Latency), addr: w.Addr, value: binary.LittleEndian.Uint64(d.Data[:])})
	}
	if len(m.reads) > 0 || len(m.writes) > 0 || m.Read.Valid() || m.Write.Valid() {
		m.WakeAt(now + 1)
	}
}

// post puts the oldest write into memory when it is time.
func (m *memory) post(now uint64) int {
	if len(m.writes) == 0 || m.writes[0].at > now || !m.Done.Ready() {
		return 0
	}
	w := m.writes[0]
	m.writes = m.writes[1:]
	m.word[w.addr] = w.value
	m.Done.Put(port.WriteDone{})
	return 1
}

// gate is a Sink that can be shut.
type gate struct {
	agent.Sink[port.AtomicRes]
	Shut bool
}

func (g *gate) Tick() {
	if g.Shut {
		g.WakeAt(g.Now() + 1)
		return
	}
	g.Sink.Tick()
}

// bench has scatter, responder and dma around the block.
type bench struct {
	DUT  *atomic.Atomic
	Req  agent.Source[port.AtomicReq]
	Res  gate
	Done agent.Sink[port.AtomicDone]
	Mem  memory
	k    *hdl.Kernel
}

func newBench(t require.TestingT, o hdl.Options, p atomic.Params, throttle, latency uint64) *bench {
	b := &bench{DUT: atomic.New(p)}
	for _, th := range []*agent.Throttle{&b.Req.Throttle, &b.Res.Throttle, &b.Done.Throttle, &b.Mem.Throttle} {
		th.Seed = throttle
	}
	b.Mem.Latency = latency
	b.Mem.rng = rand.New(rand.NewPCG(throttle, latency))
	b.Mem.word, b.Mem.bad = map[port.BusAddr]uint64{}, map[port.BusAddr]bool{}
	hdl.Connect(&b.Req.Out, &b.DUT.Req, 2)
	hdl.Connect(&b.DUT.Res, &b.Res.In, 2)
	hdl.Connect(&b.DUT.Done, &b.Done.In, 2)
	hdl.Connect(&b.DUT.Read, &b.Mem.Read, 2)
	hdl.Connect(&b.Mem.Data, &b.DUT.Data, 2)
	hdl.Connect(&b.DUT.Write, &b.Mem.Write, 2)
	hdl.Connect(&b.DUT.WriteData, &b.Mem.In, 2)
	hdl.Connect(&b.Mem.Done, &b.DUT.WriteDone, 2)
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	b.k = k
	return b
}

// settle runs until n results have come.
func (b *bench) settle(t require.TestingT, n int) {
	for end := b.k.Cycle() + 5_000_000; len(b.Res.Got) < n || len(b.Done.Got) < n; {
		require.Less(t, b.k.Cycle(), end, "%d of %d results", len(b.Res.Got), n)
		require.NoError(t, b.k.Run(b.k.Cycle()+100))
	}
}
