// Package mpt is the memory protection and translation table: it checks keys
// and turns virtual addresses of memory regions into bus addresses (IBTA 10.6).
//
//	Tx ──►┐         ┌────────────┐        ┌─────────────┐
//	      ├─ pick ─►│ key table  ├─ check ►│ page table  ├─► TxRes / RxRes
//	Rx ──►┘    t    └────────────┘  t+1   └─────────────┘  t+2
//	Admin, Pages ─► writes between look-ups, AdminRes
//
// One look-up a cycle, Tx and Rx in turn; the answer can be seen 3 cycles after
// the request was taken. A range of at most 4096 bytes touches at most two
// pages, and the page table has two ports, so every look-up takes one cycle.
//
// Registration writes one page address every second cycle (look-ups have the
// cycles between) and makes the key valid last, so a key never shows half a
// list. It takes the NumPages addresses in any case and answers after them.
// Deregistration makes the key invalid at once; what was translated before may
// still be on its way to memory: admin waits for that.
//
// SEND with invalidate makes a key invalid by a look-up with Invalidate, in its
// order among the others; the region stays registered, so that its number and
// pages are not free. It waits while admin is at work, and admin for it.
//
// Invariants: a request is taken only with room for its answer; an entry is
// valid only with all its pages written.
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

// entry is a memory region.
type entry struct {
	Used    bool  // registered
	Valid   bool  // registered, and not invalidated since
	Low     uint8 // the consumer's byte of the key
	PD      port.PD
	Access  abi.AccessFlags
	LogPage uint8
	First   uint32 // entry of the first page
	Addr    port.VA
	Length  uint64
}

// lookup is the stage that waits for the key table.
type lookup struct {
	Valid bool
	RX    bool
	Req   port.MptReq
}

// translate is the stage that waits for the page table.
type translate struct {
	Valid bool
	RX    bool
	Res   port.MptRes // addresses hold the offsets in their pages so far
}

type regs struct {
	Look  lookup
	Trans translate
	RX    bool // whose turn it is when both want
	Admin adminRegs
}

// MPT is the block. Its ports are described in the package comment.
type MPT struct {
	Tx, Rx       hdl.In[port.MptReq]
	TxRes, RxRes hdl.Out[port.MptRes]
	Admin        hdl.In[port.MRAdmin]
	Pages        hdl.In[port.Beat]
	AdminRes     hdl.Out[port.MRAdminRes]

	KeyTable  hdl.RAM[entry]        // port 0 look-up, port 1 admin
	PageTable hdl.RAM[port.BusAddr] // port 0 first page, port 1 second page or admin

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

// Eval advances look-ups from the last stage to the first, then admin.
func (m *MPT) Eval() {
	m.answer()
	m.translate()
	m.pick()
	m.admin()
}

// pick takes a request if there will be room for its answer.
func (m *MPT) pick() {
	q, d := &m.Q, &m.D
	d.Look.Valid = false
	if q.Admin.State == adminWrite {
		return // the page table's port 1 is wanted in the next cycle
	}
	var inTx, inRx int
	count(q.Look.Valid, q.Look.RX, &inTx, &inRx)
	count(q.Trans.Valid, q.Trans.RX, &inTx, &inRx)
	tx := m.Tx.Valid() && m.TxRes.Space() > inTx
	rx := m.Rx.Valid() && m.RxRes.Space() > inRx
	if tx && m.Tx.Head().Invalidate || rx && m.Rx.Head().Invalidate {
		if q.Admin.State != adminIdle {
			return // both use port 1 of the key table
		}
	}
	switch {
	case rx && (q.RX || !tx):
		d.Look.Req = *m.Rx.Take()
	case tx:
		d.Look.Req = *m.Tx.Take()
		rx = false
	default:
		return
	}
	d.RX = !rx
	d.Look.Valid, d.Look.RX = true, rx
	if i := d.Look.Req.Key >> 8; int(i) < m.KeyTable.Depth() {
		m.KeyTable.Read(0, int(i))
	}
}

func count(valid, rx bool, inTx, inRx *int) {
	switch {
	case valid && rx:
		*inRx++
	case valid:
		*inTx++
	}
}

// translate checks the entry read and asks for its pages.
func (m *MPT) translate() {
	q, d := &m.Q, &m.D
	d.Trans.Valid = q.Look.Valid
	if !q.Look.Valid {
		return
	}
	d.Trans.RX = q.Look.RX
	r := &q.Look.Req
	e := m.KeyTable.Data(0)
	d.Trans.Res = port.MptRes{Status: check(e, r)}
	if int(r.Key>>8) >= m.KeyTable.Depth() {
		d.Trans.Res.Status = port.MptBadKey
	}
	if r.Invalidate {
		if d.Trans.Res.Status == port.MptOK {
			gone := *e
			gone.Valid = false
			m.KeyTable.Write(1, int(r.Key>>8), &gone)
		}
		return
	}
	if d.Trans.Res.Status != port.MptOK || r.Len == 0 {
		return
	}
	page, res := locate(e, r)
	d.Trans.Res = res
	m.PageTable.Read(0, int(e.First)+page)
	if res.Len1 != 0 {
		m.PageTable.Read(1, int(e.First)+page+1)
	}
}

// answer adds the pages to the offsets and hands out the result.
func (m *MPT) answer() {
	q := &m.Q
	if !q.Trans.Valid {
		return
	}
	res := q.Trans.Res
	if res.Len0 != 0 {
		res.Addr0 += *m.PageTable.Data(0)
		if res.Len1 != 0 {
			res.Addr1 = *m.PageTable.Data(1)
		}
	}
	if q.Trans.RX {
		m.RxRes.Put(res)
	} else {
		m.TxRes.Put(res)
	}
}
