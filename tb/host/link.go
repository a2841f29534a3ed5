package host

// link is one direction of the PCIe link: a clock that counts bytes.
type link struct {
	rate uint64 // bytes a cycle
	busy uint64 // byte time at which it is free
}

// free tells whether a TLP or a beat can start in this cycle.
func (l *link) free(now uint64) bool { return l.busy < (now+1)*l.rate }

// use takes n bytes from now on.
func (l *link) use(now uint64, n int) { l.busy = max(l.busy, now*l.rate) + uint64(n) }

// next is the cycle in which it is free.
func (l *link) next() uint64 { return l.busy / l.rate }
