package mpt

import (
	"encoding/binary"

	"rnic/abi"
	"rnic/rtl/port"
)

type adminState uint8

const (
	adminIdle  adminState = iota
	adminKey              // the key table's entry is being read
	adminPages            // wait for page addresses
	adminWrite            // hold look-ups back for a cycle
	adminStore            // write one address
	adminReply
)

// Width is 3 bits.
func (adminState) Width() int { return 3 }

func (s adminState) String() string {
	names := [...]string{"IDLE", "KEY", "PAGES", "WRITE", "STORE", "REPLY", "RESERVED", "RESERVED"}
	return names[s&7]
}

type adminRegs struct {
	State  adminState
	Op     port.MRAdmin
	Page   uint32 // addresses taken so far
	Status abi.AdminStatus
	Syn    abi.AdminSyndrome
}

// admin executes one registration or deregistration at a time.
func (m *MPT) admin() {
	q, d := &m.Q.Admin, &m.D.Admin
	switch q.State {
	case adminIdle:
		look := m.Q.Look.Valid && m.Q.Look.Req.Invalidate || m.D.Look.Valid && m.D.Look.Req.Invalidate
		if m.Admin.Valid() && !look {
			*d = adminRegs{State: adminKey, Op: *m.Admin.Take()}
			if int(d.Op.Index) < m.KeyTable.Depth() {
				m.KeyTable.Read(1, int(d.Op.Index))
			}
		}
	case adminKey:
		m.adminKey()
	case adminPages:
		switch {
		case q.Page == q.Op.MR.NumPages:
			m.adminValid()
			d.State = adminReply
		case m.Pages.Valid():
			d.State = adminWrite
		}
	case adminWrite:
		d.State = adminStore
	case adminStore:
		m.adminStore()
	case adminReply:
		if m.AdminRes.Ready() {
			m.AdminRes.Put(port.MRAdminRes{Status: q.Status, Syndrome: uint8(q.Syn)})
			d.State = adminIdle
		}
	}
}

// adminKey judges the operation by what the key table holds.
func (m *MPT) adminKey() {
	q, d := &m.Q.Admin, &m.D.Admin
	inRange := int(q.Op.Index) < m.KeyTable.Depth()
	used := inRange && m.KeyTable.Data(1).Used
	if q.Op.Dereg {
		d.State = adminReply
		if !used {
			d.Status, d.Syn = abi.AdminBadObject, abi.SynObject
			return
		}
		m.KeyTable.Write(1, int(q.Op.Index), &entry{})
		return
	}
	d.State = adminPages
	switch {
	case !inRange:
		d.Status, d.Syn = abi.AdminBadObject, abi.SynObject
	case used:
		d.Status, d.Syn = abi.AdminExists, abi.SynObject
	default:
		d.Status, d.Syn = validate(&q.Op.MR, m.PageTable.Depth())
	}
}

// adminStore writes one address of the beat at the head of Pages. An address
// that is not aligned spoils the registration, but not the count of beats.
func (m *MPT) adminStore() {
	q, d := &m.Q.Admin, &m.D.Admin
	lane := q.Page % 8
	addr := binary.LittleEndian.Uint64(m.Pages.Head().Data[8*lane:])
	if q.Status == abi.AdminOK {
		if addr&(1<<q.Op.MR.LogPageSize-1) != 0 {
			d.Status, d.Syn = abi.AdminBadParam, abi.SynPageList
		} else {
			a := port.BusAddr(addr)
			m.PageTable.Write(1, int(q.Op.MR.FirstPage+q.Page), &a)
		}
	}
	d.Page = q.Page + 1
	if lane == 7 || d.Page == q.Op.MR.NumPages {
		m.Pages.Take()
	}
	d.State = adminPages
}

// adminValid makes a region known whose pages are all written.
func (m *MPT) adminValid() {
	q := &m.Q.Admin
	if q.Status != abi.AdminOK {
		return
	}
	mr := &q.Op.MR
	m.KeyTable.Write(1, int(q.Op.Index), &entry{
		Used: true, Valid: true, Low: mr.KeyLow, PD: port.PD(mr.PD), Access: mr.Access, LogPage: mr.LogPageSize,
		First: mr.FirstPage, Addr: port.VA(mr.Addr), Length: mr.Length,
	})
}
