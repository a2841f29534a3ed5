package hdl

import (
	"fmt"
	"sort"
	"strings"
)

// Deadlock says that nothing can happen any more, and who waits on what.
type Deadlock struct {
	Kernel  string
	Cycle   uint64
	Waits   []Wait
	Threads []Waiter
}

// Wait is a port on which a sleeping block may be waiting.
type Wait struct {
	Block string
	Port  string // full path
	Peer  string // block at the other end
	State string // "full": an Out without room; "held": an In with beats not taken; "empty": an In without
	Since uint64 // cycle of the last beat through it
}

// Error lists threads, and the ports that are full or held: they hold the cause.
// Ports that are merely empty are counted when they are many, as they are in a
// design at rest.
func (d *Deadlock) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: deadlock at cycle %d: everything sleeps and nothing is due", d.Kernel, d.Cycle)
	for _, t := range d.Threads {
		fmt.Fprintf(&b, "\n\t%v", t)
	}
	empty := 0
	for _, w := range d.Waits {
		if w.State == "empty" {
			empty++
		}
	}
	for _, w := range d.Waits {
		if w.State == "empty" && empty > maxEmpty {
			continue
		}
		fmt.Fprintf(&b, "\n\t%s: %s is %s since cycle %d, peer %s", w.Block, w.Port, w.State, w.Since, w.Peer)
	}
	if empty > maxEmpty {
		fmt.Fprintf(&b, "\n\t%d ports are empty", empty)
	}
	return b.String()
}

// maxEmpty is how many empty ports an error lists.
const maxEmpty = 8

// stuck tells whether work is left over in an idle kernel.
func (k *Kernel) stuck() bool {
	for _, t := range k.threads {
		if !t.done {
			return true
		}
	}
	for _, s := range k.streams {
		if s.n != 0 {
			return true
		}
	}
	return false
}

func (k *Kernel) deadlock() *Deadlock {
	d := &Deadlock{Kernel: k.name, Cycle: k.cycle, Threads: k.Waiters()}
	for _, s := range k.Streams() {
		if s.Full() {
			d.Waits = append(d.Waits, Wait{s.From, s.Out, s.To, "full", s.Since})
		}
		state := "held"
		if s.N == 0 {
			state = "empty"
		}
		d.Waits = append(d.Waits, Wait{s.To, s.In, s.From, state, s.Since})
	}
	rank := map[string]int{"full": 0, "held": 1, "empty": 2}
	sort.SliceStable(d.Waits, func(i, j int) bool { return rank[d.Waits[i].State] < rank[d.Waits[j].State] })
	return d
}
