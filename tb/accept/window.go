package accept

import "rnic/abi"

// Change is what a work request of a send queue does to keys: one ends, and one begins.
// Between its posting and its completion either may be so.
type Change struct {
	Ends   abi.Key // 0: none
	Begins abi.Key // 0: none
	Region         // what begins
}

// local tells whether a work request is one that changes keys. Nothing is sent for it.
func (w *SendWR) local() bool {
	return w.Op == abi.OpLocalInv || w.Op == abi.OpBindMW || w.Op == abi.OpFastReg
}

// change notes what may happen from now on.
func (a *Acceptor) change(now uint64, c *Change) {
	if c.Ends != 0 {
		a.Deregister(now, c.Ends)
	}
	if c.Begins != 0 {
		a.regions[c.Begins] = &region{Region: c.Region, weak: true}
	}
}

// changed notes that it has happened, by cycle made.
func (a *Acceptor) changed(made uint64, c *Change) {
	if c.Ends != 0 {
		a.Deregistered(made, c.Ends)
	}
	if r := a.regions[c.Begins]; c.Begins != 0 && r != nil {
		r.weak = false
	}
}

// executed tells whether what changes keys before w, or is w, can have been executed: all
// before it is done (verbs-semantics.md: in queue order).
func (q *qp) executed(w *sent) bool {
	r := &q.requests
	for _, o := range r.all[r.head:] {
		switch {
		case o == w, o.first > w.first:
			return true
		case o.local() && o.first > r.una:
			return false
		}
	}
	return true
}

// unbind ends the windows of type 2 of a QP whose life ends.
func (q *qp) unbind(now uint64, done bool) {
	for _, r := range q.a.regions {
		switch {
		case r.QPN != q.qpn:
		case done && r.dead == 0:
			r.dead = max(now, 1)
		case r.gone == 0:
			r.gone = max(now, 1)
		}
	}
}
