package scatter_test

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// traffic is the world around the bench: peers that send, a driver that posts,
// breaks and resets.
type traffic struct {
	*model
	rng      *rand.Rand
	list     []*qp
	va       port.VA // next free buffer
	left     int     // packets still to be sent
	mtu      int
	trouble  bool // faults of all kinds
	coalesce bool
	size     int // if not 0, all messages have this size, and receive WQEs one element
	cqes     int
	events   int
	purged   hdl.Event
	skipped  int // acknowledgements that others stood for
}

func newTraffic(b *bench, seed uint64, qps, packets int, trouble bool) *traffic {
	x := &traffic{
		model: &model{b: b, qps: map[port.QPN]*qp{}},
		rng:   rand.New(rand.NewPCG(seed, 7)), left: packets, mtu: 1024, va: 0x10000, trouble: trouble, coalesce: true,
	}
	x.expect.memory = map[port.BusAddr]byte{}
	base := port.BusAddr(0x4000_0000)
	for i := range qps {
		q := &qp{n: port.QPN((i*37 + 5) % 1024), base: base, logStride: uint8(5 + x.rng.IntN(3)), log: uint8(1 + x.rng.IntN(5))}
		base += 1<<(q.logStride+q.log) + 64
		x.qps[q.n] = q
		x.list = append(x.list, q)
		x.reborn(q)
	}
	b.Qpc.Answer = x.answer
	b.Qpc.Latency = func() uint64 { return 3 + uint64(x.rng.IntN(5)) }
	b.Mpt.Latency = func() uint64 { return 3 + uint64(x.rng.IntN(3)) }
	b.buf.onFree = x.pump
	b.CQE.OnTake = x.checkCQE
	b.Resp.OnTake = x.checkResp
	b.Event.OnTake = func(e port.AckEvent) {
		require.Equal(b.t, x.expect.events[x.events], e)
		x.events++
	}
	return x
}

// reborn starts a life of a QP.
func (x *traffic) reborn(q *qp) {
	for i := range q.acks {
		q.acks[i].void = true
	}
	psn := roce.PSN(x.rng.Uint32N(1 << 24))
	*q = qp{
		n: q.n, base: q.base, logStride: q.logStride, log: q.log, alive: true, last: -1, life: q.life + 1,
		wqes: map[uint16]wqe{}, acks: q.acks, psn: psn, peer: peer{psn: psn},
	}
	x.post(q)
}

// post fills some of a ring.
func (x *traffic) post(q *qp) {
	before := q.pi
	for n := 1 + x.rng.IntN(1<<q.log); n > 0 && q.pi-q.free < 1<<q.log; n-- {
		w := x.newWQE(q)
		q.wqes[q.pi] = w
		ctrl := abi.RWQEControl{NumSGE: w.list.Num, Index: q.pi}
		switch w.wrong {
		case abi.VendorWQEStale:
			ctrl.Index++
		case abi.VendorWQEFormat:
			ctrl.NumSGE = 5
		}
		var b [512]byte
		abi.RWQEControlLayout.Encode(&ctrl, b[:])
		for i, s := range w.list.SGE[:w.list.Num] {
			e := abi.SGE{Addr: uint64(s.VA), Length: s.Len, LKey: abi.Key(s.Key)}
			abi.SGELayout.Encode(&e, b[16+16*i:])
		}
		for i := 0; i < 1<<q.logStride; i += 16 {
			x.b.host.mem[q.addr(q.pi)+port.BusAddr(i)] = [16]byte(b[i:])
		}
		q.pi++
	}
	if q.dead && q.pi != before {
		x.b.QPErr.Push(port.QPError{QPN: q.n})
	}
}

