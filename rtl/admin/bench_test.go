package admin_test

import (
	"encoding/binary"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/bits"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/admin"
	"rnic/rtl/mpt"
	"rnic/rtl/port"
	"rnic/rtl/qpc"
	"rnic/tb/agent"
)

// levels drives the registers: AdminReg as told, PortReg and GIDs once. It reads Stats.
type levels struct {
	hdl.Regs[struct{ Booted bool }]
	Set      hdl.In[port.AdminReg]
	AdminReg hdl.Sig[port.AdminReg]
	PortReg  hdl.Sig[port.PortReg]
	GIDs     hdl.Sig[port.GIDTable]
	Stats    hdl.Tap[port.AdminStats]
	Bells    hdl.Tap[port.QPStats]
}

func (l *levels) Eval() {
	if !l.Q.Booted {
		l.D.Booted = true
		l.PortReg.Set(port.PortReg{MTU: 4096, PKey: 0xffff, TimeUnit: 8, IPv4: roce.HostIPv4(1)})
		l.GIDs.Set(port.GIDTable{GID: [abi.NumGIDs][16]byte{1: roce.GIDFromIPv4(roce.HostIPv4(1))}})
	}
	if l.Set.Valid() {
		l.AdminReg.Set(*l.Set.Take())
	}
}

// bench is the block with the real qpc and mpt, host memory, and a cq_writer and
// pipelines that do as they should.
type bench struct {
	Admin    *admin.Admin
	QPC      *qpc.QPC
	Mpt      *mpt.MPT
	Levels   levels
	Set      agent.Source[port.AdminReg]
	Read     agent.Sink[port.ReadReq]
	Data     agent.Source[port.ReadBeat]
	Write    agent.Sink[port.WriteReq]
	WriteDat agent.Sink[port.Beat]
	Done     agent.Source[port.WriteDone]
	CQ       agent.Sink[port.CQAdmin]
	CQRes    agent.Source[port.CQAdminRes]
	PurgeTx  agent.Sink[port.Purge]
	PurgeRx  agent.Sink[port.Purge]
	Purged   agent.Source[port.Purge]
	Activate agent.Sink[port.Activate]
	Event    agent.Sink[port.AckEvent]
	QPErr    agent.Sink[port.QPError]
	Async    agent.Sink[port.EventReq]
	Stale    agent.Sink[port.Stale]
	StaleSQ  agent.Sink[port.Stale]
	Mem      agent.Source[port.MemOp]
	MemRes   agent.Sink[port.MemRes]
	MptTx    agent.Sink[port.MptRes] // the markers of mpt, which go back at once
	MptRx    agent.Sink[port.MptRes]
	TxFenced agent.Source[port.Fence]
	RxFenced agent.Source[port.Fence]

	k      *hdl.Kernel
	reg    port.AdminReg
	mem    [memSize]byte
	bad    uint64 // address that can't be read
	writes []port.WriteReq
	data   []byte
	log    []string // order of what the driver could see
	seen   uint16   // completions
}

const (
	memSize = 1 << 20
	sqBase  = 0x1000
	cqBase  = 0x2000
	boxBase = 0x4000
	boxes   = 16
	lists   = 0x10000
)

