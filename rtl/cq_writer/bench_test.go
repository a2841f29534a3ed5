package cqwriter_test

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	cqwriter "rnic/rtl/cq_writer"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

// landed is a write that has entered the posted queue.
type landed struct {
	At   uint64
	Addr port.BusAddr
	Data [64]byte
	Len  uint32
}

func (l *landed) cqe() (c abi.CQE) {
	_ = abi.CQELayout.Decode(l.Data[:], &c)
	return c
}

func (l *landed) event() (e abi.Event) {
	_ = abi.EventLayout.Decode(l.Data[:], &e)
	return e
}

// Bus addresses of the bench: queues of each kind at even distances.
const (
	cqSpace   = port.BusAddr(0x10_0000_0000)
	eqSpace   = port.BusAddr(0x20_0000_0000)
	msixSpace = port.BusAddr(0x30_0000_0000)
	apart     = port.BusAddr(0x1000_0000)
)

func cqBase(n int) port.BusAddr { return cqSpace + port.BusAddr(n)*apart }
func eqBase(n int) port.BusAddr { return eqSpace + port.BusAddr(n)*apart }

func (l *landed) isCQE() bool   { return l.Addr >= cqSpace && l.Addr < eqSpace }
func (l *landed) isEvent() bool { return l.Addr >= eqSpace && l.Addr < msixSpace }
func (l *landed) isMsix() bool  { return l.Addr >= msixSpace }

// queue is the number of the CQ or EQ that was written, vector of the interrupt.
func (l *landed) queue() int {
	switch {
	case l.isCQE():
		return int((l.Addr - cqSpace) / apart)
	case l.isEvent():
		return int((l.Addr - eqSpace) / apart)
	}
	return int((l.Addr - msixSpace) / 4)
}

type bench struct {
	W         *cqwriter.Writer
	Send      agent.Source[port.CQEReq]
	Recv      agent.Source[port.CQEReq]
	Bell      agent.Source[port.CQDoorbell]
	Async     agent.Source[port.EventReq]
	Admin     agent.Source[port.CQAdmin]
	AdminRes  agent.Sink[port.CQAdminRes]
	Write     agent.Sink[port.WriteReq]
	Data      agent.Sink[port.Beat]
	Done      agent.Source[port.WriteDone]
	Csr       agent.Responder[port.MsixReq, port.MsixRes]
	Fire      agent.Source[port.MsixFire]
	Fatal     agent.Sink[port.Retire]
	Purged    agent.Sink[port.Purge]
	k         *hdl.Kernel
	masked    uint32
	pending   uint32
	log       []landed
	doneDelay uint64
	rng       *rand.Rand
	onLand    func(l *landed)
}

func newBench(t hdltest.T, p cqwriter.Params, o hdl.Options, throttle uint64) *bench {
	b := &bench{W: cqwriter.New(p), rng: rand.New(rand.NewPCG(throttle, 1)), doneDelay: 4}
	hdl.Connect(&b.Send.Out, &b.W.Send, 2)
	hdl.Connect(&b.Recv.Out, &b.W.Recv, 2)
	hdl.Connect(&b.Bell.Out, &b.W.Bell, 2)
	hdl.Connect(&b.Async.Out, &b.W.Async, 2)
	hdl.Connect(&b.Admin.Out, &b.W.Admin, 2)
	hdl.Connect(&b.W.AdminRes, &b.AdminRes.In, 2)
	hdl.Connect(&b.W.Write, &b.Write.In, 2)
	hdl.Connect(&b.W.WriteData, &b.Data.In, 2)
	hdl.Connect(&b.Done.Out, &b.W.WriteDone, 2)
	hdl.Connect(&b.W.Msix, &b.Csr.In, 2)
	hdl.Connect(&b.Csr.Out, &b.W.MsixRes, 2)
	hdl.Connect(&b.Fire.Out, &b.W.MsixFire, 2)
	hdl.Connect(&b.W.Fatal, &b.Fatal.In, 2)
	hdl.Connect(&b.W.Purged, &b.Purged.In, 2)
	if throttle != 0 {
		for i, th := range []*agent.Throttle{
			&b.Send.Throttle, &b.Recv.Throttle, &b.Bell.Throttle, &b.Async.Throttle, &b.Admin.Throttle, &b.AdminRes.Throttle,
			&b.Write.Throttle, &b.Data.Throttle, &b.Done.Throttle, &b.Csr.Throttle, &b.Fatal.Throttle, &b.Purged.Throttle,
		} {
			th.Seed = throttle + uint64(i)
		}
		b.Csr.Latency = func() uint64 { return 1 + b.rng.Uint64N(20) }
	} else {
		b.Csr.Latency = func() uint64 { return 1 }
	}
	b.Csr.Answer = func(q port.MsixReq) port.MsixRes {
		if b.masked>>q.Vector&1 != 0 {
			b.pending |= 1 << q.Vector
			return port.MsixRes{}
		}
		return port.MsixRes{Send: true, Addr: msixSpace + 4*port.BusAddr(q.Vector), Data: 0xbeef0000 | uint32(q.Vector)}
	}
	b.Write.OnTake = func(port.WriteReq) { b.land(t) }
	b.Data.OnTake = func(port.Beat) { b.land(t) }
	var due []uint64
	b.Done.NotBefore = func(n int) uint64 {
		for len(due) <= n {
			due = append(due, b.log[len(due)].At+b.doneDelay)
		}
		return due[n]
	}
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	b.k = k
	return b
}

