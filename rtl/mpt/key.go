package mpt

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// keyState is what a change does with port 1 of the key table. But for IDLE and COUNT
// the port has read the key that the state is about.
type keyState uint8

const (
	keyIdle   keyState = iota
	keyAdmin           // a registration or deregistration judges
	keyScan            // end of a QP: one key after the other
	keyWindow          // BIND_MW judges the window
	keyRegion          // BIND_MW judges the region, and counts the window there
	keyBind            // BIND_MW writes the window
	keyInv             // LOCAL_INV
	keyRoom            // FAST_REG judges the room
	keyFill            // FAST_REG waits for its pages, and writes the region
	keyCount           // the region that loses a window is read
	keyLess            // and written
)

// Width is 4 bits.
func (keyState) Width() int { return 4 }

func (s keyState) String() string {
	names := [...]string{"IDLE", "ADMIN", "SCAN", "WINDOW", "REGION", "BIND", "INV", "ROOM", "FILL", "COUNT", "LESS"}
	if int(s) < len(names) {
		return names[s]
	}
	return "RESERVED"
}

type keyRegs struct {
	State    keyState
	InvLast  bool // the last change was a look-up with Invalidate: others are first
	MemLast  bool // the last of the others was of Mem: Admin is first
	Op       port.MemOp
	New      entry  // what BIND_MW or FAST_REG will write
	Was      bool   // BIND_MW: the window was bound
	Drop     bool   // BIND_MW: the window leaves another region
	Region   uint32 // the region that loses a window
	ScanNext uint32 // end of a QP: the key that is next
}

// key makes one change at a time.
func (m *MPT) key() {
	switch m.Q.Key.State {
	case keyIdle:
		m.next()
	case keyAdmin:
		m.adminKey()
	case keyScan:
		m.scan()
	case keyWindow:
		m.bindWindow()
	case keyRegion:
		m.bindRegion()
	case keyBind:
		m.bind()
	case keyInv:
		m.localInv()
	case keyRoom:
		m.room()
	case keyFill:
		m.fastReg()
	case keyCount:
		m.KeyTable.Read(1, int(m.Q.Key.Region))
		m.D.Key.State = keyLess
	case keyLess:
		e := *m.KeyTable.Data(1)
		e.Bound--
		m.KeyTable.Write(1, int(m.Q.Key.Region), &e)
		m.D.Key.State = keyIdle
	}
}

// next begins a change, but not behind an invalidation that has still to write.
func (m *MPT) next() {
	q, d := &m.Q.Key, &m.D.Key
	if m.Q.Look.invalidating() || m.D.Look.invalidating() {
		return
	}
	mem, admin := m.wantsMem(), m.wantsAdmin()
	switch {
	case mem && !(admin && q.MemLast):
		m.beginMem()
		d.MemLast = true
	case admin:
		m.beginAdmin()
		d.MemLast = false
	default:
		return
	}
	d.InvLast = false
}

// wantsMem tells whether there is a memory operation, with room for its answer, and none
// before it that waits for its fence.
func (m *MPT) wantsMem() bool { return m.Mem.Valid() && m.MemRes.Ready() && !m.Q.Fence.Mem }

// mayInvalidate tells whether a look-up with Invalidate may be picked. The marker of the
// one before it has had its place; but no fence is waited for.
func (m *MPT) mayInvalidate() bool {
	q := &m.Q.Key
	return q.State == keyIdle && !m.Q.Look.invalidating() && m.Q.Fence.Tx&port.FenceInv == 0 &&
		!(q.InvLast && (m.wantsMem() || m.wantsAdmin()))
}

// end makes a key invalid that is registered still. The region of a window has one less.
func (m *MPT) end(index uint32, e *entry) {
	gone := *e
	gone.Valid = false
	m.KeyTable.Write(1, int(index), &gone)
	m.D.Key.State = keyIdle
	if e.window() && e.Valid {
		m.unbound(e)
	}
}

// unbound counts a window that is bound no more.
func (m *MPT) unbound(e *entry) {
	m.D.Key.State, m.D.Key.Region = keyCount, e.Region
	if e.Kind == abi.KeyWindow2 {
		m.D.Bound--
	}
}

// read asks port 1 for a key.
func (m *MPT) read(index uint32) {
	if int(index) < m.KeyTable.Depth() {
		m.KeyTable.Read(1, int(index))
	}
}

// found is the key that port 1 has read; beyond the table there is none.
func (m *MPT) found(index uint32) entry {
	if int(index) < m.KeyTable.Depth() {
		return *m.KeyTable.Data(1)
	}
	return entry{}
}
