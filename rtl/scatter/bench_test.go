package scatter_test

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	ackgen "rnic/rtl/ack_gen"
	"rnic/rtl/port"
	rqfetch "rnic/rtl/rq_fetch"
	"rnic/rtl/scatter"
	"rnic/tb/agent"
)

// setup is what a bench is built with.
type setup struct {
	scatter  scatter.Params
	ackgen   ackgen.Params
	fetch    rqfetch.Params
	throttle uint64 // seed; 0: full speed
	marks    uint64 // seed of markers among the answers of mpt; 0: none
	markMax  int    // under way at once
}

// bench is the receive pipeline with models of pkt_rx, qpc, mpt and dma around it.
type bench struct {
	Pkt    agent.Source[port.RxPkt]
	Purge  agent.Source[port.Purge]
	QPErr  agent.Source[port.QPError]
	TxFail agent.Source[port.SQFault]
	Ahead  agent.Source[port.SQAhead]
	Qpc    agent.Responder[port.RxOp, port.RxVerdict]
	AckGen *ackgen.AckGen
	Fetch  *rqfetch.Fetch
	Scat   *scatter.Scatter
	Mpt    agent.Responder[port.MptReq, port.MptRes]

	RQRead agent.Sink[port.ReadReq]
	RQData agent.Source[port.ReadBeat]
	RxRead agent.Sink[port.RxRead]
	RxData agent.Source[port.Beat]
	Free   agent.Sink[port.RxFree]
	Write  agent.Sink[port.WriteReq]
	WData  agent.Sink[port.Beat]
	WDone  agent.Source[port.WriteDone]
	CQE    agent.Sink[port.CQEReq]
	Resp   agent.Sink[port.Job]
	Event  agent.Sink[port.AckEvent]
	Atomic atomicUnit
	Mark   marker
	Ended  agent.Source[port.KeyEnded]

	k    *hdl.Kernel
	t    hdltest.T
	host host
	buf  rxBuf
	dma  dma

	killed map[port.Key]bool
}

func newBench(t hdltest.T, s setup, o hdl.Options) *bench {
	b := &bench{t: t, killed: map[port.Key]bool{}, AckGen: ackgen.New(s.ackgen), Fetch: rqfetch.New(s.fetch), Scat: scatter.New(s.scatter)}
	a, f, c := b.AckGen, b.Fetch, b.Scat
	hdl.Connect(&b.Pkt.Out, &a.Issue.Pkt, 2)
	hdl.Connect(&b.Purge.Out, &a.Issue.Purge, 2)
	hdl.Connect(&b.QPErr.Out, &a.FlushList.QPErr, 2)
	hdl.Connect(&a.Issue.Op, &b.Qpc.In, 2)
	hdl.Connect(&b.Qpc.Out, &a.Judge.Verdict, s.ackgen.VerdictDepth())
	hdl.Connect(&b.TxFail.Out, &a.Issue.RespFault, s.ackgen.RespFaultDepth())
	hdl.Connect(&b.Ahead.Out, &f.Lookup.Ahead, 2)
	hdl.Connect(&a.Judge.Place, &c.Front.Place, 2)
	hdl.Connect(&a.Reply.Resp, &b.Resp.In, 2)
	hdl.Connect(&c.Finish.Placed, &a.Reply.Placed, 2)
	hdl.Connect(&c.Front.RQGet, &f.Lookup.Get, 2)
	hdl.Connect(&f.Store.WQE, &c.Split.RQWQE, 2)
	hdl.Connect(&f.Lookup.Read, &b.RQRead.In, 2)
	hdl.Connect(&b.RQData.Out, &f.Store.Data, 2)
	hdl.Connect(&c.Split.Mpt, &b.Mpt.In, 2)
	mpt := &c.Collect.MptRes
	if s.marks != 0 {
		hdl.Connect(&b.Mark.Out, mpt, s.scatter.MptDepth())
		mpt = &b.Mark.In
	} else {
		hdl.TieOff(&b.Mark.Out, &b.Mark.In)
	}
	hdl.Connect(&b.Mpt.Out, mpt, s.scatter.MptDepth())
	b.Mark.b, b.Mark.seed, b.Mark.max, b.Mark.rng = b, s.marks, s.markMax, rand.New(rand.NewPCG(s.marks, 6))
	hdl.Connect(&c.Mover.Read, &b.RxRead.In, 2)
	hdl.Connect(&b.RxData.Out, &c.Forward.Data, 2)
	hdl.Connect(&c.Forward.Free, &b.Free.In, 2)
	hdl.Connect(&c.Mover.Write, &b.Write.In, 2)
	hdl.Connect(&c.Forward.WriteData, &b.WData.In, 2)
	hdl.Connect(&b.WDone.Out, &c.Finish.WriteDone, 2)
	hdl.Connect(&c.Finish.CQE, &b.CQE.In, 2)
	hdl.Connect(&c.Finish.Event, &b.Event.In, 2)
	hdl.Connect(&c.Finish.Atomic, &b.Atomic.In, 2)
	hdl.Connect(&b.Atomic.Out, &c.Collect.AtomicDone, 2)
	hdl.Connect(&c.Finish.Fenced, &b.Mark.Back, 2)
	hdl.Connect(&b.Ended.Out, &c.Finish.KeyEnded, 2)
	if s.throttle != 0 {
		for i, th := range []*agent.Throttle{
			&b.Pkt.Throttle, &b.Qpc.Throttle, &b.Mpt.Throttle, &b.RQRead.Throttle, &b.RQData.Throttle,
			&b.RxRead.Throttle, &b.RxData.Throttle, &b.Free.Throttle, &b.Write.Throttle, &b.WData.Throttle,
			&b.WDone.Throttle, &b.CQE.Throttle, &b.Resp.Throttle, &b.Event.Throttle, &b.Ahead.Throttle, &b.Atomic.Throttle,
		} {
			th.Seed = s.throttle + uint64(i)
		}
	}
	b.host.init(b)
	b.buf.init(b)
	b.dma.init(b)
	b.Mpt.Answer = b.translate
	b.Atomic.b, b.Atomic.done = b, map[port.QPN]int{}
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	b.k = k
	return b
}

