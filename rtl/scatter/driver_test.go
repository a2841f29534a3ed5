package scatter_test

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

const (
	sqLog  = 10
	hotKey = port.Key(abi.AccessRemoteWrite|abi.AccessRemoteAtomic) << keyAccess
)

// traffic is the world around the bench: peers that send, a driver that posts,
// breaks and resets.
type traffic struct {
	*model
	rng        *rand.Rand
	list       []*qp
	va         port.VA   // next free buffer
	left       int       // packets still to be sent
	held       []sentPkt // the next, when the buffer had no room
	mtu        int
	trouble    bool             // faults of all kinds
	transports []roce.Transport // of the QPs in turn
	size       int              // if not 0, all messages have this size, and receive WQEs one element
	seen       struct{ cqes, atomics, lost, keys int }
	purged     hdl.Event
}

func newTraffic(b *bench, seed uint64, qps, packets int, trouble bool, transports ...roce.Transport) *traffic {
	x := &traffic{
		model: &model{b: b, qps: map[port.QPN]*qp{}, killed: map[port.Key]bool{}, memory: memory{}},
		rng:   rand.New(rand.NewPCG(seed, 7)), left: packets, mtu: 1024, va: 0x10000, trouble: trouble,
		transports: append(transports, roce.RC)[:max(1, len(transports))],
	}
	base := port.BusAddr(0x4000_0000)
	for i := range qps {
		q := &qp{n: port.QPN((i*37 + 5) % 1024), base: base, logStride: uint8(5 + x.rng.IntN(5)), log: uint8(1 + x.rng.IntN(5))}
		base += 1<<(q.logStride+q.log) + 64
		q.sq, q.hot, q.sqPI = base, x.va, uint16(x.rng.Uint32())
		base += abi.UnitSize << sqLog
		x.va += 4096
		q.transport = x.transports[i%len(x.transports)]
		x.qps[q.n] = q
		x.list = append(x.list, q)
		x.reborn(q)
	}
	x.begin(b)
	return x
}

// share has some of the QPs take their receives from shared queues.
func (x *traffic) share() {
	var two [2]*srq
	for i := range two {
		two[i] = newSRQ(port.SRQN(7*i), port.BusAddr(0x6000_0000+i<<20), uint8(5+x.rng.IntN(5)), uint8(2+x.rng.IntN(5)), uint16(x.rng.Uint32()))
		x.postShared(two[i])
	}
	for i, q := range x.list {
		if i%3 != 2 {
			q.srq, q.ci, q.pi, q.free = two[i%2], 0, 0, 0
		}
	}
}

// begin has the bench ask the model.
func (x *traffic) begin(b *bench) {
	b.Qpc.Answer = x.answer
	b.Qpc.Latency = func() uint64 { return 3 + uint64(x.rng.IntN(5)) }
	b.Mpt.Latency = func() uint64 { return 3 + uint64(x.rng.IntN(3)) }
	b.Atomic.Latency = func() uint64 { return 5 + uint64(x.rng.IntN(100)) }
	b.buf.onFree = x.pump
	b.CQE.OnTake = x.checkCQE
	b.Resp.OnTake = x.checkJob
	b.Event.OnTake = x.checkEvent
	b.Atomic.OnTake = x.checkAtomic
}

// reborn starts a life of a QP.
func (x *traffic) reborn(q *qp) {
	psn := roce.PSN(x.rng.Uint32N(1 << 24))
	*q = qp{
		n: q.n, base: q.base, logStride: q.logStride, log: q.log, sq: q.sq, sqPI: q.sqPI, hot: q.hot,
		alive: true, last: -1, life: q.life + 1, transport: q.transport, srq: q.srq,
		wqes: map[uint16]wqe{}, jobs: q.jobs, events: q.events, atomics: q.atomics, psn: psn, peer: peer{psn: psn},
	}
	x.post(q)
}

// key is a new key for a use.
func (x *traffic) key(a abi.AccessFlags) port.Key {
	k := port.Key(x.rng.Uint32())&^(recvKey|0xff) | port.Key(a)<<keyAccess
	if x.trouble && x.rng.IntN(100) == 0 {
		k |= port.Key(1 + x.rng.IntN(4))
	}
	return k
}

// post fills some of a receive ring.
func (x *traffic) post(q *qp) {
	if q.srq != nil {
		x.postShared(q.srq)
		return
	}
	before := q.pi
	for n := 1 + x.rng.IntN(1<<q.log); n > 0 && q.pi-q.free < 1<<q.log; n-- {
		w := x.newWQE(min(port.MaxSGE, 1<<q.logStride/16-1), 0)
		for i := range w.list.SGE {
			w.list.SGE[i].Key |= recvKey
		}
		q.wqes[q.pi] = w
		ctrl := abi.RWQEControl{NumSGE: w.list.Num, Index: q.pi}
		switch w.wrong {
		case abi.VendorWQEStale:
			ctrl.Index++
		case abi.VendorWQEFormat:
			ctrl.NumSGE = port.MaxSGE + 1
		}
		b := make([]byte, 1<<q.logStride)
		abi.RWQEControlLayout.Encode(&ctrl, b)
		x.elements(&w, b[abi.RWQEDataOffset:])
		x.b.host.write(q.addr(q.pi), b)
		q.pi++
	}
	if q.dead && q.pi != before {
		x.b.QPErr.Push(port.QPError{QPN: q.n})
	}
}

