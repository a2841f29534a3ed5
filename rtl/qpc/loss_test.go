package qpc

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/port"
)

// disturbance is what happens to a QP besides losses.
type disturbance int

const (
	undisturbed disturbance = iota
	drained                 // it is taken to SQD now and then, and back
	reset                   // it is reset, and begins anew
)

// lossyRun is a run of two QPs over a wire that loses packets.
type lossyRun struct {
	Cycles uint64
	Counts [2]tally
}

// runLossy runs WQEs drawn from seed until all are done.
func runLossy(t hdltest.T, o hdl.Options, seed uint64, d disturbance) (*hdl.Kernel, lossyRun) {
	b := newBench(t, o, seed%3)
	b.Level.v.TimeUnit = 1
	r := rand.New(rand.NewPCG(seed, 7))
	for i := range uint64(2) {
		l := &lossy{t: t, b: b, qpn: port.QPN(i + 1), r: rand.New(rand.NewPCG(seed, i)), loss: r.IntN(150)}
		pushConnected(&b.Admin, l.qpn, l.begin(d == undisturbed))
		b.lossy = append(b.lossy, l)
	}
	b.run(t, 400)
	require.Len(t, b.AdminRes.Got, 8)
	times := 0
	for {
		require.Less(t, b.k.Cycle(), uint64(400_000), "nobody goes on")
		b.run(t, 1)
		b.deal()
		done := true
		for _, l := range b.lossy {
			l.tick()
			done = done && l.finished()
		}
		if done {
			break
		}
		if d == reset && r.IntN(1500) == 0 && times < 3 {
			times++
			b.lossy[0].reset()
		}
		if d == drained && r.IntN(3000) == 0 && times == 0 {
			times++
			b.Admin.Push(port.QPAdmin{Op: port.QPModify, QPN: 1, Attr: abi.QPMailbox{
				State: abi.QPSQD, SQDAsyncNotify: true, AttrMask: abi.AttrState | abi.AttrSQDAsyncNotify,
			}})
		}
		if d == drained && times == 1 && len(b.Async.Got) > 0 {
			require.Equal(t, abi.EventSQDrained, b.Async.Got[0].Type)
			require.Empty(t, b.lossy[0].table.entries)
			c := b.context(1)
			require.True(t, c.drained())
			b.Async.Got = nil
			times = 0
			b.Admin.Push(port.QPAdmin{Op: port.QPModify, QPN: 1, Attr: abi.QPMailbox{State: abi.QPRTS, AttrMask: abi.AttrState}})
		}
	}
	b.run(t, 100)
	for _, a := range b.AdminRes.Got {
		require.Equal(t, abi.AdminOK, a.Status)
	}
	out := lossyRun{Cycles: b.k.Cycle()}
	for i, l := range b.lossy {
		l.judge()
		out.Counts[i] = l.count
	}
	return b.k, out
}

// deal hands what came out of the block to the QPs that it is for.
func (b *bench) deal() {
	for _, s := range b.Stale.Got {
		b.lossy[s.QPN-1].newest = s.Gen
	}
	for _, h := range b.TxHdr.Got {
		b.asking[0].header(&h)
		b.asking = b.asking[1:]
	}
	for _, c := range b.Ctx.Got {
		l := b.lossy[c.QPN-1]
		l.sched.context(l, &c)
	}
	for _, v := range b.Verdict.Got {
		b.lossy[v.QPN-1].verdict(&v)
	}
	for _, e := range b.Event.Got {
		l := b.lossy[e.QPN-1]
		l.obey(&e)
		l.events.send(e, l.now+1+l.r.Uint64N(10))
	}
	for _, a := range b.Activate.Got {
		b.lossy[a.QPN-1].sched.want = true
	}
	b.Stale.Got, b.TxHdr.Got, b.Ctx.Got, b.Verdict.Got, b.Event.Got, b.Activate.Got = nil, nil, nil, nil, nil, nil
}

// Whatever is lost, each message is executed and completed once, and nobody waits
// for nobody.
func TestLossIsRepaired(t *testing.T) {
	var all tally
	for seed := range uint64(40) {
		_, out := runLossy(t, hdl.Options{}, seed, disturbance(seed%3))
		for _, c := range out.Counts {
			all.Lost += c.Lost
			all.Rewinds += c.Rewinds
			all.Timeouts += c.Timeouts
			all.Partial += c.Partial
			all.RNR += c.RNR
			all.Stale += c.Stale
			all.Seeks += c.Seeks
		}
	}
	t.Logf("%+v", all)
	require.True(t, min(all.Lost, all.Rewinds, all.Timeouts, all.Partial, all.RNR, all.Stale, all.Seeks) > 5, "each of these happens")
}

func TestLossFastEqualsStrict(t *testing.T) {
	hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, lossyRun) {
		k, out := runLossy(t, o, 5, reset)
		return k, out
	})
}
