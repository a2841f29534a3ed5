package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/admin"
	"rnic/rtl/port"
)

var strict = hdl.Options{Strict: true}

func eq() *abi.EQMailbox { return &abi.EQMailbox{Base: 0x8000, LogSize: 4, Vector: 2, UARPage: 9} }

func cq() *abi.CQMailbox { return &abi.CQMailbox{Base: 0x9000, LogSize: 5, EQN: 1, UARPage: 8} }

func qp() *abi.QPMailbox {
	return &abi.QPMailbox{
		Type: abi.QPTypeRC, SQLogUnits: 6, RQLogEntries: 4, RQLogStride: 6, SQBase: 0xa000, RQBase: 0xb000,
		PD: 7, SQMaxSGE: 4, RQMaxSGE: 3, SendCQN: 1, RecvCQN: 2, UARPage: 5, SQMaxInline: 64,
		Port: 1, PathMTU: abi.MTU1024, DestQPN: 0x22, RQPSN: 5, SQPSN: 6, Timeout: 14, MinRNRTimer: 12,
		AV: abi.AV{DMAC: roce.HostMAC(2), SGIDIndex: 1, HopLimit: 64, DGID: roce.GIDFromIPv4(roce.HostIPv4(2)), UDPSPort: 0xc123},
	}
}

// to is a modification of a QP.
func to(s abi.QPState) *abi.QPMailbox {
	a := qp()
	a.State = s
	from := map[abi.QPState]abi.QPState{abi.QPInit: abi.QPReset, abi.QPRTR: abi.QPInit, abi.QPRTS: abi.QPRTR}
	need, _, _ := abi.Transition(abi.QPTypeRC, from[s], s)
	if s == abi.QPReset || s == abi.QPErr {
		need = 0
	}
	a.AttrMask = need | abi.AttrState
	return a
}

// withQP are the commands that make QP n on CQs 1 and 2.
func withQP(n uint32) []command {
	return []command{
		{op: abi.AdminCreateCQ, object: 1, box: cq()}, {op: abi.AdminCreateCQ, object: 2, box: cq()},
		{op: abi.AdminCreateQP, object: n, box: qp()},
	}
}

func ok(t *testing.T, c abi.AdminCompletion) {
	t.Helper()
	require.Equal(t, abi.AdminOK, c.Status, "%v", c.Syndrome)
	require.Equal(t, abi.SynNone, c.Syndrome)
}

// A small ring, often round, full at times: each command completes once, in order,
// with the phase of its pass; the interrupt follows its completion.
func TestRing(t *testing.T) {
	for _, throttle := range []uint64{0, 1, 2} {
		b := newBench(t, strict, throttle, 2)
		for range 5 {
			b.post(command{op: abi.AdminNop, object: 77}, command{op: abi.AdminNop}, command{op: 200}, command{op: abi.AdminNop})
			for i, c := range b.wait(t, 4) {
				want := abi.AdminCompletion{ID: 96 + b.seen + uint16(i), Phase: abi.RingPhase(b.seen-4+uint16(i), 2)}
				if i == 0 {
					want.Object = 77
				}
				if i == 2 {
					want.Status = abi.AdminBadOpcode
				}
				require.Equal(t, want, c)
			}
		}
		require.NoError(t, b.k.Run(b.k.Cycle()+200))
		require.Equal(t, port.AdminStats{Commands: 20, Enabled: true}, b.Levels.Stats.Get())
		require.Len(t, b.log, 40)
		ahead := 0 // completions whose interrupt has not come
		for _, s := range b.log {
			if s == "completion" {
				ahead++
			} else {
				ahead--
			}
			require.GreaterOrEqual(t, ahead, 0)
		}
		require.Zero(t, ahead)
		require.Equal(t, uint32(3), b.CQ.Got[0].Number)
		b.k.Close()
	}
}

func TestNoInterrupt(t *testing.T) {
	b := newBench(t, strict, 0, 2)
	b.reg.VectorOn = false
	b.Set.Push(b.reg)
	b.do(t, command{op: abi.AdminNop})
	require.NoError(t, b.k.Run(b.k.Cycle()+200))
	require.Contains(t, b.log, "irq", "the ring was taken over with the vector on")
	b = newBench(t, strict, 0, 2)
	b.reg.Enable = false
	b.Set.Push(b.reg)
	b.reg.Enable, b.reg.VectorOn = true, false
	b.Set.Push(b.reg)
	b.do(t, command{op: abi.AdminNop})
	require.NoError(t, b.k.Run(b.k.Cycle()+200))
	require.NotContains(t, b.log, "irq")
}

