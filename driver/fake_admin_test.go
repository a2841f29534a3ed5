package driver_test

import (
	"encoding/binary"

	"rnic/abi"
)

// command executes the next command of the admin ring.
func (d *device) command() {
	d.busy = false
	if !d.status.AdminEnabled {
		return
	}
	reg := func(off int) uint64 { return uint64(d.reg[off/4]) | uint64(d.reg[off/4+1])<<32 }
	log := uint8(d.reg[abi.RegAdminLogSize/4])
	slot := uint64(abi.RingSlot(d.ci, log))
	var b [abi.AdminCommandSize]byte
	d.m.read(reg(abi.RegAdminSQBaseLo)+slot*abi.AdminCommandSize, b[:])
	var c abi.AdminCommand
	_ = abi.AdminCommandLayout.Decode(b[:], &c)
	if c.Mailbox%abi.MailboxSize != 0 {
		d.m.fault("mailbox at %#x", c.Mailbox)
	}
	end := abi.AdminCompletion{ID: c.ID, Object: c.Object, Phase: abi.RingPhase(d.ci, log)}
	if d.refuse != nil {
		end.Status, end.Syndrome = d.refuse(&c)
	}
	if end.Status == abi.AdminOK {
		end.Status, end.Syndrome = d.execute(&c)
		if c.Op == abi.AdminResizeCQ {
			end.Result = uint64(d.cqs[c.Object].origin)
		}
	}
	if d.twist != nil {
		d.twist(&end)
	}
	var e [abi.AdminCompletionSize]byte
	abi.AdminCompletionLayout.Encode(&end, e[:])
	d.m.write(reg(abi.RegAdminCQBaseLo)+slot*abi.AdminCompletionSize, e[:])
	d.ci++
	if v := abi.RegFields(abi.AdminVectorLayout, d.reg[abi.RegAdminVector/4]); v.Enable {
		d.raise(v.Vector)
	}
	d.nextCommand()
}

func box[T any](d *device, c *abi.AdminCommand, decode func([]byte, *T) error) (v T) {
	var b [abi.MailboxSize]byte
	d.m.read(c.Mailbox, b[:])
	_ = decode(b[:], &v)
	return v
}

func answer[T any](d *device, c *abi.AdminCommand, encode func(*T, []byte), v *T) {
	var b [abi.MailboxSize]byte
	encode(v, b[:])
	d.m.write(c.Mailbox, b[:])
}

func (d *device) execute(c *abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) {
	switch c.Op {
	case abi.AdminQueryDevice:
		answer(d, c, abi.DeviceMailboxLayout.Encode, &d.limit)
	case abi.AdminCreateEQ, abi.AdminDestroyEQ, abi.AdminCreateCQ, abi.AdminModifyCQ, abi.AdminResizeCQ, abi.AdminDestroyCQ:
		return d.queueCommand(c), 0
	case abi.AdminRegMR, abi.AdminDeregMR:
		return d.region(c)
	case abi.AdminCreateAH, abi.AdminDestroyAH:
		return d.addressHandle(c)
	case abi.AdminCreateSRQ, abi.AdminModifySRQ, abi.AdminQuerySRQ, abi.AdminDestroySRQ:
		return d.sharedQueue(c)
	case abi.AdminNop:
	default:
		return d.queuePair(c)
	}
	return abi.AdminOK, 0
}

// holds tells whether size bytes at base are a DMA allocation.
func (d *device) holds(base uint64, size int) bool { return base%64 == 0 && d.m.dma[base] >= size }

