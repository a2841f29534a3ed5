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
	Value   uint64 // of an atomic acknowledgement
	Send    bool   // of a fault: a response's
	IPAddr  uint32 // of the IP header
	VLAN    bool   // Imm is the 802.1Q tag control of a raw frame
}

// fault is a fault that scatter found; End, after the last of a purged QP.
type fault struct {
	End    bool
	QPN    port.QPN
	PSN    roce.PSN
	MSN    port.MSN
	Send   bool
	Silent bool
	RQIdx  uint16
	Status abi.WCStatus
	Vendor abi.VendorErr
}

type issueRegs struct {
	Flushed  bool // the last turn was a flush's
	Purging  bool // the marker of QP Purged is on its way through scatter
	PurgedQP port.QPN
}

// Issue merges packets, faults, flushes and markers into the stream of
// operations. Faults go first, scatter's before those of READ responses, then a
// marker; packets and flushes take turns.
type Issue struct {
	Pkt       hdl.In[port.RxPkt]
	RespFault hdl.In[port.SQFault]
	Purge     hdl.In[port.Purge]
	Op        hdl.Out[port.RxOp]

	Fault   hdl.In[fault]
	Flush   hdl.In[port.QPN]
	Order   hdl.Out[order]
	Purging hdl.Out[port.QPN]
	hdl.Regs[issueRegs]
}

// Eval issues one operation.
func (i *Issue) Eval() {
	q, d := &i.Q, &i.D
	i.forget()
	if !i.Op.Ready() || !i.Order.Ready() {
		return
	}
	switch {
	case i.Fault.Valid():
		if f := i.Fault.Head(); !f.End && !i.gone(f.QPN) {
			i.fault(port.RxOp{
				PSN: f.PSN, MSN: f.MSN, Send: f.Send, Silent: f.Silent, RQIdx: f.RQIdx,
				QPN: f.QPN, Status: f.Status, Vendor: f.Vendor,
			})
			i.Fault.Take()
		}
	case i.RespFault.Valid():
		if f := i.RespFault.Head(); !i.gone(f.QPN) {
			i.fault(port.RxOp{PSN: f.PSN, Resp: true, QPN: f.QPN, Status: f.Status, Vendor: f.Vendor})
			i.RespFault.Take()
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

// gone tells whether a QP's life has ended and its marker is on its way.
func (i *Issue) gone(n port.QPN) bool { return i.Q.Purging && n == i.Q.PurgedQP }

// forget drops faults of a purged QP's old life: they say nothing about the next.
func (i *Issue) forget() {
	if i.Fault.Valid() {
		switch f := i.Fault.Head(); {
		case f.End:
			i.D.Purging = false
			i.Fault.Take()
		case i.gone(f.QPN):
			i.Fault.Take()
		}
	}
	if i.RespFault.Valid() && i.gone(i.RespFault.Head().QPN) {
		i.RespFault.Take()
	}
}

func (i *Issue) fault(o port.RxOp) {
	o.Kind = port.RxFault
	i.Op.Put(o)
	i.Order.Put(order{Kind: port.RxFault, QPN: o.QPN, PSN: o.PSN, Send: o.Send})
}

func (i *Issue) packet(p *port.RxPkt) {
	*i.Op.Next() = port.RxOp{Kind: port.RxPacket, QPN: p.QPN, Pkt: *p}
	o := order{
		Kind: port.RxPacket, QPN: p.QPN, Opcode: p.Opcode, PSN: p.PSN,
		HasImm: p.Opcode.HasImm(), Imm: p.Imm, Solicit: p.Solicited,
		Len: p.Len, BufAddr: p.BufAddr, Beats: p.FrameBeats, Value: p.Reth.Swap, IPAddr: p.IPAddr,
	}
	if p.Raw { // a frame has no headers; it is received as a datagram is
		o.Opcode, o.HasImm, o.Solicit = roce.UDSendOnly, false, false
		if o.VLAN = p.VLAN; o.VLAN {
			o.Imm = uint32(p.TCI)
		}
	}
	i.Order.Put(o)
}
