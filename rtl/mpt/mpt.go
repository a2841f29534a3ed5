// Package mpt is the memory protection and translation table: it checks keys
// and turns virtual addresses of memory regions and windows into bus addresses
// (IBTA 10.6).
//
//	Tx ──►┐         ┌────────────┐        ┌─────────────┐
//	      ├─ pick ─►│ key table  ├─ check ►│ page table  ├─► TxRes / RxRes
//	Rx ──►┘    t    └─────▲──────┘  t+1   └──────▲──────┘  t+2
//	                 port 1 │                      │ port 1, between look-ups
//	Mem   ─► bind, invalidate, fast register ─► pages ◄─ MemPages    MemRes ─►
//	Admin ─► register, deregister, end of QP ─► pages ◄─ Pages     AdminRes ─►
//	TxFenced, RxFenced ─► markers come back                        KeyEnded ─►
//
// One look-up a cycle, Tx and Rx in turn; the answer can be seen 3 cycles after
// the request was taken. A range of at most 4096 bytes touches at most two
// pages, and the page table has two ports, so every look-up takes one cycle.
//
// # Keys
//
// A key is that of a region, of room for one that FAST_REG fills, or of a memory window
// (IBTA 10.6.7.2), and is good while it is valid. A window is for remote access alone;
// one of type 2 moreover for the QP that bound it. It has the pages of its region, which
// therefore can't end while windows are bound to it: it counts them.
//
// # Changes
//
// Changes of keys are made one at a time, in this order with look-ups: what was picked in
// an earlier cycle than that of the write sees the old key, what is picked then or later
// the new one. Each change shows to look-ups in one cycle. In cycles, from the one in
// which the operation is taken to the one in which the next may be:
//
//	BIND_MW              4, and 2 more if the window was bound to another region
//	  that unbinds       2, and 2 more if the window was bound
//	LOCAL_INV            2, and 2 more if it is of a window
//	FAST_REG             3, and 2 for each page
//	refused              2, BIND_MW 3 if for its region; FAST_REG takes its pages first
//	SEND with invalidate 1 as a look-up, and 3 more before the next change if it is of a window
//	registration         2 and 1, and 2 for each page; between these others go on
//	deregistration       2, and 2 more if it is of a window that is bound
//	end of a QP          1 if no window of type 2 is bound; else 1 for each key of the
//	                     table, and 3 for each window found
//
// The answer can be seen when the operation is over but for a region's count, or when its
// fence is (below); the next memory operation waits for that, others don't.
//
// SEND with invalidate is a look-up with Invalidate, in its order among the others. It
// waits while a change is made, and changes for it. Neither starves: they take turns, and
// the scan for the windows of a QP makes way.
//
// Registration writes one page address every second cycle (look-ups have the
// cycles between) and makes the key valid last, so a key never shows half a
// list; FAST_REG likewise. They take the NumPages addresses in any case and answer after
// them. An invalidated region stays registered, so that its number and pages are not
// free.
//
// # Fences
//
// An access that was translated before a key changed may still be on its way to memory. So
// who takes something from a key that was good is told only when all that was translated
// before is over (IBTA 10.6.7.2: a key gives no access once the completion of what ended
// it is there): LOCAL_INV, an unbind, a bind of a window that was bound, deregistration, the
// end of a QP's windows. What only gives, or is refused, is answered at once.
//
// The change is made at once. Then a marker takes the place of a look-up on either side: it
// stands in TxRes and RxRes behind the last answer that saw the old key. pkt_tx and scatter
// pass it on in order and hand it back, in TxFenced and RxFenced, when all before it is
// over: port.Fence says what that is, for reads and for writes. With both back the answer
// leaves; so the CQE that tells of it enters the posted queue behind the last write by the
// old key, and is made when the last read has its data.
//
// SEND with invalidate gets its answer at once, since scatter needs that to go on; its
// completion is behind all that scatter has written before anyway. KeyEnded tells scatter
// that its marker is back from pkt_tx too, and the CQE waits for that.
//
// A fence takes 8 cycles with nothing on its way, else as long as the slowest read or write
// that is. Of waiting memory operations there is one, and the next are held in Mem (the
// stream's depth); the driver's operation is one besides; of SENDs with invalidate there
// may be as many as scatter has room for packets, and as TxRes and pkt_tx have for markers.
// No look-up waits for a fence: with nobody who ends a key there are no markers, and each
// costs one look-up its cycle.
//
// No deadlock: what a fence waits for never waits for what the fence holds up.
//   - It holds up MemRes, and so wqe_sched's Exec; AdminRes, and so the command in admin;
//     CQEs and acknowledgements in scatter's Finish, behind a SEND with invalidate; and no
//     look-up, no invalidation, and not the key table.
//   - A read in pkt_tx waits for room in the payload buffer, which is that frames leave; they
//     wait for dma, qpc and the wire. None of these waits for Exec: it waits for pkt_tx
//     itself at each packet, whose pieces it has put before it comes to a memory operation.
//     Nor for Finish: responder holds up ack_gen, and that Finish, while pkt_tx is busy.
//     So markers of Tx come back whatever else waits.
//   - A write in scatter waits for dma, for Finish and whom that tells (cq_writer, retrans,
//     ack_gen, by it responder and pkt_tx), or for an answer of mpt; Finish moreover for
//     KeyEnded, which markers of Tx alone lead to. None waits for Exec, which waits itself
//     for retrans and pkt_tx, nor for admin.
//
// Invariants: a request is taken only with room for its answer; an entry is
// valid only with all its pages written; a region's count is that of the windows bound to
// it, but for a change that is under way.
package mpt

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// Params are the sizes of the tables.
type Params struct {
	Keys  int // entries of the key table; 0: 1,024
	Pages int // entries of the page table; 0: 16,384
}

