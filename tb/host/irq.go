package host

import "rnic/hdl"

// vector is an interrupt vector.
type vector struct {
	count uint64
	fired hdl.Event
}

func (v *vector) raise() {
	v.count++
	v.fired.Notify()
}

// Interrupts is the number of messages that vector v has had.
func (r *RootComplex) Interrupts(v int) uint64 { return r.vectors[v].count }