func (d *device) queueCommand(c *abi.AdminCommand) abi.AdminStatus {
	eq, cq := d.eqs[c.Object], d.cqs[c.Object]
	switch c.Op {
	case abi.AdminCreateEQ:
		b := box(d, c, abi.EQMailboxLayout.Decode)
		if eq != nil || !d.holds(b.Base, abi.EventSize<<b.LogSize) {
			d.m.fault("event queue %d: %+v", c.Object, b)
		}
		d.eqs[c.Object] = &fakeEQ{EQMailbox: b}
	case abi.AdminDestroyEQ:
		switch {
		case eq == nil:
			return abi.AdminBadObject
		case eq.cqs != 0:
			return abi.AdminBusy
		}
		delete(d.eqs, c.Object)
	case abi.AdminCreateCQ:
		b := box(d, c, abi.CQMailboxLayout.Decode)
		if cq != nil || d.eqs[uint32(b.EQN)] == nil || !d.holds(b.Base, abi.CQESize<<b.LogSize) {
			d.m.fault("completion queue %d: %+v", c.Object, b)
		}
		d.cqs[c.Object] = &fakeCQ{CQMailbox: b}
		d.eqs[uint32(b.EQN)].cqs++
	case abi.AdminModifyCQ:
		b := box(d, c, abi.CQMailboxLayout.Decode)
		cq.Count, cq.Period = b.Count, b.Period
	case abi.AdminResizeCQ:
		b := box(d, c, abi.CQMailboxLayout.Decode)
		if !d.holds(b.Base, abi.CQESize<<b.LogSize) {
			d.m.fault("completion queue %d: %+v", c.Object, b)
		}
		if b.CI-cq.ci <= cq.pi-cq.ci {
			cq.ci = b.CI
		}
		if cq.pi-cq.ci > 1<<b.LogSize {
			return abi.AdminBadParam
		}
		cq.Base, cq.LogSize, cq.origin = b.Base, b.LogSize, cq.pi
	case abi.AdminDestroyCQ:
		switch {
		case cq == nil:
			return abi.AdminBadObject
		case cq.queues != 0:
			return abi.AdminBusy
		}
		d.eqs[uint32(cq.EQN)].cqs--
		delete(d.cqs, c.Object)
	}
	return abi.AdminOK
}

func (d *device) region(c *abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) {
	old := d.mrs[c.Object]
	if c.Op == abi.AdminDeregMR {
		switch {
		case old == nil:
			return abi.AdminBadObject, abi.SynObject
		case old.windows != 0:
			return abi.AdminBusy, abi.SynObject
		}
		d.unbind(old)
		delete(d.mrs, c.Object)
		return abi.AdminOK, 0
	}
	b := box(d, c, abi.MRMailboxLayout.Decode)
	if old != nil || b.FirstPage+b.NumPages > d.limit.MaxPages {
		d.m.fault("region %d: %+v", c.Object, b)
	}
	for _, o := range d.mrs {
		if b.FirstPage < o.FirstPage+o.NumPages && o.FirstPage < b.FirstPage+b.NumPages {
			d.m.fault("regions that share page entries: %+v, %+v", b, o.MRMailbox)
		}
	}
	if b.Kind != abi.KeyRegion {
		if b.PageList != 0 || b.Addr != 0 || b.Length != 0 || b.Access != 0 || (b.Kind == abi.KeyFastReg) != (b.NumPages != 0) {
			d.m.fault("key %d: %+v", c.Object, b)
		}
		d.mrs[c.Object] = &fakeMR{MRMailbox: b, invalid: true}
		return abi.AdminOK, 0
	}
	size := uint64(1) << b.LogPageSize
	switch {
	case b.Length == 0:
		return abi.AdminBadParam, abi.SynLength
	case d.limit.PageSizes>>b.LogPageSize&1 == 0:
		return abi.AdminBadParam, abi.SynPageSize
	case (b.Addr%size+b.Length+size-1)/size != uint64(b.NumPages):
		return abi.AdminBadParam, abi.SynNumPages
	}
	list := make([]byte, 8*b.NumPages)
	d.m.read(b.PageList, list)
	r := &fakeMR{MRMailbox: b}
	for i := range b.NumPages {
		p := binary.LittleEndian.Uint64(list[8*i:])
		if p%size != 0 {
			return abi.AdminBadParam, abi.SynPageList
		}
		r.pages = append(r.pages, p)
	}
	d.mrs[c.Object] = r
	return abi.AdminOK, 0
}

