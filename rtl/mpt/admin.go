package mpt

import (
	"rnic/abi"
	"rnic/rtl/port"
)

type adminState uint8

const (
	adminIdle  adminState = iota
	adminKey              // the key table's entry is being read
	adminPages            // pages are taken
	adminValid            // the key is to be written
	adminScan             // the windows of a QP are looked for
	adminFence            // a key has ended: what was translated before is waited for
	adminReply
)

// Width is 3 bits.
func (adminState) Width() int { return 3 }

func (s adminState) String() string {
	names := [...]string{"IDLE", "KEY", "PAGES", "VALID", "SCAN", "FENCE", "REPLY", "RESERVED"}
	return names[s&7]
}

type adminRegs struct {
	State  adminState
	Op     port.MRAdmin
	Status abi.AdminStatus
	Syn    abi.AdminSyndrome
	Ended  bool // SCAN: a window was found
}

// admin executes one operation of the driver at a time: here what is no change of keys.
func (m *MPT) admin() {
	q, d := &m.Q.Admin, &m.D.Admin
	switch q.State {
	case adminPages:
		f := &m.Q.Fill[fillAdmin]
		switch {
		case f.Busy:
		case q.Status == abi.AdminOK && f.Bad:
			d.State, d.Status, d.Syn = adminReply, abi.AdminBadParam, abi.SynPageList
		case f.Bad:
			d.State = adminReply
		default:
			d.State = adminValid
		}
	case adminReply:
		if m.AdminRes.Ready() {
			m.AdminRes.Put(port.MRAdminRes{Status: q.Status, Syndrome: uint8(q.Syn)})
			d.State = adminIdle
		}
	}
}

// wantsAdmin tells whether the driver's operation wants to go on with the key table.
func (m *MPT) wantsAdmin() bool {
	switch m.Q.Admin.State {
	case adminIdle:
		return m.Admin.Valid()
	case adminValid, adminScan:
		return true
	}
	return false
}

// beginAdmin goes on with it.
func (m *MPT) beginAdmin() {
	q, d := &m.Q.Admin, &m.D.Admin
	switch q.State {
	case adminIdle:
		*d = adminRegs{State: adminKey, Op: *m.Admin.Take()}
		if d.Op.EndQP {
			d.State, m.D.Key.ScanNext = adminScan, 0
			m.scanOn(0, m.Q.Bound)
			return
		}
		m.read(d.Op.Index)
		m.D.Key.State = keyAdmin
	case adminValid:
		e := registered(&q.Op.MR)
		m.KeyTable.Write(1, int(q.Op.Index), &e)
		d.State = adminReply
	case adminScan:
		m.scanOn(m.Q.Key.ScanNext, m.Q.Bound)
	}
}

// adminKey judges the operation by what the key table holds.
func (m *MPT) adminKey() {
	q, d := &m.Q.Admin, &m.D.Admin
	m.D.Key.State = keyIdle
	e := m.found(q.Op.Index)
	if q.Op.Dereg {
		d.State = adminReply
		switch {
		case !e.Used:
			d.Status, d.Syn = abi.AdminBadObject, abi.SynObject
		case e.Bound != 0:
			d.Status = abi.AdminBusy
		default:
			m.KeyTable.Write(1, int(q.Op.Index), &entry{})
			m.waitAdmin()
			if e.window() && e.Valid {
				m.unbound(&e)
			}
		}
		return
	}
	switch {
	case int(q.Op.Index) >= m.KeyTable.Depth():
		d.Status, d.Syn = abi.AdminBadObject, abi.SynObject
	case e.Used:
		d.Status, d.Syn = abi.AdminExists, abi.SynObject
	default:
		d.Status, d.Syn = validate(&q.Op.MR, m.PageTable.Depth())
	}
	mr := &q.Op.MR
	num := mr.NumPages
	if mr.Kind != abi.KeyRegion {
		num = 0
	}
	m.D.Fill[fillAdmin] = newFill(mr.FirstPage, num, mr.LogPageSize, d.Status == abi.AdminOK)
	d.State = adminPages
}

// scanOn reads the key that is next, unless there is none or no window is left.
func (m *MPT) scanOn(next, bound uint32) {
	if bound == 0 || int(next) == m.KeyTable.Depth() {
		m.D.Admin.State, m.D.Key.State = adminReply, keyIdle
		if m.Q.Admin.Ended {
			m.waitAdmin()
		}
		return
	}
	m.D.Key.ScanNext = next
	m.D.Key.State = keyScan
	m.KeyTable.Read(1, int(next))
}

// scan unbinds the key that was read if it is a window of the QP, and goes on, or makes
// way if there is something else to do.
func (m *MPT) scan() {
	at := m.Q.Key.ScanNext
	e := m.KeyTable.Data(1)
	switch {
	case e.Kind == abi.KeyWindow2 && e.Valid && e.QPN == m.Q.Admin.Op.QPN:
		m.end(at, e)
		m.D.Key.ScanNext, m.D.Admin.Ended = at+1, true
	case m.wantsMem() || m.invalidateWaits():
		m.D.Key.State, m.D.Key.ScanNext = keyIdle, at+1
	default:
		m.scanOn(at+1, m.Q.Bound)
	}
}

// invalidateWaits tells whether a look-up with Invalidate is next.
func (m *MPT) invalidateWaits() bool {
	return m.Rx.Valid() && m.Rx.Head().Invalidate || m.Tx.Valid() && m.Tx.Head().Invalidate
}
