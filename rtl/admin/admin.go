// Package admin executes the commands of the admin ring: it fetches them and
// their mailboxes by DMA, has the blocks that own the objects do the work, and
// writes completions.
//
//	         Read, Data                       ┌─► QP, QPRes         qpc
//	host ──────────────► command ─► mailbox ──┼─► CQ, CQRes         cq_writer
//	  ▲                                       └─► MR, MRPages ...   mpt
//	  │ Write, WriteData                             │
//	  └──────────────────── completion ◄─────────────┘
//	                          │
//	                          └─► CQ (IRQRaise) after WriteDone
//
// One command at a time; the next is fetched when the completion of the one
// before is posted. A command takes one PCIe round trip, one more with a mailbox,
// and for REG_MR one for each 4 KiB of page list.
//
// RESET and destruction of a QP come in two phases: qpc stops the QP, a Purge
// marker goes down each pipeline behind all work of that QP, and when both are
// back mpt unbinds its windows of type 2, and qpc clears or frees it. So nothing of an
// older life of a QP number is left when its command completes. The sending pipeline is first: a fault that it met in a
// READ response is then on its way before the marker of the receiving one. DEREG_MR waits
// for mpt alone, which answers when nothing reads or writes the region any more.
//
// Invariants:
//   - Each command fetched gets one completion, with another status than OK if
//     nothing was changed. A command ring that can't be read, or an index that
//     can't be, stops the block (AdminStats.Failed) until it is disabled.
//   - At most one DMA read is out, of at most Chunk bytes: Data is DataDepth deep.
//   - The interrupt is raised after the completion has entered the posted queue.
package admin

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// Chunk is the most bytes that one DMA read asks for.
const Chunk = 4096

// DataDepth is the depth that the stream Data needs, so that dma is never held up
// while mpt takes a page list.
const DataDepth = Chunk / port.BeatBytes

// Params are the numbers of objects, as QUERY_DEVICE reports them.
type Params struct {
	LogQP  uint8 // 0: 10
	LogCQ  uint8 // 0: 10
	LogEQ  uint8 // 0: 4
	LogSRQ uint8 // 0: 6
	LogAH  uint8 // 0: 10
	Keys   uint32
	Pages  uint32 // 0: 1,024 keys, 16,384 page entries
}

type regs struct {
	State  state
	Stop   bool // the block was disabled since the ring was set up
	Ring   port.AdminReg
	CI     uint16 // index of the command that is next, or executed
	Cmd    command
	Status abi.AdminStatus
	Syn    abi.AdminSyndrome
	Result uint16
	Beat   uint8 // of a mailbox
	QP     qpRegs
	MR     mrRegs
	Stats  port.AdminStats
}

// command is what is kept of an abi.AdminCommand.
type command struct {
	Op      abi.AdminOp
	ID      uint16
	Object  uint32
	Mailbox port.BusAddr
}

// Admin is the block. Its ports are described in the package comment.
type Admin struct {
	Reg       hdl.Tap[port.AdminReg]
	Read      hdl.Out[port.ReadReq]
	Data      hdl.In[port.ReadBeat]
	Write     hdl.Out[port.WriteReq]
	WriteData hdl.Out[port.Beat]
	WriteDone hdl.In[port.WriteDone]
	QP        hdl.Out[port.QPAdmin]
	QPRes     hdl.In[port.QPAdminRes]
	CQ        hdl.Out[port.CQAdmin]
	CQRes     hdl.In[port.CQAdminRes]
	MR        hdl.Out[port.MRAdmin]
	MRPages   hdl.Out[port.Beat]
	MRRes     hdl.In[port.MRAdminRes]
	PurgeTx   hdl.Out[port.Purge]
	PurgeRx   hdl.Out[port.Purge]
	Purged    hdl.In[port.Purge]
	Stats     hdl.Sig[port.AdminStats]

	// Mailbox is 4 memories of 64 bytes side by side, so that a mailbox is written
	// beat by beat and seen as a whole.
	Mailbox [mailboxBeats]hdl.RAM[[port.BeatBytes]byte]
	// Use knows which CQs exist and how many queues of QPs complete on each.
	Use hdl.RAM[use]
	// SRQUse is how many QPs use an SRQ; which there are, qpc knows.
	SRQUse hdl.RAM[uint16]

	hdl.Regs[regs]

	par    Params
	device [abi.MailboxSize]byte // the DeviceMailbox
}

// New makes the block.
func New(p Params) *Admin {
	for _, d := range []struct {
		v *uint8
		n uint8
	}{{&p.LogQP, 10}, {&p.LogCQ, 10}, {&p.LogEQ, 4}, {&p.LogSRQ, 6}, {&p.LogAH, 10}} {
		if *d.v == 0 {
			*d.v = d.n
		}
	}
	hdl.Default(&p.Keys, 1024)
	hdl.Default(&p.Pages, 16384)
	m := &Admin{par: p, device: device(p)}
	for i := range m.Mailbox {
		m.Mailbox[i].Init(1, hdl.WriteFirst)
	}
	m.Use.Init(1<<p.LogCQ, hdl.ReadFirst)
	m.SRQUse.Init(1<<p.LogSRQ, hdl.ReadFirst)
	return m
}

// Eval does what the state says.
func (m *Admin) Eval() {
	m.D.Stop = m.Q.Stop || !m.Reg.Get().Enable
	switch m.Q.State {
	case off:
		m.off()
	case idle:
		m.idle()
	case fetch:
		m.fetch()
	case dispatch:
		m.dispatch()
	case mailbox:
		m.mailbox()
	case execute:
		m.execute()
	case checkUse:
		m.checkUse()
	case queueResult:
		m.queueResult()
	case checkCQs:
		m.checkCQs()
	case qpResult:
		m.qpResult()
	case markers:
		m.markers()
	case markersBack:
		m.markersBack()
	case endWindows:
		m.endWindows()
	case qpSettle:
		m.qpSettle()
	case useRead:
		m.useRead()
	case useWrite:
		m.useWrite()
	case answer:
		m.answer()
	case pages:
		m.pages()
	case mrResult:
		m.mrResult()
	case complete:
		m.complete()
	case posted:
		m.posted()
	case raise:
		m.raise()
	case failed:
		m.failed()
	}
	if m.D.Stats != m.Q.Stats {
		m.Stats.Set(m.D.Stats)
	}
}

// end goes on to the completion of the command.
func (m *Admin) end(s abi.AdminStatus, why abi.AdminSyndrome) {
	m.D.State, m.D.Status, m.D.Syn, m.D.Result = complete, s, why, 0
}
