package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

// sleeper takes nothing before cycle 3000.
type sleeper struct {
	hdl.Regs[struct{ Events, QPErrs, Asyncs uint16 }]
	Event hdl.In[port.AckEvent]
	QPErr hdl.In[port.QPError]
	Async hdl.In[port.EventReq]
}

const wakes = 3000

func (s *sleeper) Eval() {
	if s.Now() < wakes {
		s.WakeAt(wakes)
		return
	}
	if s.Event.Valid() {
		s.Event.Take()
		s.D.Events++
	}
	if s.QPErr.Valid() {
		s.QPErr.Take()
		s.D.QPErrs++
	}
	if s.Async.Valid() {
		s.Async.Take()
		s.D.Asyncs++
	}
}

// With the consumers of Event, QPErr and Async asleep all QPs fail, over and over.
// No operation waits, and each QP's failure is told once.
func TestFailuresHoldNothingBack(t *testing.T) {
	b := &struct {
		QPC      *QPC
		Sleeper  sleeper
		Level    level
		Admin    agent.Source[port.QPAdmin]
		AdminRes agent.Sink[port.QPAdminRes]
		Bell     agent.Source[port.QPDoorbell]
		Fatal    agent.Source[port.Retire]
		Retire   agent.Source[port.Retire]
		Rx       agent.Source[port.RxOp]
		Verdict  agent.Sink[port.RxVerdict]
		Activate agent.Sink[port.Activate]
		Stale    agent.Sink[port.Stale]
		StaleSQ  agent.Sink[port.Stale]
	}{QPC: New(Params{LogQP: 4}), Level: level{v: reg}}
	hdl.Connect(&b.Admin.Out, &b.QPC.Admin, 2)
	hdl.Connect(&b.QPC.AdminRes, &b.AdminRes.In, room)
	hdl.Connect(&b.Bell.Out, &b.QPC.Bell, 2)
	hdl.Connect(&b.Fatal.Out, &b.QPC.Fatal, 2)
	hdl.Connect(&b.Retire.Out, &b.QPC.Retire, 2)
	hdl.Connect(&b.Rx.Out, &b.QPC.Rx, 2)
	hdl.Connect(&b.QPC.Verdict, &b.Verdict.In, room)
	hdl.Connect(&b.QPC.Activate, &b.Activate.In, 2)
	hdl.Connect(&b.QPC.Stale, &b.Stale.In, 2)
	hdl.Connect(&b.QPC.StaleSQ, &b.StaleSQ.In, 2)
	hdl.Connect(&b.QPC.Event, &b.Sleeper.Event, 2)
	hdl.Connect(&b.QPC.QPErr, &b.Sleeper.QPErr, 2)
	hdl.Connect(&b.QPC.Async, &b.Sleeper.Async, 2)
	hdl.Wire(&b.Level.Reg, &b.QPC.PortReg)
	hdl.Wire(&b.Level.GIDs, &b.QPC.GIDs)
	hdl.Wire(&b.QPC.Stats, &b.Level.Stats)
	hdl.TieOff(&b.QPC.Get, &b.QPC.Ctx, &b.QPC.Put, &b.QPC.TxReq, &b.QPC.TxHdr, &b.QPC.TxFault, &b.QPC.ReadPost, &b.QPC.RespDone)
	k, err := hdl.Elaborate("tb", b, hdl.Options{Strict: true})
	require.NoError(t, err)
	defer k.Close()
	for n := range port.QPN(16) {
		pushToRTS(&b.Admin, n)
	}
	require.NoError(t, k.Run(500))
	for n := range port.QPN(16) {
		b.Bell.Push(port.QPDoorbell{QPN: n, RQ: true, Index: 3, Page: 5})
	}
	require.NoError(t, k.Run(700))
	for range 8 {
		for n := range port.QPN(16) {
			b.Fatal.Push(port.Retire{Kind: port.RetireFatal, QPN: n})
			b.Retire.Push(port.Retire{Kind: port.RetireTimeout, QPN: n})
			b.Rx.Push(port.RxOp{Kind: port.RxFlushRQ, QPN: n})
		}
	}
	require.NoError(t, k.Run(wakes-1))
	require.Len(t, b.Verdict.Got, 8*16)
	require.Zero(t, b.Fatal.Pending()+b.Retire.Pending())
	require.Zero(t, b.QPC.Fatal.Len()+b.QPC.Retire.Len())
	require.NoError(t, k.Run(wakes+1000))
	q := b.Sleeper.Q
	require.Equal(t, uint16(16), q.Asyncs)
	require.LessOrEqual(t, q.Events, uint16(2*16), "merged while they waited")
	require.GreaterOrEqual(t, q.Events, uint16(16))
	require.GreaterOrEqual(t, q.QPErrs, uint16(16))
}

// deaf asks, and never takes an answer.
type deaf struct {
	hdl.Regs[struct{}]
	Hdr hdl.In[port.TxHdr]
}

func (*deaf) Eval() {}

