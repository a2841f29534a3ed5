package hdl

// Run steps to the given cycle, or until Stop. When every module sleeps and
// nothing is due it jumps to the next deadline. It returns a *Fault if a rule was
// broken, and a *Deadlock if work is left over (a blocked thread, a beat in a
// stream) that nothing can ever move again; a design that has come to rest with
// nothing left over just reaches the given cycle. With until = ^uint64(0) coming to
// rest is a deadlock too. After Stop or an error the threads are stopped.
func (k *Kernel) Run(until uint64) (err error) {
	if k.err != nil {
		return k.err
	}
	defer k.recoverTo(&err)
	k.start()
	for k.cycle < until && !k.stopped {
		if !k.idle() {
			k.Step()
			continue
		}
		if k.timers.first == never && (until == never || k.stuck()) {
			k.err = k.deadlock()
			k.Close()
			return k.err
		}
		k.jump(min(k.timers.first, until))
	}
	if k.stopped {
		k.stopped = false
		k.Close()
	}
	return nil
}

// Stop ends Run after the present cycle. Agents and threads call it.
func (k *Kernel) Stop() { k.stopped = true }

// Idle tells whether nothing can happen before cycle next, which is ^uint64(0) if
// nothing is due at all. What runs a kernel against real time asks it between runs.
func (k *Kernel) Idle() (next uint64, ok bool) { return k.timers.first, k.idle() }

// recoverTo, deferred, turns a panic into the error that the kernel ends with.
func (k *Kernel) recoverTo(err *error) {
	if r := recover(); r != nil {
		k.err = k.fault(r)
		k.ghost = false
		k.Close()
		*err = k.err
	}
}

// jump moves to a later cycle in an idle kernel.
func (k *Kernel) jump(to uint64) {
	if k.watch != nil {
		k.watch.jump(k, to)
	}
	k.jumped += to - k.cycle
	k.cycle = to
	k.settle()
}

// Stats is what a kernel did so far.
type Stats struct {
	Steps  uint64 // cycles that were run
	Jumped uint64 // cycles that were jumped over
}

// Stats counts steps and jumped cycles.
func (k *Kernel) Stats() Stats { return Stats{k.steps, k.jumped} }