func newBench(t require.TestingT, o hdl.Options, throttle uint64, logSize uint8) *bench {
	b := &bench{
		Admin: admin.New(admin.Params{LogQP: 4, LogCQ: 4, LogEQ: 2, LogSRQ: 2, LogAH: 3, Keys: 16, Pages: 2048}),
		QPC:   qpc.New(qpc.Params{LogQP: 4, LogSRQ: 2, LogAH: 3}), Mpt: mpt.New(mpt.Params{Keys: 16, Pages: 2048}),
		bad: 1 << 40,
	}
	for _, th := range []*agent.Throttle{
		&b.Read.Throttle, &b.Data.Throttle, &b.Write.Throttle, &b.WriteDat.Throttle, &b.Done.Throttle,
		&b.CQ.Throttle, &b.CQRes.Throttle, &b.PurgeTx.Throttle, &b.PurgeRx.Throttle, &b.Purged.Throttle,
	} {
		th.Seed = throttle
	}
	a := b.Admin
	hdl.Connect(&a.Read, &b.Read.In, 2)
	hdl.Connect(&b.Data.Out, &a.Data, admin.DataDepth)
	hdl.Connect(&a.Write, &b.Write.In, 2)
	hdl.Connect(&a.WriteData, &b.WriteDat.In, 2)
	hdl.Connect(&b.Done.Out, &a.WriteDone, 2)
	hdl.Connect(&a.QP, &b.QPC.Admin, 2)
	hdl.Connect(&b.QPC.AdminRes, &a.QPRes, 2)
	hdl.Connect(&a.CQ, &b.CQ.In, 2)
	hdl.Connect(&b.CQRes.Out, &a.CQRes, 2)
	hdl.Connect(&a.MR, &b.Mpt.Admin, 2)
	hdl.Connect(&a.MRPages, &b.Mpt.Pages, 2)
	hdl.Connect(&b.Mpt.AdminRes, &a.MRRes, 2)
	hdl.Connect(&b.Mem.Out, &b.Mpt.Mem, 2)
	hdl.Connect(&b.Mpt.MemRes, &b.MemRes.In, 2)
	hdl.Connect(&a.PurgeTx, &b.PurgeTx.In, 2)
	hdl.Connect(&a.PurgeRx, &b.PurgeRx.In, 2)
	hdl.Connect(&b.Purged.Out, &a.Purged, 2)
	hdl.Connect(&b.Set.Out, &b.Levels.Set, 2)
	hdl.Wire(&b.Levels.AdminReg, &a.Reg)
	hdl.Wire(&b.Levels.PortReg, &b.QPC.PortReg)
	hdl.Wire(&b.Levels.GIDs, &b.QPC.GIDs)
	hdl.Wire(&a.Stats, &b.Levels.Stats)
	hdl.Wire(&b.QPC.Stats, &b.Levels.Bells)
	hdl.Connect(&b.Mpt.TxRes, &b.MptTx.In, 2)
	hdl.Connect(&b.Mpt.RxRes, &b.MptRx.In, 2)
	hdl.Connect(&b.TxFenced.Out, &b.Mpt.TxFenced, 2)
	hdl.Connect(&b.RxFenced.Out, &b.Mpt.RxFenced, 2)
	b.MptTx.OnTake = func(r port.MptRes) { b.TxFenced.Push(r.Fence) }
	b.MptRx.OnTake = func(r port.MptRes) { b.RxFenced.Push(r.Fence) }
	hdl.TieOff(&b.Mpt.Tx, &b.Mpt.Rx, &b.Mpt.MemPages, &b.Mpt.KeyEnded,
		&b.QPC.Bell, &b.QPC.Get, &b.QPC.Ctx, &b.QPC.Put, &b.QPC.TxReq, &b.QPC.TxHdr, &b.QPC.TxFault, &b.QPC.Rx, &b.QPC.Verdict,
		&b.QPC.Retire, &b.QPC.Fatal, &b.QPC.ReadPost, &b.QPC.RespDone)
	hdl.Connect(&b.QPC.Activate, &b.Activate.In, 2)
	hdl.Connect(&b.QPC.Event, &b.Event.In, 2)
	hdl.Connect(&b.QPC.QPErr, &b.QPErr.In, 2)
	hdl.Connect(&b.QPC.Async, &b.Async.In, 2)
	hdl.Connect(&b.QPC.Stale, &b.Stale.In, 2)
	hdl.Connect(&b.QPC.StaleSQ, &b.StaleSQ.In, 2)
	b.Read.OnTake = b.read
	b.Write.OnTake = func(r port.WriteReq) { b.writes = append(b.writes, r); b.write() }
	b.WriteDat.OnTake = func(d port.Beat) { b.data = append(b.data, d.Data[:d.Len]...); b.write() }
	b.CQ.OnTake = b.queues()
	b.PurgeTx.OnTake = func(p port.Purge) { b.log = append(b.log, "tx"); b.Purged.Push(p) }
	b.PurgeRx.OnTake = func(p port.Purge) { b.log = append(b.log, "rx"); b.Purged.Push(p) }
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	b.k = k
	b.reg = port.AdminReg{Enable: true, SQBase: sqBase, CQBase: cqBase, LogSize: logSize, Vector: 3, VectorOn: true}
	b.Set.Push(b.reg)
	return b
}

// read answers a DMA read.
func (b *bench) read(r port.ReadReq) {
	addr, left := uint64(r.Addr), r.Len
	var beats []port.ReadBeat
	for left > 0 {
		n := min(left, port.BeatBytes)
		d := port.ReadBeat{Beat: port.Beat{Len: uint8(n), Last: n == left}}
		copy(d.Data[:n], b.mem[addr:])
		d.Err = d.Last && b.bad >= uint64(r.Addr) && b.bad < uint64(r.Addr)+uint64(r.Len)
		beats = append(beats, d)
		addr, left = addr+uint64(n), left-n
	}
	b.Data.Push(beats...)
}

