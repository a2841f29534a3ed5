package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// model executes operations one after the other, without time.
type model struct {
	in   traffic
	told []port.QPN
	srqs []port.SRQN // that have something to tell
	out  outputs
}

func take[T any](q *[]T) T {
	v := (*q)[0]
	*q = (*q)[1:]
	return v
}

// step executes the next operation of a port and returns its QP.
func (m *model) step(s source) port.QPN {
	var qpn port.QPN
	var c Context
	gen := uint8(0)
	e, o := env, &m.out
	srq := port.SRQN(0) // that of the QP
	load := func(n port.QPN) *Context {
		if qpn = n; n < 16 {
			x := &o.Contexts[n]
			gen, srq = x.Requester.Gen, x.Common.SRQN
			x.Shared = o.SRQs[srq]
			return x
		}
		return &c // no QP
	}
	var none Shared
	shared := func(n port.QPN) *Shared {
		if qpn = n; n < 4 {
			return &o.SRQs[n]
		}
		return &none
	}
	defer func() {
		for i := range o.SRQs {
			if s := &o.SRQs[i]; s.news() && !s.Queued {
				s.Queued = true
				m.srqs = append(m.srqs, port.SRQN(i))
			}
		}
	}()
	activate := func(a port.Activate) { o.Activate = append(o.Activate, a) }
	switch s {
	case srcAdmin:
		a := take(&m.in.Admin)
		var r port.QPAdminRes
		switch subject(a.Op) {
		case ofAH:
			h := &AH{}
			if a.QPN < 8 {
				h = &o.AHs[a.QPN]
			}
			r, _ = h.admin(&a, a.QPN < 8, &e)
			o.AdminRes = append(o.AdminRes, r)
			return a.QPN
		case ofSRQ:
			r, _ = shared(a.QPN).admin(&a, a.QPN < 4)
			o.AdminRes = append(o.AdminRes, r)
			return a.QPN
		}
		x := load(a.QPN)
		if a.Op == port.QPCreate {
			x.Shared = Shared{}
			if n := a.Attr.SRQN; a.Attr.Flags&abi.QPHasSRQ != 0 && n < 4 {
				x.Shared = o.SRQs[n]
			}
		}
		r, _ = x.admin(&a, a.QPN < 16, &e)
		x.Shared = Shared{}
		o.AdminRes = append(o.AdminRes, r)
	case srcBell:
		d := take(&m.in.Bell)
		if d.SRQ {
			b := shared(d.QPN).ring(&d)
			if b.BadPage {
				o.Stats.BadPage++
			}
			if b.BadNumber {
				o.Stats.BadNumber++
			}
			return d.QPN
		}
		b := load(d.QPN).ring(&d)
		if b.BadPage {
			o.Stats.BadPage++
		}
		if b.BadNumber {
			o.Stats.BadNumber++
		}
		if b.Activate {
			activate(port.Activate{QPN: d.QPN, Push: d.Push, Refuse: b.Refuse})
		}
	case srcGet:
		g := take(&m.in.Get)
		o.Ctx = append(o.Ctx, load(g.QPN).get(&g, &e))
	case srcPut:
		p := take(&m.in.Put)
		load(p.QPN).put(&p)
	case srcTxReq:
		r := take(&m.in.TxReq)
		ah := AH{}
		if r.UD && r.AH < 8 {
			ah = o.AHs[r.AH]
		}
		h, _ := load(r.QPN).header(&r, &ah, &e)
		o.TxHdr = append(o.TxHdr, h)
	case srcTxFault:
		f := take(&m.in.TxFault)
		load(f.QPN).sqFault(&f)
	case srcRx:
		r := take(&m.in.Rx)
		x := load(r.QPN)
		v, _ := x.receive(&r, &e)
		if x.hasSRQ() {
			o.SRQs[srq] = x.Shared
		}
		o.Verdict = append(o.Verdict, v)
		if x.opens(&v) {
			activate(port.Activate{QPN: r.QPN})
		}
	case srcRetire, srcFatal:
		q := &m.in.Retire
		if s == srcFatal {
			q = &m.in.Fatal
		}
		r := take(q)
		x := load(r.QPN)
		if r.Kind == port.RetireTimeout && x.expires(r.Una) {
			o.Stats.LocalAckTimeoutErr++
		}
		x.retire(&r)
		if s == srcRetire && (r.Kind == port.RetireDone || r.Kind == port.RetireRewind) && x.backlog() {
			activate(port.Activate{QPN: r.QPN})
		}
	case srcReadPost:
		p := take(&m.in.Reads)
		load(p.QPN).post(&p)
	case srcRespDone:
		d := take(&m.in.Done)
		load(d.QPN).respDone(&d)
	case srcTold:
		n := take(&m.told)
		t := load(n).tell(n, &e)
		if t.Notes&NoteEvent != 0 {
			o.Event = append(o.Event, t.Event)
		}
		if t.Notes&NoteFlushRQ != 0 {
			o.QPErr = append(o.QPErr, port.QPError{QPN: n})
		}
		if t.Has {
			o.Async = append(o.Async, t.Async)
		}
		if t.Notes&NoteActivate != 0 {
			activate(port.Activate{QPN: n})
		}
	case srcToldSRQ:
		n := take(&m.srqs)
		qpn = port.QPN(n)
		if v, has := o.SRQs[n].tell(n); has {
			o.Async = append(o.Async, v)
		}
	}
	if qpn < 16 && s != srcToldSRQ {
		m.out.Contexts[qpn].Shared = Shared{}
		if g := m.out.Contexts[qpn].Requester.Gen; g != gen {
			o.Stale = append(o.Stale, port.Stale{QPN: qpn, Gen: g})
			o.StaleSQ = o.Stale
		}
		if cm := &m.out.Contexts[qpn].Common; cm.Pending != 0 && !cm.Queued {
			cm.Queued = true
			m.told = append(m.told, qpn)
		}
	}
	return qpn
}
