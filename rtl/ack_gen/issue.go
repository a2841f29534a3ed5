package ackgen

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// order remembers what an operation was for, until its verdict comes.
type order struct {
	Kind    port.RxOpKind
	QPN     port.QPN
	Opcode  roce.Opcode
	PSN     roce.PSN
	HasImm  bool
	Imm     uint32
	Solicit bool
	Len     uint16
	BufAddr uint32
	Beats   uint8
}

// fault is a fault that scatter found; End, after the last of a purged QP.
type fault struct {
	End    bool
	QPN    port.QPN
	PSN    roce.PSN
	MSN    port.MSN
	Status abi.WCStatus
}

type issueRegs struct {
	Flushed  bool // the last turn was a flush's
	Purging  bool // the marker of QP Purged is on its way through scatter
	PurgedQP port.QPN
}

// Issue merges packets, faults, flushes and markers into the stream of
// operations. Faults go first, then a marker; packets and flushes take turns.
type Issue struct {
	Pkt   hdl.In[port.RxPkt]
	Purge hdl.In[port.Purge]
	Op    hdl.Out[port.RxOp]

	Fault   hdl.In[fault]
	Flush   hdl.In[port.QPN]
	Order   hdl.Out[order]
	Purging hdl.Out[port.QPN]
	hdl.Regs[issueRegs]
}

// Eval issues one operation.
func (i *Issue) Eval() {
	q, d := &i.Q, &i.D
	if i.Fault.Valid() {
		// A fault of a purged QP's old life says nothing about the next.
		switch f := i.Fault.Head(); {
		case f.End:
			d.Purging = false
			i.Fault.Take()
		case q.Purging && f.QPN == q.PurgedQP:
			i.Fault.Take()
		}
	}
	if !i.Op.Ready() || !i.Order.Ready() {
		return
	}
	switch {
	case i.Fault.Valid():
		if f := i.Fault.Head(); !f.End && !(q.Purging && f.QPN == q.PurgedQP) {
			i.Fault.Take()
			i.Op.Put(port.RxOp{Kind: port.RxFault, QPN: f.QPN, PSN: f.PSN, MSN: f.MSN, Status: f.Status})
			i.Order.Put(order{Kind: port.RxFault, QPN: f.QPN, PSN: f.PSN})
		}
	case i.Purge.Valid() && !q.Purging && i.Purging.Ready():
		n := i.Purge.Take().QPN
		i.Op.Put(port.RxOp{Kind: port.RxPurge, QPN: n})
		i.Order.Put(order{Kind: port.RxPurge, QPN: n})
		i.Purging.Put(n)
		d.Purging, d.PurgedQP = true, n
	case i.Flush.Valid() && !(q.Flushed && i.Pkt.Valid()):
		n := *i.Flush.Take()
		i.Op.Put(port.RxOp{Kind: port.RxFlushRQ, QPN: n})
		i.Order.Put(order{Kind: port.RxFlushRQ, QPN: n})
		d.Flushed = true
	case i.Pkt.Valid():
		i.packet(i.Pkt.Take())
		d.Flushed = false
	}
}

func (i *Issue) packet(p *port.RxPkt) {
	*i.Op.Next() = port.RxOp{Kind: port.RxPacket, QPN: p.QPN, Pkt: *p}
	i.Order.Put(order{
		Kind: port.RxPacket, QPN: p.QPN, Opcode: p.Opcode, PSN: p.PSN,
		HasImm: p.Opcode.HasImm(), Imm: p.Imm, Solicit: p.Solicited,
		Len: p.Len, BufAddr: p.BufAddr, Beats: p.FrameBeats,
	})
}
