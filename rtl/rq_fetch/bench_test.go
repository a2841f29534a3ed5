package rqfetch_test

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/port"
	rqfetch "rnic/rtl/rq_fetch"
	"rnic/tb/agent"
)

// ring is a receive queue in host memory, with the driver's side of it.
type ring struct {
	qpn       port.QPN
	base      port.BusAddr
	logStride uint8
	log       uint8
	life      uint32
	ci, pi    uint16 // next to ask for, next to post
	free      uint16 // entries before it may be overwritten, by modulus
}

func (r *ring) addr(idx uint16) port.BusAddr {
	return r.base + port.BusAddr(abi.RingSlot(idx, r.log))<<r.logStride
}

func (r *ring) maxSGE() int { return min(port.MaxSGE, 1<<r.logStride/16-1) }

// wqe is what a life of a QP holds at an index.
func (r *ring) wqe(idx uint16) port.RQWQE {
	rng := rand.New(rand.NewPCG(uint64(r.qpn)<<32|uint64(r.life), uint64(idx)))
	w := port.RQWQE{Num: uint8(rng.IntN(r.maxSGE() + 1))}
	for i := range w.Num {
		w.SGE[i] = port.SGE{VA: port.VA(rng.Uint64()), Len: rng.Uint32(), Key: port.Key(rng.Uint32())}
	}
	return w
}

// memory is host memory by 16-byte granule; what was never written is garbage.
type memory map[port.BusAddr][16]byte

func (m memory) post(r *ring, idx uint16, ctrl abi.RWQEControl) {
	m.put(r.addr(idx), r.logStride, ctrl, r.wqe(idx))
}

// put writes an entry.
func (m memory) put(at port.BusAddr, logStride uint8, ctrl abi.RWQEControl, w port.RQWQE) {
	var b [512]byte
	for i := range b {
		b[i] = 0xee
	}
	abi.RWQEControlLayout.Encode(&ctrl, b[:])
	for i := range int(w.Num) {
		s := abi.SGE{Addr: uint64(w.SGE[i].VA), Length: w.SGE[i].Len, LKey: abi.Key(w.SGE[i].Key)}
		abi.SGELayout.Encode(&s, b[16+16*i:])
	}
	for i := 0; i < 1<<logStride; i += 16 {
		m[at+port.BusAddr(i)] = [16]byte(b[i:])
	}
}

// bench is a Fetch between agents, with host memory behind it.
type bench struct {
	Get   agent.Source[port.RQGet]
	Ahead agent.Source[port.SQAhead]
	Fetch *rqfetch.Fetch
	WQE   agent.Sink[port.RQWQE]
	Read  agent.Sink[port.ReadReq]
	Data  agent.Source[port.ReadBeat]

	k       *hdl.Kernel
	mem     memory
	due     []uint64 // by beat of Data
	latency uint64
	bad     map[port.BusAddr]bool // granules that cannot be read
	posted  func(a port.BusAddr) bool
}

func newBench(t hdltest.T, p rqfetch.Params, o hdl.Options, throttle uint64) *bench {
	b := &bench{Fetch: rqfetch.New(p), mem: memory{}, latency: 40, bad: map[port.BusAddr]bool{}}
	hdl.Connect(&b.Get.Out, &b.Fetch.Lookup.Get, 2)
	hdl.Connect(&b.Ahead.Out, &b.Fetch.Lookup.Ahead, 2)
	hdl.Connect(&b.Fetch.Store.WQE, &b.WQE.In, 2)
	hdl.Connect(&b.Fetch.Lookup.Read, &b.Read.In, 2)
	hdl.Connect(&b.Data.Out, &b.Fetch.Store.Data, 2)
	for i, th := range []*agent.Throttle{&b.Get.Throttle, &b.Ahead.Throttle, &b.WQE.Throttle, &b.Read.Throttle, &b.Data.Throttle} {
		if throttle != 0 {
			th.Seed = throttle + uint64(i)
		}
	}
	b.Read.OnTake = func(q port.ReadReq) { b.read(t, q) }
	b.Data.NotBefore = func(n int) uint64 { return b.due[n] }
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	b.k = k
	return b
}

// read answers as dma would.
func (b *bench) read(t hdltest.T, q port.ReadReq) {
	require.NotZero(t, q.Len)
	require.Less(t, q.Shift, uint8(port.BeatBytes))
	var beat port.ReadBeat
	err := false
	lane := int(q.Shift)
	for i := uint32(0); i < q.Len; i++ {
		a := q.Addr + port.BusAddr(i)
		if b.posted != nil && (i == 0 || a&15 == 0) {
			require.True(t, b.posted(a), "read of %#x, which is not posted", a)
		}
		err = err || b.bad[a&^15]
		g := b.mem[a&^15]
		beat.Data[lane] = g[a&15]
		lane++
		if lane == port.BeatBytes || i == q.Len-1 {
			beat.Len, beat.Last = uint8(lane), i == q.Len-1
			beat.Err = beat.Last && err
			b.due = append(b.due, b.k.Cycle()+b.latency)
			b.Data.Push(beat)
			beat, lane = port.ReadBeat{}, 0
		}
	}
}
