package rqfetch_test

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/port"
	rqfetch "rnic/rtl/rq_fetch"
)

// asked is a request whose answer is due.
type asked struct {
	r      *ring
	idx    uint16
	done   bool
	vendor abi.VendorErr
	purge  bool
	skip   bool
	send   *sendWQE
	shared *sharedGet
}

// traffic posts, asks and checks at random, several requests ahead.
type traffic struct {
	t     hdltest.T
	b     *bench
	rng   *rand.Rand
	rings []*ring
	queue []asked
	left  int
	ahead int
	purge bool // now and then
	fault bool // malformed entries now and then
	wrong map[*ring]map[uint16]abi.VendorErr
	sqs   map[*ring]*sq // nil: no send queues
	srqs  []*srq
}

func newTraffic(t hdltest.T, b *bench, seed uint64, qps, gets int) *traffic {
	x := &traffic{t: t, b: b, rng: rand.New(rand.NewPCG(seed, 1)), left: gets, ahead: 12, wrong: map[*ring]map[uint16]abi.VendorErr{}}
	next := port.BusAddr(0x10000)
	for i := range qps {
		r := &ring{
			qpn: port.QPN(i * 37 % 1024), logStride: uint8(4 + x.rng.IntN(6)), log: uint8(x.rng.IntN(8)),
			ci: uint16(x.rng.Uint32()), base: next,
		}
		r.pi, r.free = r.ci, r.ci
		next += port.BusAddr(1)<<(r.log+r.logStride) + port.BusAddr(64*x.rng.IntN(4))
		next = (next + 63) &^ 63
		x.rings, x.wrong[r] = append(x.rings, r), map[uint16]abi.VendorErr{}
	}
	b.posted = x.posted
	b.WQE.OnTake = x.check
	x.more()
	return x
}

// posted tells whether an address lies in an entry that has not been given back.
func (x *traffic) posted(a port.BusAddr) bool {
	for _, r := range x.rings {
		if a >= r.base && a < r.base+port.BusAddr(1)<<(r.log+r.logStride) {
			for i := r.free; i != r.pi; i++ {
				if at := r.addr(i); a >= at && a < at+port.BusAddr(1)<<r.logStride {
					return true
				}
			}
		}
		if q := x.sqs[r]; q != nil && a >= q.base && a < q.base+port.BusAddr(64)<<q.log {
			return true
		}
	}
	for _, q := range x.srqs {
		if a >= q.base && a < q.base+port.BusAddr(1)<<(q.log+q.logStride) {
			return true
		}
	}
	return false
}

// post fills some of the room of a ring.
func (x *traffic) post(r *ring) {
	for n := x.rng.IntN(1<<r.log + 1); n > 0 && r.pi-r.free < 1<<r.log; n-- {
		ctrl := abi.RWQEControl{NumSGE: r.wqe(r.pi).Num, Index: r.pi}
		vendor := abi.VendorNone
		if x.fault && x.rng.IntN(20) == 0 {
			if vendor = abi.VendorWQEStale; x.rng.IntN(2) == 0 {
				vendor, ctrl.NumSGE = abi.VendorWQEFormat, uint8(r.maxSGE()+1+x.rng.IntN(9))
			} else {
				ctrl.Index -= 1 << r.log
			}
		}
		x.wrong[r][r.pi] = vendor
		x.b.mem.post(r, r.pi, ctrl)
		r.pi++
	}
}

