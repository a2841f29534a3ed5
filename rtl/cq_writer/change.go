package cqwriter

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// modify sets the moderation of a CQ. An event that is held back comes at once.
func (w *Writer) modify(a *port.CQAdmin, c cq) {
	c.Count, c.Period = a.Count, a.Period
	if c.Hold != none {
		c.release()
	}
	w.store(c)
}

// resize has the next CQE go to slot 0 of another ring.
func (w *Writer) resize(a *port.CQAdmin, c cq) {
	c.consume(a.CI)
	c.Base, c.LogSize, c.Origin = a.Base, a.LogSize, c.PI
	w.store(c)
}

// checkModeration refuses a wait without end, and one longer than the wheel.
func checkModeration(a *port.CQAdmin) (abi.AdminStatus, abi.AdminSyndrome) {
	if a.Period > abi.MaxCQPeriod || a.Period == 0 && a.Count > 1 {
		return abi.AdminBadParam, abi.SynModeration
	}
	return abi.AdminOK, abi.SynNone
}

// checkResize refuses a dead queue, and a ring that is too small for the CQEs that
// are not consumed.
func checkResize(a *port.CQAdmin, c *cq) (abi.AdminStatus, abi.AdminSyndrome) {
	switch {
	case !c.Exists:
		return abi.AdminBadObject, abi.SynObject
	case c.Dead:
		return abi.AdminBadState, abi.SynNone
	}
	if s, why := checkRing(a, cqAlign); s != abi.AdminOK {
		return s, why
	}
	now := *c
	now.consume(a.CI)
	if now.PI-now.CI > 1<<a.LogSize {
		return abi.AdminBadParam, abi.SynLogSize
	}
	return abi.AdminOK, abi.SynNone
}
