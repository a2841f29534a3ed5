package wqesched_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	wqesched "rnic/rtl/wqe_sched"
)

// malformed are WQEs that end with a local error, and how.
var malformed = []struct {
	name   string
	w      work
	status abi.WCStatus
	vendor abi.VendorErr
	units  uint16 // that are consumed
}{
	{"no units", work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpSend, Units: 255}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 1},
	{"more units than posted", work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpNop, Units: 3}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 1},
	{"a unit too many", work{Units: 2, Ctrl: abi.WQEControl{Op: abi.OpSend, NumSGE: 2}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 2},
	{"a unit too few", work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpSend, NumSGE: 3}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 1},
	{"17 elements", work{Units: 5, Ctrl: abi.WQEControl{Op: abi.OpSend, NumSGE: 17}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 5},
	{"all that the format has", work{Units: 8, Ctrl: abi.WQEControl{Op: abi.OpWrite, NumSGE: 30}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 8},
	{"inline too long", work{Units: 2, Ctrl: abi.WQEControl{Op: abi.OpSend, Flags: abi.WQEInlined, InlineLen: 65}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 2},
	{"inline in too few units", work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpSend, Flags: abi.WQEInlined, InlineLen: 33}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 1},
	{"unknown operation", work{Units: 1, Ctrl: abi.WQEControl{Op: 99}}, abi.StatusLocQPOp, abi.VendorWQEOp, 1},
	{"LOCAL_INV of two units", work{Units: 2, Ctrl: abi.WQEControl{Op: abi.OpLocalInv}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 2},
	{"inline LOCAL_INV", work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpLocalInv, Flags: abi.WQEInlined}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 1},
	{"BIND_MW of two units", work{Units: 2, Ctrl: abi.WQEControl{Op: abi.OpBindMW}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 2},
	{"FAST_REG without pages", fastReg(0, 12), abi.StatusLocQPOp, abi.VendorWQEFormat, 1},
	{"FAST_REG of 33 pages", fastReg(33, 12), abi.StatusLocQPOp, abi.VendorWQEFormat, 6},
	{"FAST_REG of 257 pages in one unit", fastReg(257, 12).units(2), abi.StatusLocQPOp, abi.VendorWQEFormat, 2},
	{"FAST_REG of small pages", fastReg(8, 11), abi.StatusLocQPOp, abi.VendorWQEFormat, 2},
	{"FAST_REG of large pages", fastReg(8, 31), abi.StatusLocQPOp, abi.VendorWQEFormat, 2},
	{"FAST_REG, a unit too few", fastReg(9, 12).units(2), abi.StatusLocQPOp, abi.VendorWQEFormat, 2},
	{"FAST_REG, a unit too many", fastReg(8, 12).units(3), abi.StatusLocQPOp, abi.VendorWQEFormat, 3},
	{"inline FAST_REG", fastReg(8, 12).flags(abi.WQEInlined), abi.StatusLocQPOp, abi.VendorWQEFormat, 2},
	{"inline READ", work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpRead, Flags: abi.WQEInlined}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 1},
	{"inline atomic", work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpFetchAdd, Flags: abi.WQEInlined}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 1},
	{"atomic with two elements", work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpFetchAdd, NumSGE: 2}}, abi.StatusLocQPOp, abi.VendorWQEFormat, 1},
	{"atomic without element", swap(abi.OpFetchAdd, 0, 1, 2), abi.StatusLocLen, abi.VendorWQELength, 1},
	{"atomic of 7 bytes", swap(abi.OpCompareSwap, 0, 1, 2, sge(7)), abi.StatusLocLen, abi.VendorWQELength, 1},
	{"atomic of 9 bytes", swap(abi.OpFetchAdd, 0, 1, 2, sge(9)), abi.StatusLocLen, abi.VendorWQELength, 1},
	{"too long a READ", send(abi.OpRead, 0, sge(1<<31), sge(0), sge(1)), abi.StatusLocLen, abi.VendorWQELength, 2},
	{"too long a WRITE", send(abi.OpWrite, 0, sge(1<<31), sge(1)), abi.StatusLocLen, abi.VendorWQELength, 1},
	{"too long", send(abi.OpSend, 0, sge(1<<31), sge(1)), abi.StatusLocLen, abi.VendorWQELength, 1},
}