// more keeps requests ahead.
func (x *traffic) more() {
	for len(x.queue) < x.ahead && x.left > 0 {
		if n := len(x.srqs); n > 0 && (len(x.rings) == 0 || x.rng.IntN(2) == 0) {
			if q := x.srqs[x.rng.IntN(n)]; !q.next(x) && x.answerDue() && x.rng.IntN(4) == 0 {
				return
			}
			continue
		}
		r := x.rings[x.rng.IntN(len(x.rings))]
		if x.purging(r) {
			return
		}
		if q := x.sqs[r]; q != nil && x.rng.IntN(2) == 0 {
			x.response(r, q)
			continue
		}
		x.post(r)
		if r.ci == r.pi {
			if x.answerDue() && x.rng.IntN(4) == 0 {
				return
			}
			continue
		}
		if x.purge && x.rng.IntN(30) == 0 && x.idle(r) {
			x.b.Get.Push(port.RQGet{Purge: true, QPN: r.qpn})
			x.queue = append(x.queue, asked{r: r, purge: true})
			continue
		}
		if x.purge && x.rng.IntN(8) == 0 { // a WRITE uses the entry up
			x.b.Get.Push(port.RQGet{Skip: true, QPN: r.qpn, Idx: r.ci, Addr: r.addr(r.ci), Stride: 1 << r.logStride, Log: r.log})
			x.queue = append(x.queue, asked{r: r, idx: r.ci, done: true, skip: true})
			r.ci++
			continue
		}
		done := x.rng.IntN(3) > 0
		x.b.Get.Push(port.RQGet{
			QPN: r.qpn, Idx: r.ci, Addr: r.addr(r.ci), Stride: 1 << r.logStride, Log: r.log,
			Next: r.pi - r.ci - 1, Done: done,
		})
		x.queue = append(x.queue, asked{r: r, idx: r.ci, done: done, vendor: x.wrong[r][r.ci]})
		x.left--
		if done {
			r.ci++
		}
	}
}

// idle: a QP is purged with no request of it under way.
func (x *traffic) idle(r *ring) bool {
	for _, a := range x.queue {
		if a.r == r {
			return false
		}
	}
	return true
}

// purging: nothing is posted or asked for until the purge is answered.
func (x *traffic) purging(r *ring) bool {
	for _, a := range x.queue {
		if a.r == r && a.purge {
			return true
		}
	}
	return false
}

// answerDue: an answer is going to come, and with it more.
func (x *traffic) answerDue() bool {
	return slices.ContainsFunc(x.queue, func(a asked) bool { return !a.skip })
}

// skipped: entries that were used up unread are free with the answer before them.
func (x *traffic) skipped() {
	for len(x.queue) > 0 && x.queue[0].skip {
		x.queue[0].r.free = x.queue[0].idx + 1
		x.queue = x.queue[1:]
	}
}

func (x *traffic) check(w port.RQWQE) {
	x.skipped()
	require.NotEmpty(x.t, x.queue, "an answer without a request")
	a := x.queue[0]
	x.queue = x.queue[1:]
	if a.shared != nil {
		a.shared.check(x, w)
		x.more()
		return
	}
	if a.send != nil {
		require.Equal(x.t, a.send.answer, w, "QP %d, send WQE %d", a.r.qpn, a.send.idx)
		if q := x.sqs[a.r]; a.done {
			q.open, q.next = q.open[1:], q.next-1
		}
		x.more()
		return
	}
	if a.purge {
		require.Equal(x.t, port.RQWQE{}, w)
		a.r.life++
		x.reborn(a.r)
		a.r.ci, a.r.pi = a.r.free, a.r.free // the same indices and slots anew
		x.more()
		return
	}
	want := port.RQWQE{Err: true, Vendor: a.vendor}
	if a.vendor == abi.VendorNone {
		want = a.r.wqe(a.idx)
	}
	require.Equal(x.t, want, w, "QP %d entry %d", a.r.qpn, a.idx)
	if a.done {
		a.r.free = a.idx + 1
	}
	x.atMostTwo()
	x.more()
}

// atMostTwo lines of a receive queue are valid.
func (x *traffic) atMostTwo() {
	q := &x.b.Fetch.Lookup.Q
	n := map[port.QPN]int{}
	for i := range q.Tags {
		if (q.Valid&^q.SQ&^q.Shared)>>i&1 != 0 {
			n[q.Tags[i].QPN]++
			require.LessOrEqual(x.t, n[q.Tags[i].QPN], 2)
		}
	}
}