func TestRefusals(t *testing.T) {
	page := func(p uint16) (*abi.EQMailbox, *abi.CQMailbox) {
		e, c := eq(), cq()
		e.UARPage, c.UARPage = p, p
		return e, c
	}
	badEQ, badCQ := page(256)
	noCQ := func(send, recv uint32) *abi.QPMailbox {
		a := qp()
		a.SendCQN, a.RecvCQN = send, recv
		return a
	}
	for _, c := range []struct {
		name string
		c    command
		s    abi.AdminStatus
		syn  abi.AdminSyndrome
	}{
		{"opcode", command{op: abi.NumAdminOps}, abi.AdminBadOpcode, abi.SynNone},
		{"largest opcode", command{op: 255}, abi.AdminBadOpcode, abi.SynNone},
		{"EQN", command{op: abi.AdminCreateEQ, object: 4, box: eq()}, abi.AdminBadObject, abi.SynObject},
		{"EQN to destroy", command{op: abi.AdminDestroyEQ, object: 4}, abi.AdminBadObject, abi.SynObject},
		{"CQN", command{op: abi.AdminCreateCQ, object: 16, box: cq()}, abi.AdminBadObject, abi.SynObject},
		{"CQN to destroy", command{op: abi.AdminDestroyCQ, object: 16}, abi.AdminBadObject, abi.SynObject},
		{"QPN", command{op: abi.AdminCreateQP, object: 16, box: qp()}, abi.AdminBadObject, abi.SynObject},
		{"QPN 0", command{op: abi.AdminCreateQP, object: 0, box: qp()}, abi.AdminBadObject, abi.SynObject},
		{"QPN of 32 bits", command{op: abi.AdminModifyQP, object: 1 << 24, box: qp()}, abi.AdminBadObject, abi.SynObject},
		{"QPN to query", command{op: abi.AdminQueryQP, object: 16}, abi.AdminBadObject, abi.SynObject},
		{"QPN to destroy", command{op: abi.AdminDestroyQP, object: ^uint32(0)}, abi.AdminBadObject, abi.SynObject},
		{"key", command{op: abi.AdminRegMR, object: 16, box: &abi.MRMailbox{}}, abi.AdminBadObject, abi.SynObject},
		{"key to deregister", command{op: abi.AdminDeregMR, object: 16}, abi.AdminBadObject, abi.SynObject},
		{"no such QP to modify", command{op: abi.AdminModifyQP, object: 3, box: to(abi.QPInit)}, abi.AdminBadObject, abi.SynObject},
		{"no such QP to query", command{op: abi.AdminQueryQP, object: 3}, abi.AdminBadObject, abi.SynObject},
		{"no such QP to destroy", command{op: abi.AdminDestroyQP, object: 3}, abi.AdminBadObject, abi.SynObject},
		{"no such CQ", command{op: abi.AdminDestroyCQ, object: 3}, abi.AdminBadObject, abi.SynNone},
		{"CQN to modify", command{op: abi.AdminModifyCQ, object: 16, box: cq()}, abi.AdminBadObject, abi.SynObject},
		{"CQN to resize", command{op: abi.AdminResizeCQ, object: 16, box: cq()}, abi.AdminBadObject, abi.SynObject},
		{"no such CQ to modify", command{op: abi.AdminModifyCQ, object: 3, box: cq()}, abi.AdminBadObject, abi.SynNone},
		{"no such CQ to resize", command{op: abi.AdminResizeCQ, object: 3, box: cq()}, abi.AdminBadObject, abi.SynNone},
		{"no mailbox to resize", command{op: abi.AdminResizeCQ, at: 1}, abi.AdminBadParam, abi.SynMailbox},
		{"no such EQ", command{op: abi.AdminDestroyEQ, object: 3}, abi.AdminBadObject, abi.SynNone},
		{"no such key", command{op: abi.AdminDeregMR, object: 3}, abi.AdminBadObject, abi.SynObject},
		{"no mailbox to read", command{op: abi.AdminCreateCQ, at: 1}, abi.AdminBadParam, abi.SynMailbox},
		{"no mailbox to write", command{op: abi.AdminQueryDevice, at: 1}, abi.AdminBadParam, abi.SynMailbox},
		{"mailbox not aligned", command{op: abi.AdminQueryDevice, at: boxBase + 128}, abi.AdminBadParam, abi.SynMailbox},
		{"mailbox unreadable", command{op: abi.AdminCreateCQ, at: 0xf000}, abi.AdminDMAError, abi.SynMailbox},
		{"page of an EQ", command{op: abi.AdminCreateEQ, box: badEQ}, abi.AdminBadParam, abi.SynUARPage},
		{"page of a CQ", command{op: abi.AdminCreateCQ, box: badCQ}, abi.AdminBadParam, abi.SynUARPage},
		{"send CQ", command{op: abi.AdminCreateQP, object: 1, box: noCQ(1, 2)}, abi.AdminBadParam, abi.SynSendCQN},
		{"receive CQ", command{op: abi.AdminCreateQP, object: 1, box: noCQ(0, 2)}, abi.AdminBadParam, abi.SynRecvCQN},
		{"send CQN", command{op: abi.AdminCreateQP, object: 1, box: noCQ(16, 0)}, abi.AdminBadParam, abi.SynSendCQN},
		{"receive CQN", command{op: abi.AdminCreateQP, object: 1, box: noCQ(0, 1<<23)}, abi.AdminBadParam, abi.SynRecvCQN},
		{"page list not aligned", command{op: abi.AdminRegMR, box: &abi.MRMailbox{PageList: 4, NumPages: 1}}, abi.AdminBadParam, abi.SynPageList},
		{"too many pages", command{op: abi.AdminRegMR, box: &abi.MRMailbox{NumPages: 2049}}, abi.AdminNoResource, abi.SynNumPages},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, strict, 0, 4)
			b.bad = 0xf080
			ok(t, b.do(t, command{op: abi.AdminCreateCQ, object: 0, box: cq()}))
			got := b.do(t, c.c)
			require.Equal(t, c.s, got.Status)
			require.Equal(t, c.syn, got.Syndrome)
			ok(t, b.do(t, command{op: abi.AdminNop})) // life goes on
			require.Zero(t, b.QPC.Common.Peek(0).Exists)
		})
	}
}

