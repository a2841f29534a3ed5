package driver_test

import (
	"rnic/abi"
)

// run has the next WQE of a QP executed, if it may be.
func (d *device) run(q *fakeQP) {
	if d.hold || q.running || q.exec == q.sqPI || q.State != abi.QPRTS && q.State != abi.QPErr {
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
		int(c.Units) != abi.WQEUnits(int(c.NumSGE), int(c.InlineLen)) || int(c.Units) > int(q.sqPI-q.exec) {
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
	case q.State == abi.QPErr:
		e.Status, e.VendorErr = abi.StatusWRFlush, abi.VendorFlush
	case c.Op != abi.OpNop:
		e.Status, e.ByteLen = d.message(q, &c, b[:], raw)
	}
	if e.Status != abi.StatusSuccess {
		q.State = abi.QPErr
	}
	if c.Flags&abi.WQESignalled != 0 || e.Status != abi.StatusSuccess {
		d.cqe(q.SendCQN, e, false)
	}
	d.flush(q)
}

// peer is the QP that takes a request, if it answers at all.
func (d *device) peer(q *fakeQP) *fakeQP {
	p := d.qps[q.DestQPN]
	if p == nil || p.State != abi.QPRTR && p.State != abi.QPRTS || p.DestQPN != q.num {
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
	case p == nil:
		return abi.StatusRetryExc, 0
	case p.rqCI == p.rqPI:
		return abi.StatusRNRRetryExc, 0
	}
	e := abi.CQE{Index: p.rqCI, QPN: p.num, SrcQPN: q.num, Opcode: abi.WCRecv, ByteLen: uint32(len(data)), Imm: c.Imm}
	e.Status = d.receive(p, data)
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
	p.rqCI++
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
func (d *device) receive(q *fakeQP, data []byte) abi.WCStatus {
	b := make([]byte, 1<<q.RQLogStride)
	d.m.read(q.RQBase+uint64(abi.RingSlot(q.rqCI, q.RQLogEntries))<<q.RQLogStride, b)
	var c abi.RWQEControl
	_ = abi.RWQEControlLayout.Decode(b, &c)
	if c.Index != q.rqCI || c.NumSGE > q.RQMaxSGE {
		d.m.fault("receive WQE %+v of QP %d at %d", c, q.num, q.rqCI)
	}
	for i := 0; i < int(c.NumSGE) && len(data) > 0; i++ {
		var s abi.SGE
		_ = abi.SGELayout.Decode(b[abi.RWQEDataOffset+i*abi.SGESize:], &s)
		at, status := d.bytes(q, s, abi.AccessLocalWrite)
		if status != abi.StatusSuccess {
			return status
		}
		for j := 0; j < len(at) && len(data) > 0; j++ {
			d.m.write(at[j], data[:1])
			data = data[1:]
		}
	}
	if len(data) > 0 {
		return abi.StatusLocLen
	}
	return abi.StatusSuccess
}

// flush ends the receives of a QP in ERR.
func (d *device) flush(q *fakeQP) {
	for q.State == abi.QPErr && q.rqCI != q.rqPI {
		d.cqe(q.RecvCQN, abi.CQE{Index: q.rqCI, QPN: q.num, Opcode: abi.WCRecv, Status: abi.StatusWRFlush, VendorErr: abi.VendorFlush}, true)
		q.rqCI++
	}
}

// bytes are those that an SGE names, by bus address; status tells what is wrong.
func (d *device) bytes(q *fakeQP, s abi.SGE, access abi.AccessFlags) (at []uint64, status abi.WCStatus) {
	if s.Length == 0 {
		return nil, abi.StatusSuccess
	}
	r := d.mrs[s.LKey.Index()]
	if r == nil || r.invalid || r.KeyLow != s.LKey.Low() || r.PD != q.PD || access&^r.Access != 0 ||
		s.Addr < r.Addr || s.Addr+uint64(s.Length) > r.Addr+r.Length {
		return nil, abi.StatusLocProt
	}
	size := uint64(1) << r.LogPageSize
	for i := range uint64(s.Length) {
		off := r.Addr%size + s.Addr - r.Addr + i
		a := r.pages[off/size] + off%size
		if !d.m.pages[a&^4095] && !d.m.inDMA(a) {
			d.m.fault("access to %#x, which nobody has", a)
		}
		at = append(at, a)
	}
	return at, abi.StatusSuccess
}

func (m *machine) inDMA(a uint64) bool {
	for base, n := range m.dma {
		if a >= base && a < base+uint64(n) {
			return true
		}
	}
	return false
}