func TestRandom(t *testing.T) {
	for _, c := range []struct {
		name     string
		p        rqfetch.Params
		qps      int
		throttle uint64
	}{
		{"default", rqfetch.Params{}, 20, 0},
		{"throttled", rqfetch.Params{}, 20, 5},
		{"many QPs", rqfetch.Params{Lines: 8}, 100, 9},
		{"least", rqfetch.Params{Lines: 2, Gets: 2}, 6, 13},
		{"one QP", rqfetch.Params{}, 1, 17},
	} {
		t.Run(c.name, func(t *testing.T) {
			hdltest.Identical(t, hdl.Options{Seed: 1}, func(o hdl.Options) (hdltest.Digester, int) {
				b := newBench(t, c.p, o, c.throttle)
				x := newTraffic(t, b, 3, c.qps, 1500)
				x.purge, x.fault = true, true
				x.sendQueues()
				require.NoError(t, b.k.Run(1_000_000))
				require.Zero(t, x.left)
				x.skipped()
				require.Empty(t, x.queue, "requests without an answer")
				return b.k, len(b.WQE.Got)
			})
		})
	}
}

// TestUnreadable has one unreadable entry in a line whose earlier ones arrived
// before. It and what was read with it are refused, no earlier one.
func TestUnreadable(t *testing.T) {
	for logStride := uint8(4); logStride <= 9; logStride++ {
		b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
		r := &ring{qpn: 3, base: 0x4000, logStride: logStride, log: 7}
		const bad = 70
		for ; r.pi < 100; r.pi++ {
			b.mem.post(r, r.pi, abi.RWQEControl{NumSGE: r.wqe(r.pi).Num, Index: r.pi})
		}
		b.bad[r.addr(bad)] = true
		for i := range uint16(100) {
			next := 99 - i
			if i < bad-4 {
				next = bad - 1 - i
			}
			b.Get.Push(port.RQGet{QPN: 3, Idx: i, Addr: r.addr(i), Stride: 1 << logStride, Log: r.log, Next: next, Done: true})
		}
		b.Get.NotBefore = func(n int) uint64 { return uint64(n) * 100 }
		require.NoError(t, b.k.Run(100_000))
		require.Len(t, b.WQE.Got, 100)
		for i, w := range b.WQE.Got {
			want := r.wqe(uint16(i))
			if sameLine := i>>(9-logStride) == bad>>(9-logStride); i >= bad && sameLine {
				want = port.RQWQE{Err: true, Vendor: abi.VendorWQERead}
			}
			require.Equal(t, want, w, "entry %d of stride 2^%d", i, logStride)
		}
	}
}

// TestErrorPasses: a failed read says nothing about those that follow.
func TestErrorPasses(t *testing.T) {
	b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
	r := &ring{qpn: 3, base: 0x4000, logStride: 9, log: 8}
	for ; r.pi < 256; r.pi++ {
		b.mem.post(r, r.pi, abi.RWQEControl{NumSGE: r.wqe(r.pi).Num, Index: r.pi})
	}
	b.bad[r.addr(7)] = true
	for i := range uint16(256) {
		b.Get.Push(port.RQGet{QPN: 3, Idx: i, Addr: r.addr(i), Stride: 512, Log: 8, Done: true})
	}
	require.NoError(t, b.k.Run(100_000))
	require.Len(t, b.WQE.Got, 256)
	for i, w := range b.WQE.Got {
		require.Equal(t, i == 7, w.Err, "entry %d", i)
	}
}

// TestAnyOrder: entries are asked for as no receive queue would, never given back.
func TestAnyOrder(t *testing.T) {
	b := newBench(t, rqfetch.Params{Lines: 6}, hdl.Options{}, 0)
	x := newTraffic(t, b, 1, 0, 0)
	b.posted, b.WQE.OnTake = nil, func(port.RQWQE) { x.atMostTwo() }
	r := &ring{qpn: 3, base: 0x4000, logStride: 6, log: 6}
	for ; r.pi < 64; r.pi++ {
		b.mem.post(r, r.pi, abi.RWQEControl{NumSGE: r.wqe(r.pi).Num, Index: r.pi})
	}
	order := []uint16{5, 3, 20, 40, 4, 5, 63, 0, 12, 7, 9, 2, 56, 48, 40, 32, 24, 16, 8, 0}
	for _, i := range order {
		b.Get.Push(port.RQGet{QPN: 3, Idx: i, Addr: r.addr(i), Stride: 64, Log: 6, Next: 63 - i})
	}
	require.NoError(t, b.k.Run(10_000))
	require.Len(t, b.WQE.Got, len(order))
	for i, w := range b.WQE.Got {
		require.Equal(t, r.wqe(order[i]), w, "entry %d", order[i])
	}
}