func (d *device) queuePair(c *abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) {
	q := d.qps[c.Object]
	if c.Op == abi.AdminCreateQP {
		b := box(d, c, abi.QPMailboxLayout.Decode)
		shared := b.Flags&abi.QPHasSRQ != 0
		if q != nil || b.PD == 0 || !d.holds(b.SQBase, abi.UnitSize<<b.SQLogUnits) ||
			!shared && !d.holds(b.RQBase, 1<<(b.RQLogEntries+b.RQLogStride)) || 1<<b.RQLogStride < 16*(1+int(b.RQMaxSGE)) {
			d.m.fault("QP %d: %+v", c.Object, b)
		}
		d.qps[c.Object] = &fakeQP{QPMailbox: b, num: c.Object}
		if shared {
			d.srqs[b.SRQN].qps++
		}
		d.cqs[b.SendCQN].queues++
		d.cqs[b.RecvCQN].queues++
		return abi.AdminOK, 0
	}
	if q == nil {
		return abi.AdminBadObject, abi.SynObject
	}
	switch c.Op {
	case abi.AdminQueryQP:
		q.SQConsumer = q.exec
		answer(d, c, abi.QPMailboxLayout.Encode, &q.QPMailbox)
	case abi.AdminDestroyQP:
		d.cqs[q.SendCQN].queues--
		d.cqs[q.RecvCQN].queues--
		q.State = abi.QPReset
		d.letGo(q)
		d.endWindows(q)
		if s := d.srqOf(q); s != nil {
			s.qps--
		}
		delete(d.qps, c.Object)
	case abi.AdminModifyQP:
		b := box(d, c, abi.QPMailboxLayout.Decode)
		return d.modify(q, &b)
	default:
		return abi.AdminBadOpcode, 0
	}
	return abi.AdminOK, 0
}

func (d *device) modify(q *fakeQP, b *abi.QPMailbox) (abi.AdminStatus, abi.AdminSyndrome) {
	to, has := q.State, func(a abi.QPAttr) bool { return b.AttrMask&a != 0 }
	if has(abi.AttrState) {
		to = b.State
	}
	required, optional, ok := abi.Transition(q.Type, q.State, to)
	missing, extra := required&^b.AttrMask, b.AttrMask&^(required|optional|abi.AttrState)
	switch {
	case !ok:
		return abi.AdminBadState, abi.SynTransition
	case missing != 0:
		return abi.AdminBadParam, missing.Syndrome()
	case extra != 0:
		return abi.AdminBadParam, extra.Syndrome()
	case q.State == abi.QPSQE && to == abi.QPRTS && q.exec != q.sqPI:
		return abi.AdminBusy, abi.SynDraining
	case has(abi.AttrCurState) && b.CurState != q.State:
		return abi.AdminBadParam, abi.SynCurState
	case has(abi.AttrRetryCnt) && b.RetryCnt != 0:
		return abi.AdminNotSupported, abi.SynRetryCnt
	case has(abi.AttrAV) && !d.good(&b.AV):
		return abi.AdminBadParam, abi.SynAV
	}
	if has(abi.AttrAccessFlags) {
		q.AccessFlags, q.Port = b.AccessFlags, 1
	}
	if has(abi.AttrQKey) {
		q.QKey = b.QKey
	}
	if has(abi.AttrDestQPN) {
		q.DestQPN, q.AV, q.PathMTU, q.RQPSN, q.MaxDestRdAtomic, q.MinRNRTimer = b.DestQPN, b.AV, b.PathMTU, b.RQPSN, b.MaxDestRdAtomic, b.MinRNRTimer
	}
	if has(abi.AttrSQPSN) {
		q.SQPSN, q.Timeout, q.MaxRdAtomic = b.SQPSN, b.Timeout, b.MaxRdAtomic
	}
	q.State = to
	if to == abi.QPReset {
		q.sqPI, q.exec, q.rqPI, q.rqCI, q.last = 0, 0, 0, 0, false
		d.letGo(q)
		d.endWindows(q)
	}
	d.run(q)
	d.flush(q)
	return abi.AdminOK, 0
}