func TestQueues(t *testing.T) {
	b := newBench(t, strict, 3, 4)
	ok(t, b.do(t, command{op: abi.AdminCreateEQ, object: 1, box: eq()}, command{op: abi.AdminCreateCQ, object: 3, box: cq()}))
	require.Equal(t, abi.AdminExists, b.do(t, command{op: abi.AdminCreateCQ, object: 3, box: cq()}).Status)
	ok(t, b.do(t, command{op: abi.AdminDestroyCQ, object: 3}, command{op: abi.AdminDestroyEQ, object: 1}))
	want := []port.CQAdmin{
		{Op: port.EQCreate, Number: 1, Base: 0x8000, LogSize: 4, Vector: 2, Page: 9},
		{Op: port.CQCreate, Number: 3, Base: 0x9000, LogSize: 5, EQN: 1, Page: 8},
		{Op: port.CQCreate, Number: 3, Base: 0x9000, LogSize: 5, EQN: 1, Page: 8},
		{Op: port.CQDestroy, Number: 3},
		{Op: port.EQDestroy, Number: 1},
	}
	for i, o := range want {
		require.Equal(t, o, b.CQ.Got[2*i], "%d", i)
	}
}

// A CQ lives as long as a QP uses it.
func TestUseOfCQs(t *testing.T) {
	b := newBench(t, strict, 0, 4)
	ok(t, b.do(t, withQP(3)...))
	same := qp()
	same.RecvCQN = 1
	ok(t, b.do(t, command{op: abi.AdminCreateQP, object: 4, box: same}))
	require.Equal(t, abi.AdminExists, b.do(t, command{op: abi.AdminCreateQP, object: 4, box: same}).Status)
	require.Equal(t, abi.AdminBusy, b.do(t, command{op: abi.AdminDestroyCQ, object: 1}).Status)
	require.Equal(t, abi.AdminBusy, b.do(t, command{op: abi.AdminDestroyCQ, object: 2}).Status)
	ok(t, b.do(t, command{op: abi.AdminDestroyQP, object: 3}))
	ok(t, b.do(t, command{op: abi.AdminDestroyCQ, object: 2}))
	require.Equal(t, abi.AdminBusy, b.do(t, command{op: abi.AdminDestroyCQ, object: 1}).Status)
	ok(t, b.do(t, command{op: abi.AdminDestroyQP, object: 4}))
	ok(t, b.do(t, command{op: abi.AdminDestroyCQ, object: 1}))
	c := b.do(t, command{op: abi.AdminCreateQP, object: 3, box: qp()})
	require.Equal(t, abi.SynSendCQN, c.Syndrome)
}

