package hdl

import (
	"errors"
	"fmt"
	"strings"
)

// World runs several kernels in lock step, one a host, in parallel and
// deterministically. They go by windows of lookahead cycles; what one sends
// another takes at least that long (Link), so that within a window none depends
// on what the others do. Messages change hands at the barriers between windows.
type World struct {
	lookahead uint64
	kernels   []*Kernel
	links     []courier
	now       uint64
	errs      []error
	active    []bool
	work      []chan uint64 // window ends, for all kernels but the first
	done      chan struct{}
}

// courier is a Link without its type.
type courier interface{ exchange() }

// ErrLimit says that a World reached its limit before it was done.
var ErrLimit = errors.New("cycle limit reached")

// WorldDeadlock says that nothing can happen in any kernel any more.
type WorldDeadlock struct{ Kernels []*Deadlock }

func (d *WorldDeadlock) Error() string {
	var b strings.Builder
	for i, k := range d.Kernels {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(k.Error())
	}
	return b.String()
}

// NewWorld joins kernels, all at cycle 0, into one. The lookahead is the least
// latency of any link between them, at least 1.
func NewWorld(lookahead uint64, kernels ...*Kernel) *World {
	n := len(kernels)
	return &World{lookahead: max(1, lookahead), kernels: kernels, errs: make([]error, n), active: make([]bool, n)}
}

// Now is the cycle of the last barrier.
func (w *World) Now() uint64 { return w.now }

// Digest is a hash of the digests of the kernels.
func (w *World) Digest() uint64 {
	h := uint64(0)
	for _, k := range w.kernels {
		h = mix(h, k.Digest())
	}
	return h
}

// Run goes on until done, evaluated at barriers, or until a kernel is stopped. At
// the cycle limit it returns ErrLimit. A broken rule gives the *Fault, and a world
// in which nothing can happen any more a *WorldDeadlock. After Stop or an error
// the threads are stopped; after done they can go on in a further Run.
func (w *World) Run(done func() bool, limit uint64) (err error) {
	w.launch()
	defer func() {
		for _, c := range w.work {
			close(c)
		}
		w.work = nil
		if err != nil {
			w.Close()
		}
	}()
	for _, k := range w.kernels {
		if err := k.window(0); err != nil {
			return err
		}
	}
	for {
		for _, l := range w.links {
			l.exchange()
		}
		if w.stopped() {
			w.Close()
			return nil
		}
		if done != nil && done() {
			return nil
		}
		if w.now >= limit {
			return fmt.Errorf("%w: %d", ErrLimit, limit)
		}
		if err := w.skip(limit); err != nil {
			return err
		}
		if w.now < limit {
			if err := w.window(min(w.now+w.lookahead, limit)); err != nil {
				return err
			}
		}
	}
}

// Close stops the threads that are still blocked.
func (w *World) Close() {
	for _, k := range w.kernels {
		k.Close()
	}
}

func (w *World) stopped() bool {
	any := false
	for _, k := range w.kernels {
		any = any || k.stopped
		k.stopped = false
	}
	return any
}

// skip jumps to just before the earliest deadline if all kernels are idle.
func (w *World) skip(limit uint64) error {
	first := never
	for _, k := range w.kernels {
		if !k.idle() {
			return nil
		}
		first = min(first, k.timers.first)
	}
	if first == never {
		d := &WorldDeadlock{}
		for _, k := range w.kernels {
			d.Kernels = append(d.Kernels, k.deadlock())
		}
		return d
	}
	if to := min(first-1, limit); to > w.now {
		for _, k := range w.kernels {
			if err := k.window(to); err != nil {
				return err
			}
		}
		w.now = to
	}
	return nil
}

// window runs every kernel to the given cycle, those with work in parallel.
func (w *World) window(end uint64) error {
	w.now = end
	busy := 0
	for i, k := range w.kernels {
		w.active[i] = !k.idle() || k.timers.first <= end
		if w.active[i] {
			busy++
		}
	}
	sent := 0
	for i, k := range w.kernels {
		if i > 0 && busy > 1 && w.active[i] {
			w.work[i-1] <- end
			sent++
		} else if !w.active[i] {
			w.errs[i] = k.window(end)
		}
	}
	for i, k := range w.kernels {
		if w.active[i] && (i == 0 || busy == 1) {
			w.errs[i] = k.window(end)
		}
	}
	for range sent {
		<-w.done
	}
	for _, err := range w.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// launch starts a goroutine for each kernel but the first.
func (w *World) launch() {
	w.done = make(chan struct{}, len(w.kernels))
	for i, k := range w.kernels[1:] {
		c := make(chan uint64, 1)
		w.work = append(w.work, c)
		go w.worker(k, &w.errs[i+1], c, w.done)
	}
}

func (w *World) worker(k *Kernel, err *error, ends <-chan uint64, done chan<- struct{}) {
	inside := false
	defer func() {
		// A thread of the testbench ended its goroutine, as testing's FailNow does.
		if inside {
			*err = errExited
			done <- struct{}{}
		}
	}()
	for end := range ends {
		inside = true
		*err = k.window(end)
		inside = false
		done <- struct{}{}
	}
}

var errExited = errors.New("a thread ended the goroutine that runs it")

// window runs a kernel to the given cycle, whatever is stopped or stuck.
func (k *Kernel) window(end uint64) (err error) {
	if k.err != nil {
		return k.err
	}
	defer k.recoverTo(&err)
	k.start()
	for k.cycle < end {
		if k.idle() {
			k.jump(min(k.timers.first, end))
		} else {
			k.Step()
		}
	}
	return nil
}
