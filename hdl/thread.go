package hdl

import "iter"

// Thread is a testbench coroutine. It runs after the edge, in the order in which
// threads were added, after the agents; it sees settled state, and it waits for
// time or for an Event only.
type Thread struct {
	blk      block
	next     func() (struct{}, bool)
	stop     func()
	yield    func(struct{}) bool
	fired    bool
	done     bool
	stopping bool
	waits    *Event
	limited  bool   // it waits until some cycle at most
	since    uint64 // cycle in which it began to wait
}

// Event is what threads wait for. The zero value is ready for use. Name says what it
// is, for diagnosis.
type Event struct {
	Name    string
	waiters []*Thread
}

// Notify wakes the threads that wait: in this cycle if an agent calls it, in the
// next if a thread does. With nobody waiting it does nothing.
func (e *Event) Notify() {
	for _, t := range e.waiters {
		t.fired = true
		t.blk.k.wake(t.blk.idx)
	}
	e.waiters = e.waiters[:0]
}

func (e *Event) forget(t *Thread) {
	for i, w := range e.waiters {
		if w == t {
			e.waiters = append(e.waiters[:i], e.waiters[i+1:]...)
			return
		}
	}
}

// Go adds a thread. It starts at cycle 0 if the kernel has not run yet, else next
// time that threads run.
func (k *Kernel) Go(name string, fn func(*Thread)) *Thread {
	j := len(k.threads)
	t := &Thread{blk: block{k: k, path: join(k.name, name), idx: int32(k.agentEnd<<6 + j)}}
	k.threads = append(k.threads, t)
	if j&63 == 0 {
		k.awake, k.snap = append(k.awake, 0), append(k.snap, 0)
		k.blocks = append(k.blocks, make([]*block, 64)...)
		k.timers.grow(len(k.awake) << 6)
	}
	k.blocks[t.blk.idx] = &t.blk
	k.wake(t.blk.idx)
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		defer func() {
			// Here the stack of the panic is still there to be named.
			if r := recover(); r != nil && !t.stopping {
				panic(k.fault(r))
			}
		}()
		fn(t)
	})
	return t
}

func (t *Thread) resume() {
	if !t.done {
		if _, ok := t.next(); !ok {
			t.done = true
		}
	}
}

type threadStopped struct{}

// park gives way until the thread is woken.
func (t *Thread) park() {
	if t.stopping || !t.yield(struct{}{}) {
		t.stopping = true
		panic(threadStopped{})
	}
}

// Name is the thread's name, without its kernel's.
func (t *Thread) Name() string { return t.blk.path[len(t.blk.k.name)+1:] }

// Now is the present cycle.
func (t *Thread) Now() uint64 { return t.blk.k.cycle }

// Done tells whether the thread's function has returned.
func (t *Thread) Done() bool { return t.done }

// Sleep waits for a number of cycles.
func (t *Thread) Sleep(cycles uint64) { t.WaitUntil(t.blk.k.cycle + cycles) }

// WaitUntil waits for a cycle; it returns at once if that is not in the future.
func (t *Thread) WaitUntil(cycle uint64) {
	k := t.blk.k
	if k.cycle < cycle {
		t.blk.wakeAt(cycle)
	}
	for k.cycle < cycle {
		t.park()
	}
}

// Wait waits for an event, at most until the given cycle (0: without limit). It
// returns false if that came first.
func (t *Thread) Wait(ev *Event, until uint64) bool {
	k := t.blk.k
	if until != 0 && until <= k.cycle {
		return false
	}
	t.fired, t.waits = false, ev
	t.limited, t.since = until != 0, k.cycle
	ev.waiters = append(ev.waiters, t)
	t.blk.wakeAt(until)
	for {
		t.park()
		if t.fired {
			k.timers.cancel(t.blk.idx)
			t.waits = nil
			return true
		}
		if until != 0 && until <= k.cycle {
			ev.forget(t)
			t.waits = nil
			return false
		}
	}
}

// Close stops the threads that are still blocked: their deferred calls run. Run
// does it after Stop and on errors.
func (k *Kernel) Close() {
	for _, t := range k.threads {
		if !t.done {
			t.done, t.stopping = true, true
			t.stop()
		}
	}
}