func TestBadStride(t *testing.T) {
	b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
	for _, s := range []uint16{0, 1, 8, 24, 1024, 0x8000, 0xffff} {
		b.Get.Push(port.RQGet{QPN: 1, Stride: s, Next: 9, Log: 200})
	}
	require.NoError(t, b.k.Run(1000))
	require.Len(t, b.WQE.Got, 7)
	for _, w := range b.WQE.Got {
		require.Equal(t, port.RQWQE{Err: true, Vendor: abi.VendorWQEFormat}, w)
	}
	require.Empty(t, b.Read.Got)
}

// TestHitLatency pins 3 cycles from the request's arrival to the answer's.
func TestHitLatency(t *testing.T) {
	b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
	r := &ring{qpn: 3, base: 0x4000, logStride: 6, log: 4}
	for ; r.pi < 8; r.pi++ {
		b.mem.post(r, r.pi, abi.RWQEControl{NumSGE: r.wqe(r.pi).Num, Index: r.pi})
	}
	get := func(i uint16) port.RQGet {
		return port.RQGet{QPN: 3, Idx: i, Addr: r.addr(i), Stride: 64, Log: 4, Next: 7 - i, Done: true}
	}
	b.Get.Push(get(0))
	b.Get.NotBefore = func(n int) uint64 { return uint64(n) * 200 }
	b.Get.Push(get(1), get(2))
	require.NoError(t, b.k.Run(1000))
	require.Len(t, b.WQE.At, 3)
	// An agent puts after edge c; the block sees the beat in c+1.
	require.Equal(t, uint64(201+3), b.WQE.At[1])
	require.Len(t, b.Read.Got, 1)
}

// TestStream: with four QPs taking an entry every 4 cycles in turn, and a read
// that takes 125 cycles, requests hardly ever wait.
func TestStream(t *testing.T) {
	const n = 4000
	b := newBench(t, rqfetch.Params{}, hdl.Options{}, 0)
	b.latency = 125
	var rs []*ring
	for i := range 4 {
		r := &ring{qpn: port.QPN(i), base: port.BusAddr(0x10000 * (i + 1)), logStride: 6, log: 10}
		for ; r.pi < 1024; r.pi++ {
			b.mem.post(r, r.pi, abi.RWQEControl{NumSGE: r.wqe(r.pi).Num, Index: r.pi})
		}
		rs = append(rs, r)
	}
	for i := range uint16(n) {
		r, idx := rs[i%4], i/4
		b.Get.Push(port.RQGet{QPN: r.qpn, Idx: idx, Addr: r.addr(idx), Stride: 64, Log: 10, Next: 1023 - idx, Done: true})
	}
	b.Get.NotBefore = func(n int) uint64 { return uint64(n) * 4 }
	require.NoError(t, b.k.Run(100_000))
	require.Len(t, b.WQE.Got, n)
	for i, w := range b.WQE.Got {
		require.Equal(t, rs[i%4].wqe(uint16(i/4)), w)
	}
	require.Equal(t, 4, bits.OnesCount64(b.Fetch.Lookup.Q.Valid), "lines that are used up are free")
	cycles := b.WQE.At[n-1] - b.WQE.At[0]
	t.Logf("%.2f cycles a request, %d reads", float64(cycles)/n, len(b.Read.Got))
	require.Less(t, cycles, uint64(n*41/10))
	require.LessOrEqual(t, len(b.Read.Got), n/8+8, "every line is read once")
}
