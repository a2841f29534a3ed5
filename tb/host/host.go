package host

import (
	"rnic/driver"
	"rnic/hdl"
)

// Host is a machine: its memory and its root complex. A driver reaches both by a
// Bus for each of its threads.
type Host struct {
	Mem *Memory
	RC  RootComplex

	// OnCall, if set, is told of the calls of drivers, by the thread that makes them.
	OnCall func(*hdl.Thread, Call)
}

// Call is a call of a driver that begins, or ends.
type Call struct {
	driver.Call
	End bool
}

// Trace is of driver.Tracer.
func (b *Bus) Trace(c driver.Call, end bool) {
	if b.h.OnCall != nil {
		b.h.OnCall(b.t, Call{c, end})
	}
}

// New makes a machine with MemorySize of memory. It is connected by RC.FromNIC
// and RC.ToNIC, each at a depth of at least 2.
func New(p Params) *Host {
	h := &Host{Mem: NewMemory(0, p.Seed)}
	h.RC.init(p, h.Mem)
	return h
}
