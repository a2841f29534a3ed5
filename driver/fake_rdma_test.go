package driver_test

import (
	"encoding/binary"

	"rnic/abi"
)

// message executes a WQE that is not a NOP.
func (d *device) message(q *fakeQP, c *abi.WQEControl, unit, raw []byte) (abi.WCStatus, uint32) {
	var w abi.WQEAtomic
	_ = abi.WQEAtomicLayout.Decode(unit, &w)
	switch q.Type {
	case abi.QPTypeUD:
		return d.datagram(q, c, unit, raw)
	case abi.QPTypeRaw:
		return d.rawSend(q, c, raw)
	}
	switch c.Op {
	case abi.OpSend, abi.OpSendImm, abi.OpSendInv:
		return d.send(q, c, raw)
	case abi.OpWrite, abi.OpWriteImm:
		return d.rdmaWrite(q, c, &w.Remote, raw)
	case abi.OpRead:
		return d.rdmaRead(q, c, &w.Remote, raw)
	case abi.OpCompareSwap, abi.OpFetchAdd:
		return d.atomic(q, &w)
	}
	if !d.memory(q, c, unit, raw) {
		return abi.StatusMWBind, 0
	}
	return abi.StatusSuccess, 0
}

// fail ends a QP as responder.
func (d *device) fail(p *fakeQP) {
	p.State = abi.QPErr
	d.event(0, abi.Event{Type: abi.EventQPReqErr, Number: p.num, Syndrome: uint16(abi.VendorRecvTooLong)})
	d.flush(p)
}

// remote is memory of the peer that a request names.
func (d *device) remote(q *fakeQP, r *abi.RemoteSegment, n int, access abi.AccessFlags) (p *fakeQP, at []uint64, status abi.WCStatus) {
	switch p = d.peer(q); {
	case p == nil:
		return nil, nil, abi.StatusRetryExc
	case access&^p.AccessFlags != 0:
		status = abi.StatusRemInvReq
	default:
		at, status = d.bytes(p, abi.SGE{Addr: r.Addr, Length: uint32(n), LKey: r.RKey}, access)
		if status != abi.StatusSuccess {
			status = abi.StatusRemAccess
		}
	}
	if status != abi.StatusSuccess {
		d.fail(p)
	}
	return p, at, status
}

func (d *device) rdmaWrite(q *fakeQP, c *abi.WQEControl, r *abi.RemoteSegment, raw []byte) (abi.WCStatus, uint32) {
	data, status := d.gather(q, c, raw)
	if status != abi.StatusSuccess {
		return status, 0
	}
	p, at, status := d.remote(q, r, len(data), abi.AccessRemoteWrite)
	if status != abi.StatusSuccess {
		return status, 0
	}
	if c.Op == abi.OpWriteImm && !d.available(p) {
		return abi.StatusRNRRetryExc, 0
	}
	for i, a := range at {
		d.m.write(a, data[i:i+1])
	}
	if c.Op == abi.OpWriteImm {
		index, _, _ := d.takeRecv(p)
		d.cqe(p.RecvCQN, abi.CQE{
			Index: index, QPN: p.num, SrcQPN: q.num, Opcode: abi.WCRecvWithImm, ByteLen: uint32(len(data)),
			Imm: c.Imm, Flags: abi.CQEWithImm,
		}, c.Flags&abi.WQESolicited != 0)
	}
	return abi.StatusSuccess, uint32(len(data))
}

func (d *device) rdmaRead(q *fakeQP, c *abi.WQEControl, r *abi.RemoteSegment, raw []byte) (abi.WCStatus, uint32) {
	n := 0
	for i := range int(c.NumSGE) {
		var s abi.SGE
		_ = abi.SGELayout.Decode(raw[i*abi.SGESize:], &s)
		n += int(s.Length)
	}
	if q.MaxRdAtomic == 0 {
		return abi.StatusLocQPOp, 0
	}
	p, from, status := d.remote(q, r, n, abi.AccessRemoteRead)
	switch {
	case status != abi.StatusSuccess:
		return status, 0
	case p.MaxDestRdAtomic == 0:
		d.fail(p)
		return abi.StatusRemInvReq, 0
	}
	to, status := d.elements(q, int(c.NumSGE), raw, abi.AccessLocalWrite)
	for i, a := range to {
		var v [1]byte
		d.m.read(from[i], v[:])
		d.m.write(a, v[:])
	}
	return status, uint32(n)
}

func (d *device) atomic(q *fakeQP, w *abi.WQEAtomic) (abi.WCStatus, uint32) {
	if w.SGE.Length != 8 {
		return abi.StatusLocLen, 0
	}
	p := d.peer(q)
	if p != nil && w.Remote.Addr%8 != 0 {
		d.fail(p)
		return abi.StatusRemInvReq, 0
	}
	_, at, status := d.remote(q, &w.Remote, 8, abi.AccessRemoteAtomic)
	if status != abi.StatusSuccess {
		return status, 0
	}
	var v [8]byte
	d.m.read(at[0], v[:])
	was := binary.LittleEndian.Uint64(v[:])
	now := was + w.Atomic.SwapAdd
	if w.Ctrl.Op == abi.OpCompareSwap {
		if now = was; was == w.Atomic.Compare {
			now = w.Atomic.SwapAdd
		}
	}
	to, status := d.bytes(q, w.SGE, abi.AccessLocalWrite)
	for i, a := range to {
		d.m.write(a, v[i:i+1])
	}
	binary.LittleEndian.PutUint64(v[:], now)
	d.m.write(at[0], v[:])
	return status, 8
}
