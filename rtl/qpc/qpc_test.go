package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

// bench has a source or sink at each port of the block.
type bench struct {
	QPC      *QPC
	Bell     agent.Source[port.QPDoorbell]
	Get      agent.Source[port.SQGet]
	Ctx      agent.Sink[port.SQCtx]
	Put      agent.Source[port.SQPut]
	TxReq    agent.Source[port.TxHdrReq]
	TxHdr    agent.Sink[port.TxHdr]
	TxFault  agent.Source[port.SQFault]
	Rx       agent.Source[port.RxOp]
	Verdict  agent.Sink[port.RxVerdict]
	Retire   agent.Source[port.Retire]
	Fatal    agent.Source[port.Retire]
	ReadPost agent.Source[port.ReadPost]
	RespDone agent.Source[port.RespDone]
	Admin    agent.Source[port.QPAdmin]
	AdminRes agent.Sink[port.QPAdminRes]
	Activate agent.Sink[port.Activate]
	Stale    agent.Sink[port.Stale]
	StaleSQ  agent.Sink[port.Stale]
	Event    agent.Sink[port.AckEvent]
	QPErr    agent.Sink[port.QPError]
	Async    agent.Sink[port.EventReq]
	Level    level
	k        *hdl.Kernel

	lossy  []*lossy // by QPN - 1
	asking []*lossy // whose headers were asked for, oldest first
}

// level drives PortReg and GIDs, and reads Stats.
type level struct {
	hdl.Regs[struct{ On bool }]
	Reg   hdl.Sig[port.PortReg]
	GIDs  hdl.Sig[port.GIDTable]
	Stats hdl.Tap[port.QPStats]
	v     port.PortReg
}

func (l *level) Eval() {
	if !l.Q.On {
		l.D.On = true
		l.Reg.Set(l.v)
		l.GIDs.Set(gids)
	}
}

// reg is the port of host 1.
var reg = port.PortReg{
	Enable: true, MAC: roce.HostMAC(1), IPv4: roce.HostIPv4(1), GID0: roce.HostIPv6(1),
	MTU: 4096, PKey: 0xffff, TimeUnit: 1024,
}

// gids are its addresses: those of its number, and one more of each family.
var gids = port.GIDTable{GID: [abi.NumGIDs][16]byte{
	roce.HostIPv6(1), roce.GIDFromIPv4(roce.HostIPv4(1)), {}, roce.HostIPv6(77), {}, roce.GIDFromIPv4(roce.HostIPv4(77)),
}}

// room is the depth of the answer streams: a test never has more requests out.
const room = 4096

func newBench(t require.TestingT, o hdl.Options, throttle uint64) *bench {
	return newSized(t, o, throttle, 4)
}

func newSized(t require.TestingT, o hdl.Options, throttle uint64, logQP uint8) *bench {
	b := &bench{QPC: New(Params{LogQP: logQP, LogSRQ: 2, LogAH: 3}), Level: level{v: reg}}
	for _, th := range []*agent.Throttle{
		&b.Bell.Throttle, &b.Get.Throttle, &b.Ctx.Throttle, &b.Put.Throttle, &b.TxReq.Throttle, &b.TxHdr.Throttle,
		&b.TxFault.Throttle, &b.Rx.Throttle, &b.Verdict.Throttle, &b.Retire.Throttle, &b.Fatal.Throttle,
		&b.ReadPost.Throttle, &b.RespDone.Throttle, &b.Admin.Throttle, &b.AdminRes.Throttle, &b.Activate.Throttle, &b.Stale.Throttle, &b.StaleSQ.Throttle, &b.Event.Throttle, &b.QPErr.Throttle, &b.Async.Throttle,
	} {
		th.Seed = throttle
	}
	hdl.Connect(&b.Bell.Out, &b.QPC.Bell, 2)
	hdl.Connect(&b.Get.Out, &b.QPC.Get, 2)
	hdl.Connect(&b.QPC.Ctx, &b.Ctx.In, room)
	hdl.Connect(&b.Put.Out, &b.QPC.Put, 2)
	hdl.Connect(&b.TxReq.Out, &b.QPC.TxReq, 2)
	hdl.Connect(&b.QPC.TxHdr, &b.TxHdr.In, room)
	hdl.Connect(&b.TxFault.Out, &b.QPC.TxFault, 2)
	hdl.Connect(&b.Rx.Out, &b.QPC.Rx, 2)
	hdl.Connect(&b.QPC.Verdict, &b.Verdict.In, room)
	hdl.Connect(&b.Retire.Out, &b.QPC.Retire, 2)
	hdl.Connect(&b.Fatal.Out, &b.QPC.Fatal, 2)
	hdl.Connect(&b.ReadPost.Out, &b.QPC.ReadPost, 2)
	hdl.Connect(&b.RespDone.Out, &b.QPC.RespDone, 2)
	hdl.Connect(&b.Admin.Out, &b.QPC.Admin, 2)
	hdl.Connect(&b.QPC.AdminRes, &b.AdminRes.In, room)
	hdl.Connect(&b.QPC.Activate, &b.Activate.In, 2)
	hdl.Connect(&b.QPC.Stale, &b.Stale.In, 2)
	hdl.Connect(&b.QPC.StaleSQ, &b.StaleSQ.In, 2)
	hdl.Connect(&b.QPC.Event, &b.Event.In, 2)
	hdl.Connect(&b.QPC.QPErr, &b.QPErr.In, 2)
	hdl.Connect(&b.QPC.Async, &b.Async.In, 2)
	hdl.Wire(&b.Level.Reg, &b.QPC.PortReg)
	hdl.Wire(&b.Level.GIDs, &b.QPC.GIDs)
	hdl.Wire(&b.QPC.Stats, &b.Level.Stats)
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	b.k = k
	return b
}