const pageBytes = 4096

// bus is where the page table has a byte: pages are shuffled.
func bus(va port.VA) port.BusAddr {
	page := uint64(va) / pageBytes
	return port.BusAddr((page*0x9e3779b1)&0xffffff*pageBytes + uint64(va)%pageBytes)
}

// A key's low bits are mpt's answer to any use of it; keyAccess is where the uses
// begin that it allows. A region has so many bytes behind any address.
const (
	keyAccess = 4
	region    = 1 << 24
)

// A key with recvKey is of the domain of receive WQEs, others of the QP's.
const (
	recvKey = 1 << 30
	testPD  = 0x55
	testRQ  = 0x77
)

func domain(k port.Key) port.PD {
	if k&recvKey != 0 {
		return testRQ
	}
	return testPD
}

// translate is mpt.
func (b *bench) translate(q port.MptReq) port.MptRes {
	require.Equal(b.t, domain(q.Key), q.PD)
	r := port.MptRes{Status: port.MptStatus(q.Key & 7)}
	switch {
	case b.killed[q.Key]:
		r.Status = port.MptBadKey
	case r.Status != port.MptOK:
	case q.Invalidate:
		b.killed[q.Key] = true
		b.Ended.Push(port.KeyEnded{})
		return r
	case q.Access&^uint8(q.Key>>keyAccess) != 0:
		r.Status = port.MptBadAccess
	case q.Range > region:
		r.Status = port.MptBadBounds
	}
	if r.Status == port.MptOK {
		r.Addr0, r.Len0 = bus(q.VA), min(q.Len, uint16(pageBytes-q.VA%pageBytes))
		if r.Len1 = q.Len - r.Len0; r.Len1 != 0 {
			r.Addr1 = bus(q.VA + port.VA(r.Len0))
		}
	}
	return r
}

// rxBuf is pkt_rx's buffer: frames one behind the other, in beats.
type rxBuf struct {
	b          *bench
	data       [256 * port.BeatBytes]byte
	head, used int // beats
	frames     []int
	onFree     func()
}

func (x *rxBuf) init(b *bench) {
	x.b = b
	b.RxRead.OnTake = x.read
	b.Free.OnTake = func(f port.RxFree) {
		require.NotEmpty(b.t, x.frames, "a frame is released twice")
		require.EqualValues(b.t, x.frames[0], f.Beats)
		for i := range x.frames[0] * port.BeatBytes { // whoever reads now reads garbage
			x.data[(x.head*port.BeatBytes+i)%len(x.data)] = 0xdd
		}
		x.head = (x.head + x.frames[0]) % (len(x.data) / port.BeatBytes)
		x.used -= x.frames[0]
		x.frames = x.frames[1:]
		x.onFree()
	}
}

// put stores a frame; ok is false if there is no room.
func (x *rxBuf) put(header int, payload []byte) (addr uint32, beats uint8, ok bool) {
	n := (header + len(payload) + port.BeatBytes - 1) / port.BeatBytes
	if x.used+n > len(x.data)/port.BeatBytes {
		return 0, 0, false
	}
	at := (x.head + x.used) * port.BeatBytes
	for i, v := range payload {
		x.data[(at+header+i)%len(x.data)] = v
	}
	x.used += n
	x.frames = append(x.frames, n)
	return uint32((at + header) % len(x.data)), uint8(n), true
}

