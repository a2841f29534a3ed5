package mpt

import "rnic/rtl/port"

// lookup is the stage that waits for the key table.
type lookup struct {
	Valid bool
	RX    bool
	Fence port.Fence // a marker, and no look-up
	Req   port.MptReq
}

// invalidating tells whether the stage is going to write the key table.
func (l *lookup) invalidating() bool { return l.Valid && l.Req.Invalidate }

// translate is the stage that waits for the page table.
type translate struct {
	Valid bool
	RX    bool
	Res   port.MptRes // addresses hold the offsets in their pages so far
}

// pick takes a request if there will be room for its answer. Markers go first.
func (m *MPT) pick() {
	q, d := &m.Q, &m.D
	d.Look.Valid = false
	if d.Store != 0 {
		return // the page table's port 1 is wanted in the next cycle
	}
	var inTx, inRx int
	count(q.Look.Valid, q.Look.RX, &inTx, &inRx)
	count(q.Trans.Valid, q.Trans.RX, &inTx, &inRx)
	tx, rx := m.TxRes.Space() > inTx, m.RxRes.Space() > inRx
	if m.mark(tx, rx) {
		return
	}
	tx = tx && m.Tx.Valid() && (!m.Tx.Head().Invalidate || m.mayInvalidate())
	rx = rx && m.Rx.Valid() && (!m.Rx.Head().Invalidate || m.mayInvalidate())
	switch {
	case rx && (q.RX || !tx):
		d.Look.Req = *m.Rx.Take()
	case tx:
		d.Look.Req = *m.Tx.Take()
		rx = false
	default:
		return
	}
	d.RX = !rx
	d.Look.Valid, d.Look.RX, d.Look.Fence = true, rx, 0
	if i := d.Look.Req.Key >> 8; int(i) < m.KeyTable.Depth() {
		m.KeyTable.Read(0, int(i))
	}
}

func count(valid, rx bool, inTx, inRx *int) {
	switch {
	case valid && rx:
		*inRx++
	case valid:
		*inTx++
	}
}

// translate checks the entry read and asks for its pages.
func (m *MPT) translate() {
	q, d := &m.Q, &m.D
	d.Trans.Valid = q.Look.Valid
	if !q.Look.Valid {
		return
	}
	d.Trans.RX = q.Look.RX
	if q.Look.Fence != 0 {
		d.Trans.Res = port.MptRes{Fence: q.Look.Fence}
		return
	}
	r := &q.Look.Req
	e := m.KeyTable.Data(0)
	d.Trans.Res = port.MptRes{Status: check(e, r)}
	if int(r.Key>>8) >= m.KeyTable.Depth() {
		d.Trans.Res.Status = port.MptBadKey
	}
	if r.Invalidate {
		d.Key.InvLast = true
		if d.Trans.Res.Status == port.MptOK {
			m.end(uint32(r.Key>>8), e)
			m.fence(port.FenceInv)
		}
		return
	}
	if d.Trans.Res.Status != port.MptOK || r.Len == 0 {
		return
	}
	page, res := locate(e, r)
	d.Trans.Res = res
	m.PageTable.Read(0, int(e.First)+page)
	if res.Len1 != 0 {
		m.PageTable.Read(1, int(e.First)+page+1)
	}
}

// answer adds the pages to the offsets and hands out the result.
func (m *MPT) answer() {
	q := &m.Q
	if !q.Trans.Valid {
		return
	}
	res := q.Trans.Res
	if res.Len0 != 0 {
		res.Addr0 += *m.PageTable.Data(0)
		if res.Len1 != 0 {
			res.Addr1 = *m.PageTable.Data(1)
		}
	}
	if q.Trans.RX {
		m.RxRes.Put(res)
	} else {
		m.TxRes.Put(res)
	}
}
