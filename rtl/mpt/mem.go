package mpt

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// beginMem takes a memory operation and reads its key.
func (m *MPT) beginMem() {
	d := &m.D.Key
	d.Op = *m.Mem.Take()
	m.read(uint32(d.Op.Key >> 8))
	switch d.Op.Op {
	case abi.OpBindMW:
		d.State = keyWindow
	case abi.OpFastReg:
		d.State = keyRoom
	default:
		d.State = keyInv
	}
}

// changed ends a memory operation that took something from a key that was good. It is
// answered when nobody uses what it took any more.
func (m *MPT) changed() {
	m.fence(port.FenceMem)
	m.D.Fence.Mem = true
}

// reply ends a memory operation at once. Refused, it has changed nothing.
func (m *MPT) reply(ok bool) {
	res := port.MemRes{}
	if !ok {
		res = port.MemRes{Status: abi.StatusMWBind, Vendor: abi.VendorBind}
		if m.Q.Key.Op.Op == abi.OpLocalInv {
			res.Vendor = abi.VendorInvalidate
		}
		m.D.Key.State = keyIdle
	}
	m.MemRes.Put(res)
}

// bindWindow judges the window. One of type 1 that is to have no bytes is unbound, what
// it was before.
func (m *MPT) bindWindow() {
	q, d := &m.Q.Key, &m.D.Key
	op := &q.Op
	w := m.found(uint32(op.Key >> 8))
	if !mayBind(&w, op) {
		m.reply(false)
		return
	}
	if op.Length == 0 {
		m.end(uint32(op.Key>>8), &w)
		if w.Valid {
			m.changed()
		} else {
			m.reply(true)
		}
		return
	}
	d.New, d.Was = w, w.Valid
	m.read(uint32(op.Region >> 8))
	d.State = keyRegion
}

// bindRegion judges the region and counts the window there.
func (m *MPT) bindRegion() {
	q, d := &m.Q.Key, &m.D.Key
	index := uint32(q.Op.Region >> 8)
	r := m.found(index)
	if !maySee(&r, &q.Op) {
		m.reply(false)
		return
	}
	d.New = view(&q.New, &r, &q.Op)
	d.New.Region = index
	d.Region, d.Drop = q.New.Region, q.New.Valid && q.New.Region != index
	if !q.New.Valid || d.Drop {
		r.Bound++
		m.KeyTable.Write(1, int(index), &r)
	}
	d.State = keyBind
}

// bind makes the window what it is from now on.
func (m *MPT) bind() {
	q, d := &m.Q.Key, &m.D.Key
	m.KeyTable.Write(1, int(q.Op.Key>>8), &q.New)
	d.State = keyIdle
	if q.Drop {
		d.State = keyCount
	}
	if q.New.Kind == abi.KeyWindow2 {
		m.D.Bound++
	}
	if q.Was {
		m.changed()
	} else {
		m.reply(true)
	}
}

// localInv makes a key invalid.
func (m *MPT) localInv() {
	op := &m.Q.Key.Op
	e := m.found(uint32(op.Key >> 8))
	r := port.MptReq{QPN: op.QPN, Key: op.Key, PD: op.PD, Invalidate: true}
	if check(&e, &r) != port.MptOK {
		m.reply(false)
		return
	}
	m.end(uint32(op.Key>>8), &e)
	m.changed()
}

// room judges a FAST_REG, but for its pages, which it takes in any case.
func (m *MPT) room() {
	q, d := &m.Q.Key, &m.D.Key
	e := m.found(uint32(q.Op.Key >> 8))
	ok := mayFill(&e, &q.Op)
	d.New = filled(&e, &q.Op)
	d.State = keyFill
	m.D.Fill[fillMem] = newFill(e.First, uint32(q.Op.NumPages), q.Op.LogPage, ok)
}

// fastReg makes the region valid whose pages are all written.
func (m *MPT) fastReg() {
	q, d := &m.Q.Key, &m.D.Key
	f := &m.Q.Fill[fillMem]
	if f.Busy {
		return
	}
	d.State = keyIdle
	if !f.Bad {
		m.KeyTable.Write(1, int(q.Op.Key>>8), &q.New)
	}
	m.reply(!f.Bad)
}
