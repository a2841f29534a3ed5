package cqwriter

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// Alignment of rings, bytes.
const (
	cqAlign = abi.CQESize
	eqAlign = abi.EventSize
)

// admin executes an operation of the admin block.
func (w *Writer) admin(c cq, e eq) {
	d := &w.D
	a := w.Admin.Take()
	d.State = idle
	status, syn, index := abi.AdminOK, abi.SynNone, uint16(0)
	switch a.Op {
	case port.IRQRaise:
		d.Raise |= vectorBit(a.Number)
		return
	case port.CQCreate:
		if status, syn = w.checkCQ(a, &c, &e); status == abi.AdminOK {
			e.CQs++
			w.EQs.Write(1, int(a.EQN), &e)
			w.CQs.Write(1, int(a.Number), &cq{Exists: true, Base: a.Base, LogSize: a.LogSize, EQN: a.EQN, Page: a.Page, Count: a.Count, Period: a.Period})
		}
	case port.CQDestroy:
		if !c.Exists {
			status, syn = abi.AdminBadObject, abi.SynObject
			break
		}
		w.CQs.Write(1, int(a.Number), &cq{})
		w.EQs.Read(0, int(c.EQN))
		d.EQ, d.State = c.EQN, release
	case port.CQModify:
		if status, syn = checkModeration(a); !c.Exists {
			status, syn = abi.AdminBadObject, abi.SynObject
		}
		if status == abi.AdminOK {
			w.modify(a, c)
		}
	case port.CQResize:
		if status, syn = checkResize(a, &c); status == abi.AdminOK {
			index = c.PI
			w.resize(a, c)
		}
	case port.EQCreate:
		if status, syn = w.checkEQ(a, &e); status == abi.AdminOK {
			w.setEQ(port.EQN(a.Number), &eq{Exists: true, Base: a.Base, LogSize: a.LogSize, Vector: a.Vector, Page: a.Page})
		}
	case port.EQDestroy:
		switch {
		case !e.Exists:
			status, syn = abi.AdminBadObject, abi.SynObject
		case e.CQs != 0:
			status = abi.AdminBusy
		default:
			w.setEQ(port.EQN(a.Number), &eq{})
		}
	default:
		status = abi.AdminBadOpcode
	}
	d.Answer = fence{true, w.Q.Issued}
	d.Result = port.CQAdminRes{Status: status, Syndrome: uint8(syn), Index: index}
}

// release takes a CQ that was destroyed off its event queue's count.
func (w *Writer) release() {
	e := *w.EQs.Data(0)
	e.CQs--
	w.EQs.Write(1, int(w.Q.EQ), &e)
	w.D.State = idle
}

// setEQ begins or ends an event queue's life. No CQ uses it.
func (w *Writer) setEQ(n port.EQN, e *eq) {
	w.EQs.Write(1, int(n), e)
	if n == 0 {
		w.D.Hold = false
	}
}

func (w *Writer) checkCQ(a *port.CQAdmin, c *cq, e *eq) (abi.AdminStatus, abi.AdminSyndrome) {
	switch {
	case !w.Q.KnownCQ:
		return abi.AdminBadObject, abi.SynObject
	case c.Exists:
		return abi.AdminExists, abi.SynObject
	case !e.Exists:
		return abi.AdminBadParam, abi.SynEQN
	}
	if s, why := checkModeration(a); s != abi.AdminOK {
		return s, why
	}
	return checkRing(a, cqAlign)
}

func (w *Writer) checkEQ(a *port.CQAdmin, e *eq) (abi.AdminStatus, abi.AdminSyndrome) {
	switch {
	case !w.Q.KnownEQ:
		return abi.AdminBadObject, abi.SynObject
	case e.Exists:
		return abi.AdminExists, abi.SynObject
	case a.Vector >= abi.MSIXCount:
		return abi.AdminBadParam, abi.SynVector
	}
	return checkRing(a, eqAlign)
}

// checkRing judges a ring whose entries have the size that they are aligned to.
func checkRing(a *port.CQAdmin, entry uint64) (abi.AdminStatus, abi.AdminSyndrome) {
	base := uint64(a.Base)
	switch {
	case a.LogSize > abi.MaxLogRing:
		return abi.AdminBadParam, abi.SynLogSize
	case base%entry != 0, base+(entry<<a.LogSize-1) < base:
		return abi.AdminBadParam, abi.SynBase
	}
	return abi.AdminOK, abi.SynNone
}