func TestMalformed(t *testing.T) {
	for _, c := range malformed {
		t.Run(c.name, func(t *testing.T) {
			b := fast(t, hdl.Options{})
			b.qp(4, roce.MTU1024, 64, 16)
			first, bad := b.qps[0].PI, b.qps[0].PI+1
			b.post(0, nop(), false)
			b.post(0, c.w, false)
			b.post(0, nop(), false)
			b.run(2000)
			require.Len(t, b.Sent.Got, 3)
			for i, want := range []port.Sent{
				{UnitIdx: first, Op: abi.OpNop},
				{UnitIdx: bad, Op: c.w.Ctrl.Op, Status: c.status, Vendor: c.vendor},
				{UnitIdx: bad + c.units, Op: abi.OpNop, Status: abi.StatusWRFlush, Vendor: abi.VendorFlush},
			} {
				g := b.Sent.Got[i]
				require.Equal(t, port.SentLocal, g.Kind)
				require.Equal(t, want, port.Sent{UnitIdx: g.UnitIdx, Op: g.Op, Status: g.Status, Vendor: g.Vendor})
			}
			require.Empty(t, b.Pkt.Got)
		})
	}
}

// TestStale: the doorbell came before the WQE.
func TestStale(t *testing.T) {
	b := fast(t, hdl.Options{})
	q := b.qp(3, roce.MTU1024, 64, 16)
	q.PI++
	b.Activate.Push(port.Activate{})
	b.run(2000)
	require.Len(t, b.Sent.Got, 1)
	require.Equal(t, abi.VendorWQEStale, b.Sent.Got[0].Vendor)
	require.True(t, b.Put.Got[len(b.Put.Got)-1].Fault || q.Failed)
}

// TestUnreadable: the ring can't be read at all. Each unit ends once, the first
// with the reason.
func TestUnreadable(t *testing.T) {
	b := fast(t, hdl.Options{})
	q := b.qp(4, roce.MTU1024, 64, 16)
	for i := range q.Ring {
		b.bad[q.Base+port.BusAddr(64*i)] = true
	}
	for range 12 {
		b.post(0, nop(), false)
	}
	b.run(10000)
	require.Len(t, b.Sent.Got, 12)
	for i, s := range b.Sent.Got {
		require.Equal(t, q.Posted[i].Idx, s.UnitIdx)
		if i == 0 {
			require.Equal(t, abi.StatusLocQPOp, s.Status)
			require.Equal(t, abi.VendorWQERead, s.Vendor)
			continue
		}
		require.Equal(t, abi.StatusWRFlush, s.Status)
	}
}

// TestOverwritten: the consumer overwrites a WQE whose message is in progress.
func TestOverwritten(t *testing.T) {
	for _, by := range []work{nop(), send(abi.OpSend, 0, sge(1000)), {Units: 1, Ctrl: abi.WQEControl{Op: 77}}} {
		b := newBench(t, hdl.Options{}, wqesched.Params{Lines: 1}, 0)
		q := b.qp(3, roce.MTU1024, 4, 16)
		b.qp(3, roce.MTU1024, 4, 16)
		b.ackDelay = func() uint64 { return 500 }
		b.post(0, send(abi.OpSend, 0, sge(100000)), false)
		require.NoError(t, b.k.Run(200))
		require.Len(t, b.Pkt.Got, 4)
		// Another QP takes the line away, so that the WQE is read again.
		b.k.Go("post", func(*hdl.Thread) { b.post(1, nop(), false) })
		by.Ctrl.Index, by.Ctrl.Units = q.Exec, 1
		abi.WQEControlLayout.Encode(&by.Ctrl, q.Ring[abi.RingSlot(q.Exec, q.Log)][:])
		if len(by.SGE) > 0 {
			abi.SGELayout.Encode(&by.SGE[0], q.Ring[abi.RingSlot(q.Exec, q.Log)][abi.WQEDataOffset:])
		}
		b.run(10000)
		require.Len(t, b.Pkt.Got, 5)
		last := b.Pkt.Got[4]
		require.True(t, gaveUp(&last), "%v", last)
		require.EqualValues(t, 0xffffff00, b.Piece.Got[4].Key)
		require.Len(t, b.Sent.Got, 2, "one entry a WQE")
		b.k.Close()
	}
}

