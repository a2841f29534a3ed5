package qpc

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/port"
)

// lossyRun is a run of two QPs over a wire that loses packets.
type lossyRun struct {
	Cycles uint64
	Counts [2]struct{ Lost, Rewinds, Timeouts, Partial, RNR, Stale, Seeks int }
}

// runLossy runs WQEs drawn from seed until all are done.
func runLossy(t hdltest.T, o hdl.Options, seed uint64, drain bool) (*hdl.Kernel, lossyRun) {
	b := newBench(t, o, seed%3)
	b.Level.v.TimeUnit = 1
	r := rand.New(rand.NewPCG(seed, 7))
	var qps [2]*lossy
	for i := range qps {
		l := &lossy{t: t, b: b, qpn: port.QPN(i + 1), r: rand.New(rand.NewPCG(seed, uint64(i))), loss: r.IntN(150)}
		for range 4 + r.IntN(36) {
			w := &work{kind: workKind(r.IntN(5)) % doFault, packets: 1}
			if w.kind == doSend || w.kind == doRead {
				w.packets = 1 + r.Uint32N(1+r.Uint32N(40))
			}
			l.works = append(l.works, w)
		}
		if r.IntN(3) == 0 && !drain {
			l.works[len(l.works)-1-r.IntN(3)].kind = doFault
		}
		a := connected()
		a.PathMTU, a.RetryCnt, a.RNRRetry, a.Timeout = abi.MTU4096, 7, 7, 8+uint8(r.IntN(4))
		a.SQPSN = 0xffffff - r.Uint32N(80)
		l.una, l.peer.expected = roce.PSN(a.SQPSN), roce.PSN(a.SQPSN)
		l.table.una, l.table.start, l.table.end, l.table.arm = l.una, l.una, l.una, 17<<a.Timeout/16
		pushConnected(&b.Admin, l.qpn, a)
		qps[i] = l
		b.lossy = append(b.lossy, l)
	}
	b.run(t, 400)
	require.Len(t, b.AdminRes.Got, 8)
	drains := 0
	for {
		require.Less(t, b.k.Cycle(), uint64(400_000), "nobody goes on")
		b.run(t, 1)
		b.deal()
		done := true
		for _, l := range qps {
			l.tick()
			done = done && l.finished()
		}
		if done {
			break
		}
		if drain && r.IntN(3000) == 0 && drains == 0 {
			drains++
			b.Admin.Push(port.QPAdmin{Op: port.QPModify, QPN: 1, Attr: abi.QPMailbox{
				State: abi.QPSQD, SQDAsyncNotify: true, AttrMask: abi.AttrState | abi.AttrSQDAsyncNotify,
			}})
		}
		if drains == 1 && len(b.Async.Got) > 0 {
			require.Equal(t, abi.EventSQDrained, b.Async.Got[0].Type)
			require.Empty(t, qps[0].table.entries)
			c := b.context(1)
			require.True(t, c.drained())
			b.Async.Got = nil
			drains = 0
			b.Admin.Push(port.QPAdmin{Op: port.QPModify, QPN: 1, Attr: abi.QPMailbox{State: abi.QPRTS, AttrMask: abi.AttrState}})
		}
	}
	b.run(t, 100)
	for _, a := range b.AdminRes.Got {
		require.Equal(t, abi.AdminOK, a.Status)
	}
	out := lossyRun{Cycles: b.k.Cycle()}
	for i, l := range qps {
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
	var all struct{ Lost, Rewinds, Timeouts, Partial, RNR, Stale, Seeks int }
	for seed := range uint64(40) {
		_, out := runLossy(t, hdl.Options{}, seed, seed%4 == 3)
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
		k, out := runLossy(t, o, 5, true)
		return k, out
	})
}