func TestQPLife(t *testing.T) {
	for _, throttle := range []uint64{0, 7} {
		b := newBench(t, strict, throttle, 4)
		ok(t, b.do(t, withQP(3)...))
		for _, s := range []abi.QPState{abi.QPInit, abi.QPRTR, abi.QPRTS} {
			ok(t, b.do(t, command{op: abi.AdminModifyQP, object: 3, box: to(s)}))
		}
		bad := to(abi.QPRTS)
		bad.AttrMask |= abi.AttrQKey
		c := b.do(t, command{op: abi.AdminModifyQP, object: 3, box: bad})
		require.Equal(t, abi.AdminBadParam, c.Status)
		require.Equal(t, abi.SynQKey, c.Syndrome)
		b.log = nil
		ok(t, b.do(t, command{op: abi.AdminQueryQP, object: 3}))
		require.Equal(t, []string{"mailbox", "completion"}, without(b.log, "irq"))
		var got abi.QPMailbox
		require.NoError(t, abi.QPMailboxLayout.Decode(b.box(), &got))
		want := *qp()
		want.State, want.CurState, want.NextPSN, want.UnackedPSN, want.ExpectedPSN = abi.QPRTS, abi.QPRTS, 6, 6, 5
		require.Equal(t, want, got)

		// RESET flushes both pipelines before the context is cleared.
		b.log = nil
		b.post(command{op: abi.AdminModifyQP, object: 3, box: to(abi.QPReset)})
		ok(t, b.wait(t, 1)[0])
		require.Equal(t, []string{"tx", "rx", "completion"}, without(b.log, "irq"))
		require.Equal(t, port.Purge{QPN: 3}, b.PurgeTx.Got[0])
		require.Equal(t, port.Purge{QPN: 3, RX: true}, b.PurgeRx.Got[0])
		require.Equal(t, abi.QPReset, b.QPC.Common.Peek(3).State)
		require.Zero(t, *b.QPC.Responder.Peek(3))
		require.Zero(t, *b.QPC.SQ.Peek(3))

		ok(t, b.do(t, command{op: abi.AdminModifyQP, object: 3, box: to(abi.QPInit)}))
		ok(t, b.do(t, command{op: abi.AdminDestroyQP, object: 3}))
		require.Len(t, b.PurgeTx.Got, 2)
		require.Len(t, b.PurgeRx.Got, 2)
		require.False(t, b.QPC.Common.Peek(3).Exists)
		require.Equal(t, abi.AdminBadObject, b.do(t, command{op: abi.AdminQueryQP, object: 3}).Status)
		b.k.Close()
	}
}

func without(list []string, x string) (out []string) {
	for _, s := range list {
		if s != x {
			out = append(out, s)
		}
	}
	return out
}

// The context lives until both markers are back, one behind the other.
func TestMarkersAreWaitedFor(t *testing.T) {
	b := newBench(t, strict, 0, 4)
	ok(t, b.do(t, withQP(3)...))
	var held []port.Purge
	b.PurgeTx.OnTake = func(p port.Purge) { held = append(held, p) }
	b.PurgeRx.OnTake = func(p port.Purge) { held = append(held, p) }
	b.post(command{op: abi.AdminDestroyQP, object: 3})
	for i, rx := range []bool{false, true} {
		require.NoError(t, b.k.Run(b.k.Cycle()+500))
		require.True(t, b.QPC.Common.Peek(3).Exists)
		require.Len(t, held, i+1)
		require.Equal(t, port.Purge{QPN: 3, RX: rx}, held[i])
		b.Purged.Push(held[i])
	}
	ok(t, b.wait(t, 1)[0])
	require.False(t, b.QPC.Common.Peek(3).Exists)
}

