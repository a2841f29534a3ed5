package mpt

import "rnic/rtl/port"

// fenceRegs are the fences that are under way.
type fenceRegs struct {
	Tx, Rx         port.Fence // markers that wait for their place among the look-ups
	TxOpen, RxOpen port.Fence // who waits for that client's marker to come back
	Mem            bool       // a memory operation is done but for that
}

// fence begins to wait for all that was translated before this cycle. SEND with invalidate
// waits for reads alone: scatter itself completes it behind all that it wrote. Its marker
// may not be the only one under way; who it is for is not kept here, but comes back.
func (m *MPT) fence(who port.Fence) {
	d := &m.D.Fence
	d.Tx |= who
	if who == port.FenceInv {
		return
	}
	d.Rx |= who
	d.TxOpen |= who
	d.RxOpen |= who
}

// mark has a marker take the place of a look-up, and tells whether one has. Those picked
// before it saw the old key, or were none of its business.
func (m *MPT) mark(tx, rx bool) bool {
	q, d := &m.Q.Fence, &m.D.Fence
	switch {
	case q.Tx != 0 && tx:
		d.Tx &^= q.Tx
		m.D.Look = lookup{Valid: true, Fence: q.Tx}
	case q.Rx != 0 && rx:
		d.Rx &^= q.Rx
		m.D.Look = lookup{Valid: true, RX: true, Fence: q.Rx}
	default:
		return false
	}
	return true
}

// fenced takes markers that come back, and answers who has none left to wait for.
func (m *MPT) fenced() {
	q, d := &m.Q.Fence, &m.D.Fence
	if m.TxFenced.Valid() {
		f := *m.TxFenced.Head()
		inv := f&port.FenceInv != 0
		if !inv || m.KeyEnded.Ready() {
			m.TxFenced.Take()
			d.TxOpen &^= f
		}
		if inv && m.KeyEnded.Ready() {
			m.KeyEnded.Put(port.KeyEnded{})
		}
	}
	if m.RxFenced.Valid() {
		d.RxOpen &^= *m.RxFenced.Take()
	}
	open := d.TxOpen | d.RxOpen
	if q.Mem && open&port.FenceMem == 0 {
		d.Mem = false
		m.MemRes.Put(port.MemRes{})
	}
	if m.Q.Admin.State == adminFence && open&port.FenceAdmin == 0 {
		m.D.Admin.State = adminReply
	}
}

// waitAdmin has an operation of the driver wait.
func (m *MPT) waitAdmin() {
	m.fence(port.FenceAdmin)
	m.D.Admin.State = adminFence
}