// TestNothing: services for which qpc has nothing, and one that is open without
// a WQE; entries set aside come back.
func TestNothing(t *testing.T) {
	b := newBench(t, hdl.Options{}, wqesched.Params{Entries: 1}, 0)
	b.qp(3, roce.MTU1024, 64, 16)
	b.qp(3, roce.MTU1024, 64, 16)
	b.Activate.Push(port.Activate{QPN: 0}, port.Activate{QPN: 1}, port.Activate{QPN: 0})
	require.NoError(t, b.k.Run(200))
	require.Empty(t, b.Put.Got)
	require.Len(t, b.QPC.Seen, 3)
	answer := b.QPC.Answer
	b.QPC.Answer = func(g port.SQGet) port.SQCtx {
		c := answer(g)
		c.Run = true
		b.qps[g.QPN].Busy = true
		return c
	}
	b.k.Go("again", func(*hdl.Thread) { b.Activate.Push(port.Activate{QPN: 1}) })
	require.NoError(t, b.k.Run(400))
	require.Len(t, b.Put.Got, 1)
	require.Equal(t, b.qps[1].Exec, b.Put.Got[0].ExecIdx)
	b.QPC.Answer = answer
	b.k.Go("post", func(*hdl.Thread) { b.post(0, nop(), false); b.post(1, nop(), true) })
	b.run(1000)
	b.check()
	b.k.Close()
}

// TestDoorbellInService: an Activate at any moment of a service is not lost.
func TestDoorbellInService(t *testing.T) {
	for delay := range uint64(60) {
		b := newBench(t, hdl.Options{}, wqesched.Params{}, 0)
		b.qp(4, roce.MTU1024, 64, 16)
		b.k.Go("driver", func(th *hdl.Thread) {
			b.post(0, send(abi.OpSend, 0, sge(64)), false)
			th.Sleep(1 + delay)
			b.post(0, nop(), delay%2 == 0)
		})
		b.run(1000)
		b.check()
		b.k.Close()
	}
}

// TestFairTable: QPs that share one entry of the outstanding table take turns.
func TestFairTable(t *testing.T) {
	b := newBench(t, hdl.Options{}, wqesched.Params{Entries: 1}, 0)
	const qps, each = 5, 8
	for i := range qps {
		b.qp(5, roce.MTU1024, 64, 16)
		for range each {
			b.post(i, send(abi.OpSend, 0, sge(64)), false)
		}
	}
	b.run(20000)
	b.check()
	// Once all lines have come, and as long as all have WQEs left.
	for i := 2; i+qps <= qps*(each-3); i++ {
		seen := map[port.QPN]bool{}
		for _, s := range b.Sent.Got[i : i+qps] {
			seen[s.QPN] = true
		}
		require.Len(t, seen, qps, "entries from %d on", i)
	}
	b.k.Close()
}

// TestFairTurns: a QP with a long message and QPs with short ones share the wire
// by turns of the budget.
func TestFairTurns(t *testing.T) {
	b := fast(t, hdl.Options{})
	b.qp(5, roce.MTU256, 1<<15, 16)
	b.post(0, send(abi.OpSend, 0, sge(1<<20)), false)
	b.qp(8, roce.MTU256, 1<<15, 128)
	for range 100 {
		b.post(1, send(abi.OpSend, 0, sge(64)), false)
	}
	b.run(100000)
	b.check()
	burst := 0
	last := 0
	for i, p := range b.Pkt.Got {
		if p.QPN == 1 {
			last = i
		}
	}
	for _, p := range b.Pkt.Got[:last] {
		if burst++; p.QPN == 1 {
			burst = 0
		}
		// While its lines come, QP 1 has no turn.
		require.LessOrEqual(t, burst, 16*10)
	}
}

// TestManyMoreQPsThanLines: all QPs of the device, two lines for all of them.
func TestManyMoreQPsThanLines(t *testing.T) {
	b := newBench(t, hdl.Options{}, wqesched.Params{Lines: 2}, 0)
	for i := range 1024 {
		b.qp(3, roce.MTU1024, 64, 16)
		b.post(i, send(abi.OpSend, 0, sge(64), sge(1), sge(1), sge(1), sge(1), sge(1), sge(1), sge(1)), false)
	}
	b.run(200000)
	b.check()
	require.Len(t, b.Sent.Got, 1024)
	b.k.Close()
}

// TestPushRefused: a refused unit is forgotten, the next one is not mistaken.
func TestPushRefused(t *testing.T) {
	b := fast(t, hdl.Options{})
	b.qp(4, roce.MTU1024, 64, 16)
	b.Push.Push(port.PushedWQE{QPN: 1 << 20, Idx: 5})
	b.Activate.Push(port.Activate{QPN: 1 << 20, Push: true, Refuse: true})
	b.post(0, inline(0, []byte("hello")), true)
	b.run(1000)
	b.check()
	require.Empty(t, b.Read.Got)
	require.Equal(t, port.SchedStats{PushedWQEs: 1, PushedIgnored: 1}, b.Stats.Tap.Get())
}