func (x *traffic) newWQE(q *qp) (w wqe) {
	r := x.rng
	if x.size != 0 {
		w.list.Num, w.list.SGE[0], w.total = 1, port.SGE{VA: x.va, Len: uint32(x.size)}, x.size
		x.va += port.VA(x.size)
		return w
	}
	w.list.Num = uint8(r.IntN(min(port.MaxSGE, 1<<q.logStride/16-1) + 1))
	if !x.trouble {
		w.list.Num = max(w.list.Num, 1)
	}
	for i := range w.list.Num {
		s := port.SGE{VA: x.va, Key: port.Key(r.Uint32()) &^ 7}
		s.Len = uint32(pick(r, r.IntN(5000), r.IntN(100), 0, 2048, 4096))
		if i == w.list.Num-1 && !(x.trouble && r.IntN(30) == 0) {
			s.Len += uint32(max(0, 3*x.mtu-w.total)) // room for most messages
		}
		if x.trouble && r.IntN(150) == 0 {
			s.Key |= port.Key(1 + r.IntN(4))
		}
		x.va += port.VA(s.Len) + port.VA(r.IntN(200))
		w.list.SGE[i] = s
		w.total += int(s.Len)
	}
	if x.trouble && r.IntN(150) == 0 {
		w.wrong = pick(r, abi.VendorWQEStale, abi.VendorWQEFormat)
	}
	return w
}

// pump has peers send while there is room in the buffer.
func (x *traffic) pump() {
	for x.left > 0 && x.b.Pkt.Pending() < 4 {
		q := x.list[x.rng.IntN(len(x.list))]
		s, end := x.next(q)
		var ok bool
		if s.pkt.BufAddr, s.pkt.FrameBeats, ok = x.b.buf.put(pick(x.rng, 54, 74, 58), s.payload); !ok {
			return
		}
		q.peer = end
		x.left--
		x.sent = append(x.sent, s)
		x.b.Pkt.Push(s.pkt)
	}
}

// next makes a packet, and tells how it leaves the peer.
func (x *traffic) next(q *qp) (s sentPkt, p peer) {
	r := x.rng
	p = q.peer
	s = sentPkt{life: q.life, pkt: port.RxPkt{QPN: q.n, PSN: p.psn, Imm: r.Uint32(), Solicited: r.IntN(4) == 0}}
	if x.size != 0 {
		p.psn = p.psn.Add(1)
		s.pkt.Opcode, s.pkt.AckReq, s.pkt.Len, s.payload = roce.RCSendOnly, true, uint16(x.size), x.bytes(x.size)
		return s, p
	}
	switch r.IntN(40) {
	case 0:
		s.pkt.Opcode, s.pkt.Syndrome = roce.RCAck, pick[uint8](r, 31, 0x60)
		return s, p
	case 1:
		s.pkt.QPN, s.pkt.Opcode = 1023, roce.RCSendOnly
		s.payload = x.bytes(r.IntN(x.mtu))
		s.pkt.Len = uint16(len(s.payload))
		return s, p
	case 2, 3:
		s.fate, s.pkt.Opcode = pick(r, dropped, duplicate), roce.RCSendOnly
		s.payload = x.bytes(r.IntN(x.mtu))
		s.pkt.Len = uint16(len(s.payload))
		return s, p
	}
	if x.trouble && r.IntN(300) == 0 {
		s.fate = fatal
	}
	if !p.started {
		p.left = pick(r, 0, 1, 64, r.IntN(64), r.IntN(x.mtu+1), r.IntN(3*x.mtu))
	}
	n := min(p.left, x.mtu)
	p.left -= n
	imm := r.IntN(4) == 0
	switch {
	case !p.started && p.left == 0 && imm:
		s.pkt.Opcode = roce.RCSendOnlyImm
	case !p.started && p.left == 0:
		s.pkt.Opcode = roce.RCSendOnly
	case !p.started:
		s.pkt.Opcode = roce.RCSendFirst
	case p.left > 0:
		s.pkt.Opcode = roce.RCSendMiddle
	case imm:
		s.pkt.Opcode = roce.RCSendLastImm
	default:
		s.pkt.Opcode = roce.RCSendLast
	}
	p.started = p.left > 0
	p.psn = p.psn.Add(1)
	s.payload, s.pkt.Len = x.bytes(n), uint16(n)
	s.pkt.AckReq = !p.started && r.IntN(4) > 0 || r.IntN(8) == 0
	return s, p
}

