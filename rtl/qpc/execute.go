package qpc

import "rnic/rtl/port"

// execute takes the operation whose context has been read, and executes it.
func (m *QPC) execute() {
	q := &m.Q
	c, e := m.load(), m.env()
	before, queued, gen := c.Common.Pending, c.Common.Queued, c.Requester.Gen
	var w Bank
	activate := port.Activate{QPN: q.QPN}
	wanted := false
	switch q.Source {
	case srcAdmin:
		var r port.QPAdminRes
		r, w = m.admin(&c, &e)
		*answer(m, &m.AdminRes) = r
	case srcBell:
		var b Bell
		if d := m.Bell.Take(); d.SRQ {
			b = c.Shared.ring(d)
		} else {
			b = c.ring(d)
		}
		m.countBell(&b)
		w, wanted = b.Write, b.Activate
		activate.Push, activate.Refuse = m.Bell.Head().Push, b.Refuse
	case srcGet:
		*answer(m, &m.Ctx) = c.get(m.Get.Take(), &e)
		w = InSQ
	case srcPut:
		w = c.put(m.Put.Take())
	case srcTxReq:
		h := m.handle()
		t := answer(m, &m.TxHdr)
		*t, w = c.header(m.TxReq.Take(), &h, &e)
	case srcTxFault:
		w = c.sqFault(m.TxFault.Take())
	case srcRx:
		var v port.RxVerdict
		v, w = c.receive(m.Rx.Take(), &e)
		*answer(m, &m.Verdict) = v
		wanted = c.opens(&v)
	case srcRetire:
		r := m.Retire.Take()
		if r.Kind == port.RetireTimeout && c.expires(r.Una) {
			m.D.Stats.LocalAckTimeoutErr++
		}
		w = c.retire(r)
		wanted = (r.Kind == port.RetireDone || r.Kind == port.RetireRewind) && c.backlog()
	case srcFatal:
		w = c.retire(m.Fatal.Take())
	case srcReadPost:
		w = c.post(m.ReadPost.Take())
	case srcRespDone:
		w = c.respDone(m.RespDone.Take())
	case srcTold:
		m.Told.Take()
		wanted, w = m.spread(&c, &e)
	case srcToldSRQ:
		m.ToldSRQ.Take()
		if v, has := c.Shared.tell(q.SRQN); has {
			m.Async.Put(v)
		}
		w = InShared
	}
	if c.Requester.Gen != gen {
		x := port.Stale{QPN: q.QPN, Gen: c.Requester.Gen}
		m.Stale.Put(x)
		m.StaleSQ.Put(x)
	}
	if wanted {
		m.Activate.Put(activate)
	}
	m.store(&c, w, before, queued)
	if m.D.Stats != q.Stats {
		m.Stats.Set(m.D.Stats)
	}
}

// admin executes an operation of admin on what it is about.
func (m *QPC) admin(c *Context, e *Env) (r port.QPAdminRes, w Bank) {
	q := &m.Q
	a := m.Admin.Take()
	switch q.Of {
	case ofAH:
		h := m.handle()
		if r, w = h.admin(a, q.Known, e); w != 0 {
			m.AHs.Write(1, int(q.QPN), &h)
		}
		return r, 0
	case ofSRQ:
		return c.Shared.admin(a, q.Known)
	}
	return c.admin(a, q.Known, e)
}

// spread puts what a QP has to tell on the ports of those who should know.
func (m *QPC) spread(c *Context, e *Env) (activate bool, w Bank) {
	t := c.tell(m.Q.QPN, e)
	if t.Notes&NoteEvent != 0 {
		m.Event.Put(t.Event)
	}
	if t.Notes&NoteFlushRQ != 0 {
		m.QPErr.Put(port.QPError{QPN: m.Q.QPN})
	}
	if t.Has {
		m.Async.Put(t.Async)
	}
	return t.Notes&NoteActivate != 0, t.Write
}