// land puts a write in the log when its request and its beat are both there.
func (b *bench) land(t hdltest.T) {
	n := len(b.log)
	if len(b.Write.Got) == n || len(b.Data.Got) == n {
		return
	}
	r, d := b.Write.Got[n], b.Data.Got[n]
	require.True(t, r.Notify)
	require.Zero(t, r.Shift)
	require.True(t, d.Last)
	require.EqualValues(t, r.Len, d.Len)
	b.log = append(b.log, landed{b.k.Cycle(), r.Addr, d.Data, r.Len})
	l := &b.log[n]
	switch {
	case l.isCQE():
		require.EqualValues(t, abi.CQESize, l.Len)
	case l.isEvent():
		require.EqualValues(t, abi.EventSize, l.Len)
	default:
		require.EqualValues(t, 4, l.Len)
		require.EqualValues(t, 0xbeef0000|l.queue(), binary.LittleEndian.Uint32(l.Data[:]))
	}
	if b.onLand != nil {
		b.onLand(l)
	}
	b.Done.Push(port.WriteDone{})
}

// run steps n cycles.
func (b *bench) run(t hdltest.T, n int) {
	for range n {
		if err := b.k.Run(b.k.Cycle() + 1); err != nil {
			var stuck *hdl.Deadlock
			require.ErrorAs(t, err, &stuck) // an asynchronous event that waits for room
			require.FailNow(t, err.Error())
		}
	}
}

// admin executes operations one by one and returns the last answer.
func (b *bench) admin(t hdltest.T, ops ...port.CQAdmin) (res port.CQAdminRes) {
	for _, o := range ops {
		n := len(b.AdminRes.Got)
		b.Admin.Push(o)
		for end := b.k.Cycle() + 10000; len(b.AdminRes.Got) == n; b.run(t, 1) {
			require.Less(t, b.k.Cycle(), end, "no answer to %v", o.Op)
		}
		res = b.AdminRes.Got[n]
	}
	return res
}

func createEQ(n int, log, vector uint8) port.CQAdmin {
	return port.CQAdmin{Op: port.EQCreate, Number: uint32(n), Base: eqBase(n), LogSize: log, Vector: vector, Page: uint8(n)}
}

func createCQ(n int, log uint8, eqn int) port.CQAdmin {
	return port.CQAdmin{Op: port.CQCreate, Number: uint32(n), Base: cqBase(n), LogSize: log, EQN: port.EQN(eqn), Page: uint8(n)}
}

// ring, rearm and arm are doorbells on the page that createCQ and createEQ bind.
func ring(n int, ci uint16) port.CQDoorbell {
	return port.CQDoorbell{CQN: port.CQN(n), CI: ci, Page: uint8(n)}
}

func arm(n int, ci uint16, solicited bool) port.CQDoorbell {
	return port.CQDoorbell{CQN: port.CQN(n), CI: ci, Page: uint8(n), Arm: true, Solicited: solicited}
}

func rearm(n int, ci uint16) port.CQDoorbell {
	return port.CQDoorbell{EQ: true, CQN: port.CQN(n), CI: ci, Page: uint8(n), Arm: true}
}