func (x *traffic) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(x.rng.Uint32())
	}
	return b
}

// driver posts, now and then breaks a QP, and resets broken ones.
func (x *traffic) driver(t *hdl.Thread) {
	x.pump()
	for x.left > 0 {
		t.Sleep(1 + uint64(x.rng.IntN(40)))
		x.pump()
		q := x.list[x.rng.IntN(len(x.list))]
		switch {
		case q.dead && x.rng.IntN(2) == 0:
			x.reset(t, q)
		case x.trouble && !q.dead && x.rng.IntN(250) == 0:
			x.fail(q)
		default:
			x.post(q)
		}
	}
}

// reset takes a QP to RESET, purges and starts it anew.
func (x *traffic) reset(t *hdl.Thread, q *qp) {
	q.alive, q.dead = false, false
	done := x.purges(q)
	x.b.Purge.Push(port.Purge{QPN: q.n, RX: true})
	for x.purges(q) == done {
		t.Wait(&x.purged, 0)
	}
	x.reborn(q)
}

// purges counts the markers of a QP that have come through.
func (x *traffic) purges(q *qp) (n int) {
	for _, c := range x.b.CQE.Got {
		if c.Purge && c.QPN == q.n {
			n++
		}
	}
	return n
}

func (x *traffic) checkCQE(c port.CQEReq) {
	require.Less(x.b.t, x.cqes, len(x.expect.cqes), "a CQE too many: %+v", c)
	require.Equal(x.b.t, x.expect.cqes[x.cqes], c, "CQE %d", x.cqes)
	require.GreaterOrEqual(x.b.t, x.b.dma.postedBy(x.b.k.Cycle()), x.expect.marks[x.cqes], "CQE %d before its payload", x.cqes)
	x.cqes++
	if c.Purge {
		x.purged.Notify()
		return
	}
	q := x.qps[c.QPN]
	require.Equal(x.b.t, q.free, c.UnitIdx, "receive WQEs complete in order")
	q.free++
}

func (x *traffic) checkResp(p port.TxPkt) {
	q := x.qps[p.QPN]
	isAck := roce.Syndrome(p.Syndrome).Kind() == roce.KindACK
	for {
		require.NotEmpty(x.b.t, q.acks, "an acknowledgement too many: %+v", p)
		d := q.acks[0]
		q.acks = q.acks[1:]
		want := port.TxPkt{QPN: q.n, Resp: true, Opcode: roce.RCAck, PSN: d.ack.PSN, Syndrome: d.ack.Syndrome, MSN: d.ack.MSN}
		if want == p {
			require.GreaterOrEqual(x.b.t, x.b.dma.postedBy(x.b.k.Cycle()), d.mark, "acknowledged before the payload is posted")
			return
		}
		if !d.void {
			require.True(x.b.t, x.coalesce && isAck && roce.Syndrome(d.ack.Syndrome).Kind() == roce.KindACK, "sent %+v, not %+v", p, want)
			x.skipped++
		}
	}
}

// finish checks that everything came and nothing is left.
func (x *traffic) finish() {
	t := x.b.t
	require.Zero(t, x.left)
	require.Empty(t, x.sent)
	require.Empty(t, x.b.buf.frames, "frames are not released")
	require.Len(t, x.expect.cqes, x.cqes, "CQEs are missing")
	require.Len(t, x.expect.events, x.events, "events are missing")
	for _, q := range x.list {
		for _, d := range q.acks {
			require.True(t, d.void, "QP %d: %+v was not sent", q.n, d.ack)
		}
		require.True(t, !q.dead || q.ci == q.pi && !q.active, "QP %d is not flushed", q.n)
	}
	require.Equal(t, x.expect.memory, x.b.dma.posted)
	require.Equal(t, x.expect.stats, x.b.AckGen.Judge.Stats.Get())
	require.Zero(t, x.b.Scat.Collect.Q.Poisoned)
}
