package rtl

import (
	"rnic/hdl"
	"rnic/rtl/admin"
	"rnic/rtl/pkt_rx"
	"rnic/rtl/pkt_tx"
	"rnic/rtl/port"
)

// slice is the depth of a stream that is only a register slice: full rate, no
// buffering.
const slice = 2

// reads joins a client to its read port of dma. Most clients take what they asked
// for at once; depth is the room of one that does not.
func (n *NIC) reads(client int, req *hdl.Out[port.ReadReq], data *hdl.In[port.ReadBeat], depth int) {
	hdl.Connect(req, &n.Dma.Read.Req[client], slice)
	hdl.Connect(&n.Dma.Read.Data[client], data, depth)
}

// writes joins a client to its write port of dma.
func (n *NIC) writes(client int, req *hdl.Out[port.WriteReq], data *hdl.Out[port.Beat], done *hdl.In[port.WriteDone]) {
	hdl.Connect(req, &n.Dma.Write[client].Req, slice)
	hdl.Connect(data, &n.Dma.Write[client].Data, slice)
	hdl.Connect(&n.Dma.Tx.Done[client], done, slice)
}

// connectHost wires what the driver talks to: registers, admin, events.
func (n *NIC) connectHost() {
	c, a, q, cq := n.CSR, n.Admin, n.QPC, n.CQWriter
	hdl.Connect(&n.Dma.Rx.Mmio, &c.MmioRx, slice)
	hdl.Connect(&c.MmioCpl, &n.Dma.Tx.MmioCpl, slice)
	hdl.Connect(&c.QPBell, &q.Bell, slice)
	hdl.Connect(&c.CQBell, &cq.Bell, slice)
	hdl.Connect(&cq.Msix, &c.Msix, slice)
	hdl.Connect(&c.MsixRes, &cq.MsixRes, slice)
	hdl.Connect(&c.MsixFire, &cq.MsixFire, slice)

	n.reads(port.ReadAdmin, &a.Read, &a.Data, admin.DataDepth)
	n.writes(port.WriteAdmin, &a.Write, &a.WriteData, &a.WriteDone)
	hdl.Connect(&a.QP, &q.Admin, slice)
	hdl.Connect(&q.AdminRes, &a.QPRes, slice)
	hdl.Connect(&a.CQ, &cq.Admin, slice)
	hdl.Connect(&cq.AdminRes, &a.CQRes, slice)
	hdl.Connect(&a.MR, &n.MPT.Admin, slice)
	hdl.Connect(&a.MRPages, &n.MPT.Pages, slice)
	hdl.Connect(&n.MPT.AdminRes, &a.MRRes, slice)
	hdl.Connect(&n.WQESched.Exec.MemOp, &n.MPT.Mem, slice)
	hdl.Connect(&n.WQESched.Exec.MemPages, &n.MPT.MemPages, slice)
	hdl.Connect(&n.MPT.MemRes, &n.WQESched.Exec.MemRes, slice)
	hdl.Connect(&cq.Purged, &a.Purged, slice)

	n.writes(port.WriteCQ, &cq.Write, &cq.WriteData, &cq.WriteDone)
	hdl.Connect(&cq.Fatal, &q.Fatal, slice)
	hdl.Connect(&q.Async, &cq.Async, slice)
}

// connectSend wires the requester, doorbell to wire and acknowledgement to CQE, and
// the sending side of the responder.
func (n *NIC) connectSend(p Params) {
	s, q, tx, rt := n.WQESched, n.QPC, n.PktTx, n.Retrans
	hdl.Connect(&n.CSR.Push, &s.Fetch.Push, 4)
	hdl.Connect(&q.Activate, &s.Pick.Activate, 8)
	hdl.Connect(&s.Pick.Get, &q.Get, slice)
	hdl.Connect(&q.Ctx, &s.Fetch.Ctx, p.Sched.CtxDepth())
	hdl.Connect(&s.Exec.ReadPost, &q.ReadPost, slice)
	hdl.Connect(&s.Exec.Put, &q.Put, slice)
	hdl.Connect(&q.StaleSQ, &s.Fetch.Stale, slice)
	n.reads(port.ReadSQ, &s.Fetch.Read, &s.Fetch.Data, slice)
	hdl.Connect(&n.Admin.PurgeTx, &s.Pick.Purge, slice)

	hdl.Connect(&s.Exec.Pkt, &tx.Ask.Req, 4)
	hdl.Connect(&s.Exec.Piece, &tx.Translate.ReqPiece, 4)
	hdl.Connect(&n.Responder.Pkt, &tx.Ask.Resp, 4)
	hdl.Connect(&n.Responder.Piece, &tx.Translate.RespPiece, 4)
	hdl.Connect(&n.Responder.Done, &q.RespDone, slice)
	hdl.Connect(&tx.Ask.HdrReq, &q.TxReq, slice)
	hdl.Connect(&q.TxHdr, &tx.Ask.Hdr, slice)
	hdl.Connect(&tx.Send.Fault, &q.TxFault, slice)
	hdl.Connect(&q.Stale, &tx.Send.Stale, slice)
	hdl.Connect(&tx.Send.Left, &rt.Clock.Left, slice)
	hdl.Connect(&tx.Send.RespFault, &n.AckGen.Issue.RespFault, max(p.Tx.RespFaultDepth(), p.AckGen.RespFaultDepth()))
	hdl.Connect(&tx.Translate.Mpt, &n.MPT.Tx, slice)
	hdl.Connect(&n.MPT.TxRes, &tx.Load.MptRes, pkttx.MptDepth)
	n.reads(port.ReadTx, &tx.Load.Read, &tx.Buffer.Data, slice)
	hdl.Connect(&tx.Buffer.Fenced, &n.MPT.TxFenced, slice)
	hdl.Connect(&tx.Seal.Eth, n.Mac.TxIn(), slice)
	hdl.Connect(&tx.Send.Purge, &rt.Purge, slice)

	hdl.Connect(&s.Exec.Sent, &rt.Sent, 4)
	hdl.Connect(&rt.Free, &s.Pick.Free, 4)
	hdl.Connect(&q.Event, &rt.Event, slice)
	hdl.Connect(&rt.Retire, &q.Retire, slice)
	hdl.Connect(&rt.CQE, &n.CQWriter.Send, 4)
}

