package retrans_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/rtl/retrans"
)

// modelQP is what is to become of a QP whose messages take one PSN each. Its PSNs
// are counted from Base.
type modelQP struct {
	base            roce.PSN
	sent, una, left uint32 // PSN after the last sent, acknowledged, that has left
	arm             uint64
	due             uint64 // timeout, or end of the wait; 0: neither
	expired, held   bool
	gen             uint8
	want            []outcome
}

// outcome is a TIMEOUT or REWIND that must come, at a cycle at the earliest.
type outcome struct {
	at uint64
	r  port.Retire
}

func (q *modelQP) psn(n uint32) roce.PSN { return q.base.Add(n) }

// start starts the timer if an answer is awaited to what has left.
func (q *modelQP) start(at uint64) {
	q.due, q.expired = 0, false
	if q.una < q.left && q.arm != 0 {
		q.due = at + q.arm
	}
}

// answer is that to a rewind.
func (q *modelQP) answer(qpn port.QPN, at uint64) {
	r := port.Retire{Kind: port.RetireRewind, QPN: qpn, Gen: q.gen, Una: q.psn(q.una)}
	if q.sent != q.una {
		r.Any, r.Oldest, r.First, r.Last = true, uint16(q.una), q.psn(q.una), q.psn(q.una)
	}
	q.held = false
	q.want = append(q.want, outcome{at, r})
}

// expire has happen what is due.
func (q *modelQP) expire(qpn port.QPN, now uint64) {
	if q.due == 0 || q.due > now {
		return
	}
	if q.held {
		q.answer(qpn, q.due+2)
	} else {
		q.expired = true
		q.want = append(q.want, outcome{q.due, port.Retire{Kind: port.RetireTimeout, QPN: qpn, Una: q.psn(q.una)}})
	}
	q.due = 0
}

// step does something with a QP, at the head of its stream at a cycle.
func (q *modelQP) step(b *bench, r *rand.Rand, qpn port.QPN, head uint64) {
	arm := uint64(16) << r.IntN(10)
	if r.IntN(8) == 0 {
		arm = 0
	}
	n := q.sent - q.una
	switch k := r.IntN(10); {
	case n == 0 || k < 2 && n < 6:
		if n == 0 {
			q.arm = arm
		}
		b.Sent.Push(armed(wire(qpn, uint16(q.sent), q.psn(q.sent), 1), arm))
		q.sent++
	case k < 5:
		last := q.una + r.Uint32N(n)
		b.leave(qpn, q.psn(last))
		if !q.held {
			q.left = last + 1
			if q.due == 0 && !q.expired {
				q.start(head)
			}
		}
	default:
		q.event(b, r, qpn, head, arm)
	}
}

// event is progress, or none, or a rewind.
func (q *modelQP) event(b *bench, r *rand.Rand, qpn port.QPN, head, arm uint64) {
	q.arm = arm
	progress := uint32(0)
	if r.IntN(3) > 0 {
		progress = 1 + r.Uint32N(q.sent-q.una)
	}
	q.una += progress
	if progress > 0 {
		q.left = max(q.left, q.una)
	}
	e := port.AckEvent{QPN: qpn, Una: q.psn(q.una), Arm: arm}
	switch {
	case r.IntN(3) == 0:
		q.gen++
		wait := uint64(r.IntN(2)) * (16 + uint64(r.IntN(600)))
		e.Rewind, e.At, e.Gen, e.Wait = true, e.Una, q.gen, wait
		q.left, q.held, q.expired, q.due = q.una, true, false, head+wait
		if wait == 0 {
			q.due = 0
			q.answer(qpn, head+3+uint64(progress)) // these end first
		}
	case !q.held && (progress > 0 || q.due == 0):
		q.start(head)
	}
	if r.IntN(2) == 0 {
		b.Ack.Push(e)
	} else {
		b.Event.Push(e)
	}
}

// TestTimersLikeModel compares random life of some QPs with deadlines kept in a
// list: timeouts and answers to rewinds come when they must, and say what they must.
// One that meets the stale alarms of others may be a few cycles late.
func TestTimersLikeModel(t *testing.T) {
	var exact, all, rewinds int
	rapid.Check(t, func(rt *rapid.T) {
		logQP := rapid.UintRange(1, 7).Draw(rt, "logQP")
		seed := rapid.Uint64().Draw(rt, "seed")
		counts := hdltest.Identical(rt, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, [3]int) {
			b := newBench(rt, o, retrans.Params{LogQP: logQP}, 0)
			defer b.k.Close()
			qps := runModel(rt, b, rand.New(rand.NewPCG(seed, 1)), 1<<logQP)
			return b.k, compareModel(rt, b, qps)
		})
		exact, all, rewinds = exact+counts[0], all+counts[1], rewinds+counts[2]
	})
	require.Greater(t, exact, all-all/50)
	require.Greater(t, rewinds, all/10)
	require.Greater(t, all-rewinds, all/10)
}

// runModel leads some QPs through life, and the model of each with it.
func runModel(t require.TestingT, b *bench, r *rand.Rand, n int) []modelQP {
	qps := make([]modelQP, n)
	for i := range qps {
		qps[i].base = roce.PSN(1<<24 - 1 - r.UintN(20))
	}
	at := uint64(0)
	pass := func() {
		require.NoError(t, b.k.Run(at))
		for i := range qps {
			qps[i].expire(port.QPN(i), at)
		}
	}
	for range 200 {
		pass()
		i := r.IntN(len(qps))
		qps[i].step(b, r, port.QPN(i), b.k.Cycle()+2) // the source puts in the next cycle
		at = b.k.Cycle() + 20 + uint64(r.IntN(2))*uint64(r.IntN(600))
		for slices.ContainsFunc(qps, func(q modelQP) bool { return q.due != 0 && q.due < at+20 && q.due+20 > at }) {
			at++ // an event while a timer expires has other tests
		}
	}
	at += 1 << 14
	pass()
	return qps
}

// compareModel compares what came with what should, and counts those that were exact,
// all, and the rewinds.
func compareModel(t require.TestingT, b *bench, qps []modelQP) (n [3]int) {
	for i, v := range b.Retire.Got {
		if v.Kind == port.RetireDone {
			continue
		}
		q := &qps[v.QPN]
		require.NotEmpty(t, q.want)
		require.Equal(t, q.want[0].r, v)
		at := b.Retire.At[i] - 1
		require.GreaterOrEqual(t, at, q.want[0].at)
		require.LessOrEqual(t, at, q.want[0].at+14)
		if at == q.want[0].at {
			n[0]++
		}
		n[1]++
		if v.Kind == port.RetireRewind {
			n[2]++
		}
		q.want = q.want[1:]
	}
	for i := range qps {
		require.Empty(t, qps[i].want, "QP %d", i)
	}
	return n
}
