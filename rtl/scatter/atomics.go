package scatter

import (
	"math/bits"

	"rnic/rtl/port"
)

// maxAtomics is how many atomics may be under way.
const maxAtomics = 8

// atomics are the atomics under way, at most one a QP: those of a QP take effect,
// and their results come, in order.
type atomics struct {
	Used   uint8 // a bit each
	Failed uint8 // those whose memory could not be read, until their QP is poisoned
	Before uint8 // those that a fence waits for
	QPN    [maxAtomics]port.QPN
}

func (a *atomics) add(n port.QPN) {
	for i := range a.QPN {
		if a.Used>>i&1 == 0 {
			a.Used |= 1 << i
			a.QPN[i] = n
			return
		}
	}
}

// end takes the atomic unit's word that an atomic is over.
func (a *atomics) end(done *port.AtomicDone) {
	for i := range a.QPN {
		if a.Used>>i&1 != 0 && a.QPN[i] == done.QPN {
			if done.Err {
				a.Failed |= 1 << i
			} else {
				a.remove(i)
			}
			return
		}
	}
}

func (a *atomics) remove(i int) {
	a.Used &^= 1 << i
	a.Failed &^= 1 << i
	a.Before &^= 1 << i
}

// failed is the first atomic that failed, and its QP.
func (a *atomics) failed() (i int, n port.QPN) {
	i = bits.TrailingZeros8(a.Failed)
	return i, a.QPN[i]
}

// has tells whether an atomic of a QP is under way.
func (a *atomics) has(n port.QPN) bool {
	for i := range a.QPN {
		if a.Used>>i&1 != 0 && a.QPN[i] == n {
			return true
		}
	}
	return false
}

// hold tells whether a packet has to wait for atomics: a request that writes, or
// that a receive WQE tells of, for the one of its QP; a marker and the end of a key
// for all, since they say that nothing translated before is on its way any more.
func (a *atomics) hold(p *packet) bool {
	switch {
	case a.Used == 0:
		return false
	case p.Kind == purge || p.Kill:
		return true
	case p.Kind != deliver || p.Target == port.TargetSend:
		return false
	case p.Atomic:
		return a.Used == 1<<maxAtomics-1 || a.has(p.QPN)
	}
	return (p.Len != 0 || p.WQE && p.Ends) && a.has(p.QPN)
}
