package host

// Host is a machine: its memory and its root complex. A driver reaches both by a
// Bus for each of its threads.
type Host struct {
	Mem *Memory
	RC  RootComplex
}

// New makes a machine with MemorySize of memory. It is connected by RC.FromNIC
// and RC.ToNIC, each at a depth of at least 2.
func New(p Params) *Host {
	h := &Host{Mem: NewMemory(0, p.Seed)}
	h.RC.init(p, h.Mem)
	return h
}