// connectReceive wires the responder: wire to memory, CQE and acknowledgement.
func (n *NIC) connectReceive(p Params) {
	rx, a, q, sc, f := n.PktRx, n.AckGen, n.QPC, n.Scatter, n.RQFetch
	hdl.Connect(n.Mac.RxOut(), &rx.Eth, slice)
	hdl.Connect(&rx.Pkt, &a.Issue.Pkt, pktrx.PktDepth)
	hdl.Connect(&a.Issue.Op, &q.Rx, slice)
	hdl.Connect(&q.Verdict, &a.Judge.Verdict, p.AckGen.VerdictDepth())
	hdl.Connect(&q.QPErr, &a.FlushList.QPErr, slice)
	hdl.Connect(&n.Admin.PurgeRx, &a.Issue.Purge, slice)
	hdl.Connect(&a.Reply.Resp, &n.Responder.Jobs, 4)

	hdl.Connect(&a.Judge.Place, &sc.Front.Place, 8)
	hdl.Connect(&sc.Finish.Placed, &a.Reply.Placed, 4)
	hdl.Connect(&sc.Finish.Event, &n.Retrans.Ack, 8)
	hdl.Connect(&sc.Front.RQGet, &f.Lookup.Get, 4)
	hdl.Connect(&n.WQESched.Exec.Ahead, &f.Lookup.Ahead, 4)
	hdl.Connect(&f.Store.WQE, &sc.Split.RQWQE, 4)
	n.reads(port.ReadRQ, &f.Lookup.Read, &f.Store.Data, slice)
	hdl.Connect(&sc.Split.Mpt, &n.MPT.Rx, slice)
	hdl.Connect(&n.MPT.RxRes, &sc.Collect.MptRes, p.Scatter.MptDepth())
	hdl.Connect(&sc.Finish.Fenced, &n.MPT.RxFenced, slice)
	hdl.Connect(&n.MPT.KeyEnded, &sc.Finish.KeyEnded, slice)
	hdl.Connect(&sc.Mover.Read, &rx.Read, slice)
	hdl.Connect(&rx.Data, &sc.Forward.Data, slice)
	hdl.Connect(&sc.Forward.Free, &rx.Free, slice)
	n.writes(port.WriteRx, &sc.Mover.Write, &sc.Forward.WriteData, &sc.Finish.WriteDone)
	hdl.Connect(&sc.Finish.CQE, &n.CQWriter.Recv, 4)

	at := n.Atomic
	hdl.Connect(&sc.Finish.Atomic, &at.Req, slice)
	hdl.Connect(&at.Done, &sc.Collect.AtomicDone, slice)
	hdl.Connect(&at.Res, &n.Responder.AtomicRes, slice)
	n.reads(port.ReadAtomic, &at.Read, &at.Data, slice)
	n.writes(port.WriteAtomic, &at.Write, &at.WriteData, &at.WriteDone)
}

// connectLevels wires what is not a stream: register values and counters.
func (n *NIC) connectLevels() {
	c := n.CSR
	hdl.Wire(&c.AdminReg, &n.Admin.Reg)
	hdl.Wire(&c.GIDs, &n.QPC.GIDs)
	hdl.Wire(&c.PortReg, &n.QPC.PortReg, &n.PktTx.Send.PortReg, &n.PktRx.PortReg, &n.Mac.Loop.PortReg)
	hdl.Wire(&n.PktRx.Stats, &c.Taps.Rx)
	hdl.Wire(&n.PktTx.Seal.Stats, &c.Taps.Tx)
	hdl.Wire(&n.AckGen.Judge.Stats, &c.Taps.Resp)
	hdl.Wire(&n.WQESched.Fetch.Stats, &c.Taps.Sched)
	hdl.Wire(&n.QPC.Stats, &c.Taps.QP)
	hdl.Wire(&n.CQWriter.Stats, &c.Taps.CQ)
	hdl.Wire(&n.Dma.Tx.Stats, &c.Taps.Dma)
	hdl.Wire(&n.Admin.Stats, &c.Taps.Admin)
	hdl.Wire(&n.Mac.Receive.Losses, &c.Taps.Loop)
}