// fill writes bytes of a frame.
func (x *rxBuf) fill(addr uint32, bytes []byte) {
	for i, v := range bytes {
		x.data[(int(addr)+len(x.data)+i)%len(x.data)] = v
	}
}

func (x *rxBuf) read(q port.RxRead) {
	require.NotZero(x.b.t, q.Len)
	for at, end := int(q.Addr), int(q.Addr)+int(q.Len); at < end; {
		word := at &^ (port.BeatBytes - 1)
		b := port.Beat{Len: uint8(min(end-word, port.BeatBytes))}
		copy(b.Data[:], x.data[word%len(x.data):])
		at = word + port.BeatBytes
		b.Last = at >= end
		x.b.RxData.Push(b)
	}
}

// dma is the write side: it assembles requests and posts them some cycles later.
type dma struct {
	b       *bench
	reqs    []port.WriteReq
	beats   []port.Beat
	posted  memory
	bytes   int      // taken in all
	due     []uint64 // of each WriteDone
	atDue   []int    // bytes taken until then
	looks   []uint64 // the look-up of its last run
	latency uint64
}

func (d *dma) init(b *bench) {
	d.b, d.posted, d.latency = b, memory{}, 12
	b.Write.OnTake = func(r port.WriteReq) {
		require.NotZero(b.t, r.Len)
		d.reqs = append(d.reqs, r)
		d.post()
	}
	b.WData.OnTake = func(v port.Beat) {
		d.beats = append(d.beats, v)
		d.post()
	}
	b.WDone.NotBefore = func(n int) uint64 { return d.due[n] }
}

// postedBy is the number of bytes that a WriteDone has vouched for.
func (d *dma) postedBy(now uint64) (n int) {
	for i := len(d.due) - 1; i >= 0; i-- {
		if d.due[i] < now {
			return d.atDue[i]
		}
	}
	return 0
}

// post does the oldest request once all of its beats are there.
func (d *dma) post() {
	for len(d.reqs) > 0 {
		r := d.reqs[0]
		n := (int(r.Shift) + int(r.Len) + port.BeatBytes - 1) / port.BeatBytes
		if len(d.beats) < n {
			return
		}
		lane, left := int(r.Shift), int(r.Len)
		addr, look := d.b.Mark.untag(r.Addr)
		for i, v := range d.beats[:n] {
			require.Equal(d.b.t, i == n-1, v.Last, "beat %d of %d", i, n)
			require.EqualValues(d.b.t, min(port.BeatBytes, lane+left), v.Len)
			for ; lane < int(v.Len); lane++ {
				d.posted.set(addr, v.Data[lane])
				addr, left = addr+1, left-1
			}
			lane = 0
		}
		d.bytes += int(r.Len)
		if r.Notify {
			d.due = append(d.due, d.b.k.Cycle()+d.latency)
			d.atDue = append(d.atDue, d.bytes)
			d.looks = append(d.looks, look)
			d.b.WDone.Push(port.WriteDone{})
		}
		d.reqs, d.beats = d.reqs[1:], d.beats[n:]
	}
}

// host is host memory as rq_fetch sees it.
type host struct {
	b       *bench
	mem     map[port.BusAddr][16]byte
	due     []uint64
	latency uint64
}

func (h *host) init(b *bench) {
	h.b, h.mem, h.latency = b, map[port.BusAddr][16]byte{}, 30
	b.RQRead.OnTake = h.read
	b.RQData.NotBefore = func(n int) uint64 { return h.due[n] }
}

func (h *host) read(q port.ReadReq) {
	var beat port.ReadBeat
	lane := int(q.Shift)
	for i := uint32(0); i < q.Len; i++ {
		a := q.Addr + port.BusAddr(i)
		g := h.mem[a&^15]
		beat.Data[lane] = g[a&15]
		lane++
		if lane == port.BeatBytes || i == q.Len-1 {
			beat.Len, beat.Last = uint8(lane), i == q.Len-1
			h.due = append(h.due, h.b.k.Cycle()+h.latency)
			h.b.RQData.Push(beat)
			beat, lane = port.ReadBeat{}, 0
		}
	}
}

// write puts bytes, a multiple of 16, at a multiple of 16.
func (h *host) write(at port.BusAddr, b []byte) {
	for i := 0; i < len(b); i += 16 {
		h.mem[at+port.BusAddr(i)] = [16]byte(b[i:])
	}
}