// entry is a key.
type entry struct {
	Used    bool // registered
	Valid   bool // a region that is not invalidated, a window that is bound
	Kind    abi.KeyKind
	Low     uint8 // the consumer's byte of the key
	PD      port.PD
	Access  abi.AccessFlags
	LogPage uint8
	First   uint32 // page table's entry of the first page; of a window the page of Addr
	Addr    port.VA
	Length  uint64

	Pages  uint32   // FAST_REG: entries of the page table from First on
	Bound  uint32   // region: windows bound to it
	Region uint32   // bound window: index of its region
	QPN    port.QPN // bound window of type 2: whose it is
}

// window tells whether the key is of a memory window.
func (e *entry) window() bool { return e.Kind == abi.KeyWindow1 || e.Kind == abi.KeyWindow2 }

type regs struct {
	Look  lookup
	Trans translate
	RX    bool // whose turn it is when both want
	Key   keyRegs
	Admin adminRegs
	Fill  [fillers]fill
	Store uint8  // 1 + the filler that writes an address now; 0: none
	Bound uint32 // windows of type 2 that are bound
	Fence fenceRegs
}

// MPT is the block. Its ports are described in the package comment.
type MPT struct {
	Tx, Rx       hdl.In[port.MptReq]
	TxRes, RxRes hdl.Out[port.MptRes]
	Mem          hdl.In[port.MemOp]
	MemPages     hdl.In[port.Beat]
	MemRes       hdl.Out[port.MemRes]
	Admin        hdl.In[port.MRAdmin]
	Pages        hdl.In[port.Beat]
	AdminRes     hdl.Out[port.MRAdminRes]
	TxFenced     hdl.In[port.Fence] // markers of TxRes, handed back in order
	RxFenced     hdl.In[port.Fence] // of RxRes
	KeyEnded     hdl.Out[port.KeyEnded]

	KeyTable  hdl.RAM[entry]        // port 0 look-up, port 1 changes
	PageTable hdl.RAM[port.BusAddr] // port 0 first page, port 1 second page or changes

	hdl.Regs[regs]
}

// New makes the block with its tables.
func New(p Params) *MPT {
	hdl.Default(&p.Keys, 1024)
	hdl.Default(&p.Pages, 16384)
	m := &MPT{}
	m.KeyTable.Init(p.Keys, hdl.WriteFirst) // a look-up right behind an invalidation sees it
	m.PageTable.Init(p.Pages, hdl.ReadFirst)
	return m
}

// Eval advances look-ups from the last stage to the first, then changes.
func (m *MPT) Eval() {
	m.answer()
	m.fenced()
	m.translate()
	m.D.Store = m.wantsStore()
	m.pick()
	m.key()
	m.admin()
	m.fill()
}