// run runs for a number of cycles.
func (b *bench) run(t require.TestingT, cycles uint64) {
	require.NoError(t, b.k.Run(b.k.Cycle()+cycles))
}

// toRTS takes QP n to RTS, connected to QP n of host 2.
func (b *bench) toRTS(n port.QPN) { pushToRTS(&b.Admin, n) }

func pushToRTS(s *agent.Source[port.QPAdmin], n port.QPN) {
	pushConnected(s, n, connected())
}

// pushConnected takes a QP to RTS with the attributes of a.
func pushConnected(s *agent.Source[port.QPAdmin], n port.QPN, a abi.QPMailbox) {
	a.DestQPN = uint32(n)
	s.Push(port.QPAdmin{Op: port.QPCreate, QPN: n, Attr: a})
	for _, m := range toRTS {
		a.AttrMask, a.State = m.mask|abi.AttrState, m.to
		s.Push(port.QPAdmin{Op: port.QPModify, QPN: n, Attr: a})
	}
}

func TestLatencyAndRate(t *testing.T) {
	b := newBench(t, hdl.Options{}, 0)
	for n := range port.QPN(4) {
		b.toRTS(n)
	}
	b.run(t, 100)
	put := b.k.Cycle() + 1 // when the source puts
	for range 100 {
		b.TxReq.Push(port.TxHdrReq{QPN: 1})
		b.Rx.Push(port.RxOp{QPN: 2, Kind: port.RxPurge})
	}
	b.run(t, 500)
	require.Equal(t, put+1+2, min(b.TxHdr.At[0], b.Verdict.At[0]), "2 cycles from In to Out")
	require.LessOrEqual(t, max(b.TxHdr.At[99], b.Verdict.At[99]), put+3+200, "one operation a cycle over two ports")
	put = b.k.Cycle() + 1
	for range 100 {
		b.TxReq.Push(port.TxHdrReq{QPN: 1})
	}
	b.run(t, 500)
	require.LessOrEqual(t, b.TxHdr.At[199], put+3+200, "one operation every second cycle on a port alone")
}

// wqe_sched closes a service and opens the next right behind it.
func TestPutGoesBeforeGet(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true}, 0)
	b.toRTS(1)
	b.run(t, 100)
	b.Bell.Push(port.QPDoorbell{QPN: 1, Index: 9, Page: 5}) // the port before Get
	b.Get.Push(port.SQGet{QPN: 1, Packets: 16})
	b.run(t, 20)
	b.Bell.Push(port.QPDoorbell{QPN: 0, Index: 9, Page: 5})
	b.run(t, 1)
	b.Put.Push(port.SQPut{QPN: 1, ExecIdx: 4, Entered: 4, NextPSN: una.Add(3), EnteredPSN: una.Add(3)})
	b.Get.Push(port.SQGet{QPN: 1, Packets: 16})
	b.run(t, 20)
	require.Equal(t, uint16(4), b.Ctx.Got[1].ExecIdx)
}

// A service knows of its READs when it is closed, and the next one when it opens.
func TestReadPostGoesBeforePut(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true}, 0)
	b.toRTS(1)
	b.run(t, 100)
	b.Bell.Push(port.QPDoorbell{QPN: 1, Index: 9, Page: 5})
	b.Get.Push(port.SQGet{QPN: 1, Packets: 16})
	b.run(t, 20)
	require.Equal(t, uint8(4), b.Ctx.Got[0].Reads)
	b.Get.Push(port.SQGet{QPN: 0, Packets: 16}) // the port before Put
	b.run(t, 1)
	for i := range roce.PSN(3) {
		psn := una.Add(uint32(i))
		b.ReadPost.Push(port.ReadPost{QPN: 1, FirstPSN: psn, LastPSN: psn})
	}
	b.Put.Push(port.SQPut{QPN: 1, ExecIdx: 4, Entered: 4, NextPSN: una.Add(3), EnteredPSN: una.Add(3)})
	b.Get.Push(port.SQGet{QPN: 1, Packets: 16})
	b.run(t, 30)
	require.Len(t, b.Ctx.Got, 3)
	require.Equal(t, uint8(1), b.Ctx.Got[2].Reads)
	require.True(t, b.Ctx.Got[2].Reading)
	require.Equal(t, uint32(16), b.QPC.SQ.Peek(1).Granted, "all were posted before the service was closed")
	b.RespDone.Push(port.RespDone{QPN: 1}, port.RespDone{QPN: 1 << 20})
	b.run(t, 10)
	require.Zero(t, b.RespDone.Pending())
}

// A step allocates nothing.
func TestNoAllocation(t *testing.T) {
	b := newBench(t, hdl.Options{}, 0)
	b.toRTS(1)
	b.run(t, 100)
	const n = 20000
	b.TxHdr.Got, b.TxHdr.At = make([]port.TxHdr, 0, n), make([]uint64, 0, n)
	b.Verdict.Got, b.Verdict.At = make([]port.RxVerdict, 0, n), make([]uint64, 0, n)
	for range n / 4 {
		b.TxReq.Push(port.TxHdrReq{QPN: 1})
		b.Rx.Push(port.RxOp{QPN: 1, Pkt: from2(roce.RCSendOnly, 0xfffffe)})
	}
	b.run(t, 100)
	require.Zero(t, testing.AllocsPerRun(1000, b.k.Step))
}

// peek is the context of a QP as of the last edge, without the SRQ that it uses.
func peek(q *QPC, n int) Context {
	return Context{
		Common: *q.Common.Peek(n), SQ: *q.SQ.Peek(n), Requester: *q.Requester.Peek(n), Responder: *q.Responder.Peek(n),
		Reads: *q.Reads.Peek(n), Saved: *q.Saved.Peek(n),
	}
}
