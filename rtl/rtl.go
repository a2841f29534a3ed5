// Package rtl is the NIC: it instantiates the blocks and wires them.
//
//	                send
//	PcieTx ┌─────┐  csr ──► wqe_sched ───────────────────► pkt_tx ───► ┌─────┐ EthTx
//	◄──────┤     │      sent │ └─ bind, invalidate ─► mpt ──┘  ▲       │     ├──────►
//	       │     │           ▼                                 │       │     │
//	       │ dma │        retrans ──► CQE                  responder   │ mac │
//	PcieRx │     │           ▲ acknowledged, left              ▲       │     │ EthRx
//	──────►│     │  receive  └────────────────── scatter ──────┘       │     │◄──────
//	       └─────┘    payload, CQE ◄───────────  ▲  ▲   ▲              └──┬──┘
//	                  atomic ◄───────────────────┘  │   └ ack_gen ◄ pkt_rx
//	                  rq_fetch ─► receive WQEs ─────┘
//
// csr, wqe_sched, pkt_tx, ack_gen and retrans ask qpc, which has the contexts of all
// QPs, the address handles and what is known of shared receive queues; their lists
// rq_fetch follows. pkt_tx and scatter ask mpt, where wqe_sched has windows bound, regions
// registered and keys invalidated; CQEs, events and MSI-X leave through cq_writer;
// admin executes the driver's commands on qpc, mpt and cq_writer.
//
// UC, UD and raw QPs take the same ways, but for acknowledgements: what has left is done.
// mac takes VLAN tags out of frames and puts them in, and turns frames for the port's own
// address around before the wire.
//
// A lost packet is sent again from host memory: qpc rewinds the QP, pkt_tx drops what
// is under way of it, retrans says with which WQE to go on once those before it have
// ended, and wqe_sched reads that again. pkt_tx tells retrans which requests have left,
// for its ACK timers.
//
// Each folder is a block and says in its package comment what it does, its ports,
// latency and invariants; package port has what travels between them.
package rtl

import (
	"rnic/hdl"
	"rnic/pcie"
	"rnic/rtl/ack_gen"
	"rnic/rtl/admin"
	"rnic/rtl/atomic"
	"rnic/rtl/cq_writer"
	"rnic/rtl/csr"
	"rnic/rtl/dma"
	"rnic/rtl/mac"
	"rnic/rtl/mpt"
	"rnic/rtl/pkt_rx"
	"rnic/rtl/pkt_tx"
	"rnic/rtl/port"
	"rnic/rtl/qpc"
	"rnic/rtl/responder"
	"rnic/rtl/retrans"
	"rnic/rtl/rq_fetch"
	"rnic/rtl/scatter"
	"rnic/rtl/wqe_sched"
)

// Params are the sizes of the blocks; zero stands for each block's default.
type Params struct {
	Dma       dma.Params
	Mac       mac.Params
	Mpt       mpt.Params
	QPC       qpc.Params
	Admin     admin.Params
	Sched     wqesched.Params
	Retrans   retrans.Params
	Tx        pkttx.Params
	Rx        pktrx.Params
	AckGen    ackgen.Params
	Scatter   scatter.Params
	RQFetch   rqfetch.Params
	Responder responder.Params
	Atomic    atomic.Params
	CQ        cqwriter.Params
}

// NIC is the device. Its pins are those of dma towards the host (PcieRx, PcieTx)
// and of mac towards the wire (EthRx, EthTx).
type NIC struct {
	CSR       *csr.CSR
	Admin     *admin.Admin
	QPC       *qpc.QPC
	MPT       *mpt.MPT
	Dma       *dma.DMA
	WQESched  *wqesched.Sched
	RQFetch   *rqfetch.Fetch
	CQWriter  *cqwriter.Writer
	Retrans   *retrans.Retrans
	PktTx     *pkttx.TX
	PktRx     *pktrx.RX
	AckGen    *ackgen.AckGen
	Scatter   *scatter.Scatter
	Responder *responder.Responder
	Atomic    *atomic.Atomic
	Mac       *mac.MAC
}

// New makes a NIC.
func New(p Params) *NIC {
	n := &NIC{
		CSR:       csr.New(),
		Admin:     admin.New(p.Admin),
		QPC:       qpc.New(p.QPC),
		MPT:       mpt.New(p.Mpt),
		Dma:       dma.New(p.Dma),
		WQESched:  wqesched.New(p.Sched),
		RQFetch:   rqfetch.New(p.RQFetch),
		CQWriter:  cqwriter.New(p.CQ),
		Retrans:   retrans.New(p.Retrans),
		PktTx:     pkttx.New(p.Tx),
		PktRx:     pktrx.New(p.Rx),
		AckGen:    ackgen.New(p.AckGen),
		Scatter:   scatter.New(p.Scatter),
		Responder: responder.New(p.Responder),
		Atomic:    atomic.New(p.Atomic),
		Mac:       mac.New(p.Mac),
	}
	n.connectHost()
	n.connectSend(p)
	n.connectReceive(p)
	n.connectLevels()
	return n
}

// PcieRx takes TLPs from the host.
func (n *NIC) PcieRx() *hdl.In[pcie.Beat] { return &n.Dma.Rx.Pcie }

// PcieTx sends TLPs to the host.
func (n *NIC) PcieTx() *hdl.Out[pcie.Beat] { return &n.Dma.Tx.Pcie }

// EthRx takes beats from the wire, one a cycle, always.
func (n *NIC) EthRx() *hdl.In[port.EthBeat] { return &n.Mac.Receive.Rx }

// EthTx sends beats to the wire.
func (n *NIC) EthTx() *hdl.Out[port.EthBeat] { return &n.Mac.Transmit.Tx }
