package driver_test

import (
	"rnic/abi"
)

// run has the next WQE of a QP executed, if it may be.
func (d *device) run(q *fakeQP) {
	if d.hold || q.running || q.exec == q.sqPI || q.State != abi.QPRTS && q.State != abi.QPErr && q.State != abi.QPSQE {
		return
	}
	q.running = true
	d.m.after(dmaLatency, func() {
		q.running = false
		if q.exec != q.sqPI && q.State != abi.QPReset {
			d.wqe(q)
		}
		d.run(q)
	})
}

// release lets send queues go on that were held.
func (d *device) release() {
	d.hold = false
	for qpn := range uint32(d.limit.MaxQP) {
		if q := d.qps[qpn]; q != nil {
			d.run(q)
		}
	}
}

func (q *fakeQP) unit(d *device, index uint16) (b [abi.UnitSize]byte) {
	d.m.read(q.SQBase+uint64(abi.RingSlot(index, q.SQLogUnits))*abi.UnitSize, b[:])
	return b
}

// wqe executes the next WQE of a QP.
func (d *device) wqe(q *fakeQP) {
	b := q.unit(d, q.exec)
	var c abi.WQEControl
	_ = abi.WQEControlLayout.Decode(b[:], &c)
	if c.Index != q.exec || c.QPN != q.num || c.NumSGE > q.SQMaxSGE || c.InlineLen > q.SQMaxInline ||
		c.Op != abi.OpFastReg && int(c.Units) != abi.WQEUnits(int(c.NumSGE), int(c.InlineLen)) || int(c.Units) > int(q.sqPI-q.exec) {
		d.m.fault("WQE %+v of QP %d at %d", c, q.num, q.exec)
		c.Units = 1
	}
	raw := append([]byte(nil), b[abi.WQEDataOffset:]...)
	for i := uint16(1); i < uint16(c.Units); i++ {
		u := q.unit(d, q.exec+i)
		raw = append(raw, u[:]...)
	}
	e := abi.CQE{Index: q.exec, QPN: q.num, Opcode: c.Op.WCOpcode()}
	q.exec += uint16(c.Units)
	switch {
	case q.State == abi.QPErr || q.State == abi.QPSQE:
		e.Status, e.VendorErr = abi.StatusWRFlush, abi.VendorFlush
	case c.Op != abi.OpNop:
		e.Status, e.ByteLen = d.message(q, &c, b[:], raw)
	}
	switch {
	case e.Status == abi.StatusSuccess || q.State != abi.QPRTS:
	case q.Type == abi.QPTypeRC:
		q.State = abi.QPErr
	default:
		q.State = abi.QPSQE
	}
	if c.Flags&abi.WQESignalled != 0 || e.Status != abi.StatusSuccess {
		d.cqe(q.SendCQN, e, false)
	}
	d.flush(q)
}

// peer is the QP that takes a request, if it answers at all.
func (d *device) peer(q *fakeQP) *fakeQP {
	p := d.qps[q.DestQPN]
	if p == nil || p.State != abi.QPRTR && p.State != abi.QPRTS || p.DestQPN != q.num || p.Type != q.Type {
		return nil
	}
	return p
}

// send carries a message to the peer.
func (d *device) send(q *fakeQP, c *abi.WQEControl, raw []byte) (status abi.WCStatus, n uint32) {
	data, status := d.gather(q, c, raw)
	if status != abi.StatusSuccess {
		return status, 0
	}
	p := d.peer(q)
	switch {
	case q.Type == abi.QPTypeUC && (p == nil || !d.available(p)):
		return abi.StatusSuccess, uint32(len(data))
	case p == nil:
		return abi.StatusRetryExc, 0
	case !d.available(p):
		return abi.StatusRNRRetryExc, 0
	}
	e := abi.CQE{QPN: p.num, SrcQPN: q.num, Opcode: abi.WCRecv, ByteLen: uint32(len(data)), Imm: c.Imm}
	e.Index, e.Status = d.receive(p, data)
	status = abi.StatusRemInvReq
	switch c.Op {
	case abi.OpSendImm:
		e.Flags = abi.CQEWithImm
	case abi.OpSendInv:
		e.Flags = abi.CQEWithInv
		if !d.invalidate(p, abi.Key(c.Imm)) {
			e.Status, status = abi.StatusMWBind, abi.StatusRetryExc
		}
	}
	d.cqe(p.RecvCQN, e, c.Flags&abi.WQESolicited != 0)
	if e.Status != abi.StatusSuccess {
		d.fail(p)
		return status, 0
	}
	return abi.StatusSuccess, uint32(len(data))
}

// gather is what a WQE sends.
func (d *device) gather(q *fakeQP, c *abi.WQEControl, raw []byte) (data []byte, status abi.WCStatus) {
	if c.Flags&abi.WQEInlined != 0 {
		return raw[:c.InlineLen], abi.StatusSuccess
	}
	at, status := d.elements(q, int(c.NumSGE), raw, 0)
	for _, a := range at {
		var v [1]byte
		d.m.read(a, v[:])
		data = append(data, v[0])
	}
	return data, status
}

// elements are the bytes of a list of SGEs.
func (d *device) elements(q *fakeQP, n int, raw []byte, access abi.AccessFlags) (at []uint64, status abi.WCStatus) {
	for i := range n {
		var s abi.SGE
		_ = abi.SGELayout.Decode(raw[i*abi.SGESize:], &s)
		more, status := d.bytes(q, s, access)
		if status != abi.StatusSuccess {
			return nil, status
		}
		at = append(at, more...)
	}
	return at, abi.StatusSuccess
}

// receive scatters a message over the next receive WQE.
func (d *device) receive(q *fakeQP, data []byte) (uint16, abi.WCStatus) {
	index, sges, n := d.takeRecv(q)
	domain := q.PD
	if s := d.srqOf(q); s != nil {
		domain = s.PD
	}
	for i := 0; i < n && len(data) > 0; i++ {
		var s abi.SGE
		_ = abi.SGELayout.Decode(sges[i*abi.SGESize:], &s)
		at, status := d.bytesOf(domain, q.num, s, abi.AccessLocalWrite)
		if status != abi.StatusSuccess {
			return index, status
		}
		for j := 0; j < len(at) && len(data) > 0; j++ {
			d.m.write(at[j], data[:1])
			data = data[1:]
		}
	}
	if len(data) > 0 {
		return index, abi.StatusLocLen
	}
	return index, abi.StatusSuccess
}

// flush ends the receives of a QP in ERR; of an SRQ only the one that it holds.
func (d *device) flush(q *fakeQP) {
	if q.State != abi.QPErr {
		return
	}
	if d.srqOf(q) != nil {
		d.letGo(q)
		if !q.last {
			q.last = true
			d.event(0, abi.Event{Type: abi.EventQPLastWQEReached, Number: q.num})
		}
		return
	}
	for q.rqCI != q.rqPI {
		d.cqe(q.RecvCQN, abi.CQE{Index: q.rqCI, QPN: q.num, Opcode: abi.WCRecv, Status: abi.StatusWRFlush, VendorErr: abi.VendorFlush}, true)
		q.rqCI++
	}
}

func (m *machine) inDMA(a uint64) bool {
	for base, n := range m.dma {
		if a >= base && a < base+uint64(n) {
			return true
		}
	}
	return false
}