func TestNoRoomForAnAnswerIsAFault(t *testing.T) {
	b := &struct {
		QPC   *QPC
		Level level
		Deaf  deaf
		TxReq agent.Source[port.TxHdrReq]
	}{QPC: New(Params{LogQP: 4}), Level: level{v: reg}}
	q := b.QPC
	hdl.Connect(&b.TxReq.Out, &q.TxReq, 2)
	hdl.Connect(&q.TxHdr, &b.Deaf.Hdr, 2)
	hdl.Wire(&b.Level.Reg, &q.PortReg)
	hdl.Wire(&b.Level.GIDs, &q.GIDs)
	hdl.Wire(&q.Stats, &b.Level.Stats)
	hdl.TieOff(&q.Bell, &q.Get, &q.Ctx, &q.Put, &q.TxFault, &q.Rx, &q.Verdict, &q.Retire, &q.Fatal,
		&q.ReadPost, &q.RespDone, &q.Admin, &q.AdminRes, &q.Activate, &q.Stale, &q.StaleSQ, &q.Event, &q.QPErr, &q.Async)
	k, err := hdl.Elaborate("tb", b, hdl.Options{})
	require.NoError(t, err)
	defer k.Close()
	b.TxReq.Push(port.TxHdrReq{}, port.TxHdrReq{}, port.TxHdrReq{})
	var fault *hdl.Fault
	require.ErrorAs(t, k.Run(100), &fault)
	require.Equal(t, "TX_REQ: no room for the answer", fault.Msg)
	require.Equal(t, "tb.qpc", fault.Path)
}

// untaken never takes what is stale.
type untaken struct {
	hdl.Regs[struct{}]
	Stale hdl.In[port.Stale]
}

func (u *untaken) Eval() { u.WakeAt(u.Now() + 1) }

// Operations that may begin a rewind wait for room of Stale and of StaleSQ, and hold
// back no others.
func TestRoomForStale(t *testing.T) {
	t.Run("pkt_tx", func(t *testing.T) { testRoomForStale(t, false) })
	t.Run("wqe_sched", func(t *testing.T) { testRoomForStale(t, true) })
}

func testRoomForStale(t *testing.T, sq bool) {
	b := &struct {
		QPC      *QPC
		Level    level
		Untaken  untaken
		Taken    agent.Sink[port.Stale]
		Admin    agent.Source[port.QPAdmin]
		AdminRes agent.Sink[port.QPAdminRes]
		Bell     agent.Source[port.QPDoorbell]
		Get      agent.Source[port.SQGet]
		Ctx      agent.Sink[port.SQCtx]
		Put      agent.Source[port.SQPut]
		Rx       agent.Source[port.RxOp]
		Verdict  agent.Sink[port.RxVerdict]
		Retire   agent.Source[port.Retire]
		TxReq    agent.Source[port.TxHdrReq]
		TxHdr    agent.Sink[port.TxHdr]
		Activate agent.Sink[port.Activate]
		Event    agent.Sink[port.AckEvent]
	}{QPC: New(Params{LogQP: 4}), Level: level{v: reg}}
	q := b.QPC
	hdl.Connect(&b.Admin.Out, &q.Admin, 2)
	hdl.Connect(&q.AdminRes, &b.AdminRes.In, room)
	hdl.Connect(&b.Bell.Out, &q.Bell, 2)
	hdl.Connect(&b.Get.Out, &q.Get, 2)
	hdl.Connect(&q.Ctx, &b.Ctx.In, room)
	hdl.Connect(&b.Put.Out, &q.Put, 2)
	hdl.Connect(&b.Rx.Out, &q.Rx, 2)
	hdl.Connect(&q.Verdict, &b.Verdict.In, room)
	hdl.Connect(&b.Retire.Out, &q.Retire, 2)
	hdl.Connect(&b.TxReq.Out, &q.TxReq, 2)
	hdl.Connect(&q.TxHdr, &b.TxHdr.In, room)
	hdl.Connect(&q.Activate, &b.Activate.In, 2)
	hdl.Connect(&q.Event, &b.Event.In, 2)
	full, free := &q.Stale, &q.StaleSQ
	if sq {
		full, free = free, full
	}
	hdl.Connect(full, &b.Untaken.Stale, 2)
	hdl.Connect(free, &b.Taken.In, 2)
	hdl.Wire(&b.Level.Reg, &q.PortReg)
	hdl.Wire(&b.Level.GIDs, &q.GIDs)
	hdl.Wire(&q.Stats, &b.Level.Stats)
	hdl.TieOff(&q.TxFault, &q.Fatal, &q.ReadPost, &q.RespDone, &q.QPErr, &q.Async)
	k, err := hdl.Elaborate("tb", b, hdl.Options{})
	require.NoError(t, err)
	defer k.Close()
	run := func() { require.NoError(t, k.Run(k.Cycle()+60)) }
	nak := func(n port.QPN) {
		p := ackOf(una, 0x60)
		p.QPN = n
		b.Rx.Push(port.RxOp{QPN: n, Pkt: p})
		run()
	}
	for n := range port.QPN(3) {
		a := connected()
		a.RetryCnt = 7
		pushConnected(&b.Admin, n+1, a)
		b.Bell.Push(port.QPDoorbell{QPN: n + 1, Index: 9, Page: 5})
	}
	run()
	for n := range port.QPN(3) {
		b.Bell.Push(port.QPDoorbell{QPN: n + 1, Index: 9, Page: 5})
		b.Get.Push(port.SQGet{QPN: n + 1, Packets: 16})
	}
	run()
	require.Len(t, b.Ctx.Got, 3)
	put := port.SQPut{ExecIdx: 4, NextPSN: una.Add(4), Entered: 4, EnteredPSN: una.Add(4), Messages: 4}
	nak(1)
	b.Retire.Push(port.Retire{Kind: port.RetireRewind, QPN: 1, Gen: 1})
	run()
	nak(2)
	require.Zero(t, full.Space())
	put.QPN = 1
	b.Put.Push(put) // it is to ask again
	b.Retire.Push(port.Retire{Kind: port.RetireTimeout, QPN: 3, Una: una})
	nak(3)
	b.TxReq.Push(port.TxHdrReq{QPN: 1, Resp: true})
	run()
	require.Len(t, b.TxHdr.Got, 1)
	require.Len(t, b.Verdict.Got, 2)
	require.True(t, q.Put.Valid() && q.Rx.Valid() && q.Retire.Valid(), "they wait")
}