// postSend posts the READ or atomic that a response of n bytes answers.
func (x *traffic) postSend(q *qp, op abi.WQEOp, n int) *wqe {
	sges := port.MaxSGE
	if op == abi.OpFetchAdd {
		sges = 1
	}
	w := x.newWQE(sges, n)
	w.idx = q.sqPI
	ctrl := abi.WQEControl{Op: op, Units: uint8(abi.WQEUnits(int(w.list.Num), 0)), NumSGE: w.list.Num, Index: w.idx}
	switch w.wrong {
	case abi.VendorWQEStale:
		ctrl.Index++
	case abi.VendorWQEFormat:
		ctrl.NumSGE = port.MaxSGE + 1
	}
	b := make([]byte, int(ctrl.Units)*abi.UnitSize)
	abi.WQEControlLayout.Encode(&ctrl, b)
	x.elements(&w, b[abi.WQEDataOffset:])
	for i := range int(ctrl.Units) {
		at := port.BusAddr(w.idx+uint16(i)) & (1<<sqLog - 1)
		x.b.host.write(q.sq+at*abi.UnitSize, b[i*abi.UnitSize:][:abi.UnitSize])
	}
	if x.rng.IntN(4) > 0 && n > 0 {
		x.b.Ahead.Push(port.SQAhead{QPN: q.n, Base: q.sq, Log: sqLog, Idx: w.idx, Units: ctrl.Units})
	}
	q.sqPI += uint16(ctrl.Units)
	return &w
}

func (x *traffic) elements(w *wqe, b []byte) {
	for i, s := range w.list.SGE[:w.list.Num] {
		e := abi.SGE{Addr: uint64(s.VA), Length: s.Len, LKey: abi.Key(s.Key)}
		abi.SGELayout.Encode(&e, b[abi.SGESize*i:])
	}
}

// newWQE makes a list of up to most elements, with exactly total bytes or, with 0,
// room for most messages.
func (x *traffic) newWQE(most, total int) (w wqe) {
	r := x.rng
	if x.size != 0 {
		w.list.Num, w.list.SGE[0], w.total = 1, port.SGE{VA: x.va, Len: uint32(x.size), Key: x.key(abi.AccessLocalWrite)}, x.size
		x.va += port.VA(x.size)
		return w
	}
	w.list.Num = uint8(1 + r.IntN(most))
	if x.trouble && total == 0 && r.IntN(30) == 0 {
		w.list.Num = 0
	}
	for i := range w.list.Num {
		s := port.SGE{VA: x.va, Key: x.key(abi.AccessLocalWrite)}
		last := i == w.list.Num-1
		switch n := uint32(pick(r, r.IntN(5000), r.IntN(100), 0, 2048, 4096)); {
		case total == 0 && last && !(x.trouble && r.IntN(30) == 0):
			s.Len = n + uint32(max(0, 3*x.mtu-w.total))
		case total == 0:
			s.Len = n
		case last:
			s.Len = uint32(total - w.total)
		default:
			s.Len = min(n/8, uint32(total-w.total))
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

// driver posts, now and then breaks a QP, and resets broken ones.
func (x *traffic) driver(t *hdl.Thread) {
	x.pump()
	for x.left > 0 {
		t.Sleep(1 + uint64(x.rng.IntN(40)))
		x.pump()
		q := x.list[x.rng.IntN(len(x.list))]
		switch n := x.rng.IntN(500); {
		case q.dead && n < 250:
			x.reset(t, q)
		case x.trouble && !q.dead && q.srq != nil && n < 3:
			x.reset(t, q)
		case x.trouble && !q.dead && n == 0:
			x.fail(q)
		case x.trouble && n == 1 && !q.unacked():
			x.b.TxFail.Push(port.SQFault{QPN: q.n, PSN: q.psn, Status: abi.StatusRemAccess, Vendor: abi.VendorRKeyUnknown})
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

// finish checks that everything came and nothing is left.
func (x *traffic) finish() {
	t := x.b.t
	require.Zero(t, x.left)
	require.Empty(t, x.sent)
	require.Empty(t, x.b.buf.frames, "frames are not released")
	require.Len(t, x.cqes, x.seen.cqes, "CQEs are missing")
	require.Len(t, x.atomics, x.seen.atomics, "atomics are missing")
	for _, q := range x.list {
		require.Empty(t, q.events, "events are missing")
		require.Empty(t, q.faults, "faults are not reported")
		for _, d := range q.jobs {
			require.True(t, d.void, "QP %d: %+v was not sent", q.n, d.job)
		}
		require.True(t, !q.dead || q.ci == q.pi && !q.active, "QP %d is not flushed", q.n)
		require.Equal(t, q.dead && q.srq != nil, q.told, "last WQE of QP %d", q.n)
	}
	require.Equal(t, x.memory, x.b.dma.posted)
	require.Equal(t, x.killed, x.b.killed)
	require.Equal(t, x.stats, x.b.AckGen.Judge.Stats.Get())
	require.Zero(t, x.b.Scat.Collect.Q.Poisoned)
	require.Zero(t, x.b.Scat.Collect.Q.Atomics.Used)
	require.Zero(t, x.b.Scat.Front.Q.Counted)
}