func TestQueryDevice(t *testing.T) {
	b := newBench(t, strict, 0, 4)
	ok(t, b.do(t, command{op: abi.AdminQueryDevice, object: 0xffffffff}))
	var d abi.DeviceMailbox
	require.NoError(t, abi.DeviceMailboxLayout.Decode(b.box(), &d))
	require.Equal(t, abi.DeviceMailbox{
		MaxQP: 16, MaxCQ: 16, MaxEQ: 4, MaxMR: 16, MaxPages: 2048, MaxSQUnits: 32768, MaxRQEntries: 32768, MaxCQE: 32768,
		MaxSGE: 16, MaxInline: 64, MaxMRSize: 2048 << 30, PageSizes: 0x7ffff000,
		WQEOps: 1<<12 - 1, QPTypes: 0b11_1100, Access: 0x1f,
		MaxRdAtomic: 16, MaxDestRdAtomic: 16, MaxRetry: 7, MaxRNRRetry: 7, MaxMTU: abi.MTU4096, Ports: 1, GIDs: 8, PKeys: 1,
		MaxSRQ: 4, MaxSRQEntries: 32768, MaxAH: 8, MaxFastRegPages: 32, MaxRawFrame: 4096,
	}, d)
}

// A ring that can't be read, or an index that can't be, stops the block; enabling
// it again starts from the beginning.
func TestFailedRing(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(b *bench)
	}{
		{"unreadable", func(b *bench) { b.bad = sqBase + 64; b.post(command{op: abi.AdminNop}) }},
		{"index", func(b *bench) { b.reg.PI += 5; b.Set.Push(b.reg) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, strict, 0, 2)
			ok(t, b.do(t, command{op: abi.AdminNop}))
			c.spoil(b)
			require.NoError(t, b.k.Run(b.k.Cycle()+500))
			require.Equal(t, port.AdminStats{Commands: 1, Failed: true}, b.Levels.Stats.Get())
			reads := len(b.Read.Got)
			b.post(command{op: abi.AdminNop})
			require.NoError(t, b.k.Run(b.k.Cycle()+500))
			require.Len(t, b.Read.Got, reads, "no more commands are taken")
			b.bad = 1 << 40
			b.reg.Enable = false
			b.Set.Push(b.reg)
			require.NoError(t, b.k.Run(b.k.Cycle()+10))
			require.Equal(t, port.AdminStats{Commands: 1}, b.Levels.Stats.Get())
			clear(b.mem[cqBase:boxBase])
			b.reg.Enable, b.reg.PI, b.seen = true, 0, 0
			b.Set.Push(b.reg)
			ok(t, b.do(t, command{op: abi.AdminNop}))
			require.Equal(t, port.AdminStats{Commands: 2, Enabled: true}, b.Levels.Stats.Get())
		})
	}
}

// Disabled in the midst of a command, the block completes it and then forgets its
// indices, even if it is enabled again meanwhile.
func TestDisable(t *testing.T) {
	b := newBench(t, strict, 0, 2)
	ok(t, b.do(t, command{op: abi.AdminNop}, command{op: abi.AdminNop}))
	b.post(command{op: abi.AdminNop}, command{op: abi.AdminNop})
	require.NoError(t, b.k.Run(b.k.Cycle()+4)) // the command is being read
	off := b.reg
	off.Enable = false
	b.Set.Push(off)
	b.reg.PI = 0
	b.Set.Push(b.reg)
	ok(t, b.wait(t, 1)[0])
	require.NoError(t, b.k.Run(b.k.Cycle()+500))
	require.Equal(t, uint64(3), b.Levels.Stats.Get().Commands)
	clear(b.mem[cqBase:boxBase])
	b.seen = 0
	ok(t, b.do(t, command{op: abi.AdminNop}))
}

func TestDisabledTakesNothing(t *testing.T) {
	a := admin.New(admin.Params{})
	require.Equal(t, 1024, a.Use.Depth())
	b := newBench(t, strict, 0, 2)
	b.reg.Enable = false
	b.Set.Push(b.reg)
	b.post(command{op: abi.AdminNop})
	require.NoError(t, b.k.Run(500))
	require.Empty(t, b.Read.Got)
	require.False(t, b.Levels.Stats.Get().Enabled)
}
