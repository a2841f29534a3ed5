package qpc

import "rnic/rtl/port"

// logOf is log2 of the number of objects.
func (m *QPC) logOf(o object) uint8 {
	switch o {
	case ofAH:
		return m.par.LogAH
	case ofSRQ:
		return m.par.LogSRQ
	}
	return m.par.LogQP
}

// read reads the banks of the operation that was picked.
func (m *QPC) read(d *regs) {
	d.Read = 0
	switch {
	case !d.Known:
		return
	case d.Of == ofSRQ:
		m.readSRQ(d, port.SRQN(d.QPN))
		return
	case d.Of == ofAH:
		d.Read = InAH
		m.AHs.Read(0, int(d.QPN))
		return
	}
	n := int(d.QPN)
	r := m.banks(d.Source)
	d.Read = r &^ (InShared | InAH)
	if r&InShared != 0 {
		m.readSRQ(d, port.SRQN(m.Admin.Head().Attr.SRQN))
	}
	if r&InAH != 0 {
		if ah := m.TxReq.Head().AH; ah>>m.par.LogAH == 0 {
			d.Read |= InAH
			m.AHs.Read(0, int(ah))
		}
	}
	if r&InCommon != 0 {
		m.Common.Read(0, n)
	}
	if r&InSQ != 0 {
		m.SQ.Read(0, n)
	}
	if r&InRequester != 0 {
		m.Requester.Read(0, n)
	}
	if r&InResponder != 0 {
		m.Responder.Read(0, n)
	}
	if r&InReads != 0 {
		m.Reads.Read(0, n)
	}
	if r&InSaved != 0 {
		m.Saved.Read(0, n)
	}
}

// readSRQ reads an SRQ, if the device has it.
func (m *QPC) readSRQ(d *regs, n port.SRQN) {
	if n>>m.par.LogSRQ != 0 {
		return
	}
	d.Read |= InShared
	d.SRQN = n
	m.SRQs.Read(0, int(n))
}

// load is the context that was read, as far as the operation looks at it. A QP
// beyond the table does not exist.
func (m *QPC) load() (c Context) {
	r := m.Q.Read
	if r&InCommon != 0 {
		c.Common = *m.Common.Data(0)
	}
	if r&InSQ != 0 {
		c.SQ = *m.SQ.Data(0)
	}
	if r&InRequester != 0 {
		c.Requester = *m.Requester.Data(0)
	}
	if r&InResponder != 0 {
		c.Responder = *m.Responder.Data(0)
	}
	if r&InReads != 0 {
		c.Reads = *m.Reads.Data(0)
	}
	if r&InSaved != 0 {
		c.Saved = *m.Saved.Data(0)
	}
	if r&InShared != 0 {
		c.Shared = *m.SRQs.Data(0)
	}
	return c
}

// handle is the address handle that was read, if there is one.
func (m *QPC) handle() (h AH) {
	if m.Q.Read&InAH != 0 {
		h = *m.AHs.Data(0)
	}
	return h
}

// store writes back what an operation changed. A QP that has got something to
// tell joins the queue.
func (m *QPC) store(c *Context, w Bank, before Note, queued bool) {
	if w&InShared != 0 {
		m.storeSRQ(c)
	}
	if !m.Q.Known || m.Q.Of != ofQP {
		return
	}
	if c.Common.Pending != 0 && !c.Common.Queued {
		c.Common.Queued = true
		m.Tell.Put(port.QPError{QPN: m.Q.QPN})
	}
	if c.Common.Pending != before || c.Common.Queued != queued {
		w |= InCommon
	}
	n := int(m.Q.QPN)
	if w&InCommon != 0 {
		m.Common.Write(1, n, &c.Common)
	}
	if w&InSQ != 0 {
		m.SQ.Write(1, n, &c.SQ)
	}
	if w&InRequester != 0 {
		m.Requester.Write(1, n, &c.Requester)
	}
	if w&InResponder != 0 {
		m.Responder.Write(1, n, &c.Responder)
	}
	if w&InReads != 0 {
		m.Reads.Write(1, n, &c.Reads)
	}
	if w&InSaved != 0 {
		m.Saved.Write(1, n, &c.Saved)
	}
}

// storeSRQ does so for an SRQ.
func (m *QPC) storeSRQ(c *Context) {
	x := &c.Shared
	if x.news() && !x.Queued {
		x.Queued = true
		m.TellSRQ.Put(m.Q.SRQN)
	}
	m.SRQs.Write(1, int(m.Q.SRQN), x)
}