// write does a DMA write whose data is all there.
func (b *bench) write() {
	for len(b.writes) > 0 && len(b.data) >= int(b.writes[0].Len) {
		w := b.writes[0]
		copy(b.mem[w.Addr:], b.data[:w.Len])
		b.writes, b.data = b.writes[1:], b.data[w.Len:]
		if w.Addr >= cqBase && w.Addr < boxBase {
			b.log = append(b.log, "completion")
		} else {
			b.log = append(b.log, "mailbox")
		}
		if w.Notify {
			b.Done.Push(port.WriteDone{})
		}
	}
}

// queues plays cq_writer, which knows what exists.
func (b *bench) queues() func(o port.CQAdmin) {
	exists := map[[2]uint32]bool{}
	return func(o port.CQAdmin) {
		key := [2]uint32{uint32(o.Op) / 2, o.Number}
		var r port.CQAdminRes
		switch o.Op {
		case port.IRQRaise:
			b.log = append(b.log, "irq")
			return
		case port.CQModify, port.CQResize:
			if !exists[[2]uint32{uint32(port.CQCreate) / 2, o.Number}] {
				r.Status = abi.AdminBadObject
			}
			r.Index = o.CI + 1
		case port.CQCreate, port.EQCreate:
			if exists[key] {
				r.Status = abi.AdminExists
			}
			exists[key] = true
		default:
			if !exists[key] {
				r.Status = abi.AdminBadObject
			}
			exists[key] = false
		}
		b.CQRes.Push(r)
	}
}

// command is what a test asks.
type command struct {
	op     abi.AdminOp
	object uint32
	box    any    // *abi.XMailbox to read, or nil
	at     uint64 // mailbox address, 0: one that is right; 1: none
}

func encode[T any](l *bits.Layout[T], v *T, mem []byte) { l.Encode(v, mem) }

// post puts commands into the ring and rings the doorbell.
func (b *bench) post(cs ...command) {
	for _, c := range cs {
		i := b.reg.PI
		at := uint64(boxBase + int(i)%boxes*abi.MailboxSize)
		switch v := c.box.(type) {
		case *abi.QPMailbox:
			encode(abi.QPMailboxLayout, v, b.mem[at:])
		case *abi.CQMailbox:
			encode(abi.CQMailboxLayout, v, b.mem[at:])
		case *abi.EQMailbox:
			encode(abi.EQMailboxLayout, v, b.mem[at:])
		case *abi.MRMailbox:
			encode(abi.MRMailboxLayout, v, b.mem[at:])
		case *abi.AHMailbox:
			encode(abi.AHMailboxLayout, v, b.mem[at:])
		case *abi.SRQMailbox:
			encode(abi.SRQMailboxLayout, v, b.mem[at:])
		}
		if c.at == 1 {
			at = 0
		} else if c.at != 0 {
			at = c.at
		}
		slot := uint64(abi.RingSlot(i, b.reg.LogSize))
		encode(abi.AdminCommandLayout, &abi.AdminCommand{Op: c.op, ID: 100 + i, Object: c.object, Mailbox: at}, b.mem[sqBase+slot*64:])
		b.reg.PI++
	}
	b.Set.Push(b.reg)
}

// wait runs until n more completions are there and returns them.
func (b *bench) wait(t require.TestingT, n int) (cs []abi.AdminCompletion) {
	end := b.k.Cycle() + 100000
	for len(cs) < n {
		slot := uint64(abi.RingSlot(b.seen, b.reg.LogSize))
		var c abi.AdminCompletion
		require.NoError(t, abi.AdminCompletionLayout.Decode(b.mem[cqBase+slot*32:cqBase+slot*32+32], &c))
		if c.ID == 100+b.seen && c.Phase == abi.RingPhase(b.seen, b.reg.LogSize) {
			cs = append(cs, c)
			b.seen++
			continue
		}
		require.Less(t, b.k.Cycle(), end, "no completion of command %d", b.seen)
		require.NoError(t, b.k.Run(b.k.Cycle()+1))
	}
	return cs
}

// do runs commands one at a time and returns the last completion.
func (b *bench) do(t require.TestingT, cs ...command) (c abi.AdminCompletion) {
	for _, x := range cs {
		b.post(x)
		c = b.wait(t, 1)[0]
	}
	return c
}

// box is the mailbox of the last command.
func (b *bench) box() []byte {
	at := boxBase + int(b.reg.PI-1)%boxes*abi.MailboxSize
	return b.mem[at : at+abi.MailboxSize]
}

// pageList stores a page list and returns its address.
func (b *bench) pageList(offset uint64, pages []uint64) uint64 {
	for i, p := range pages {
		binary.LittleEndian.PutUint64(b.mem[lists+offset+uint64(i)*8:], p)
	}
	return lists + offset
}
