package tb

import (
	"fmt"
	"slices"
	"unsafe"

	"rnic/hdl"
)

// Probe records the cycles in which streams moved, at the consumer's end (signal
// "take" of an In port) or the producer's ("put" of an Out port).
type Probe struct {
	k      *hdl.Kernel
	owners [][]int // by owner: the signals whose cycles are not all there
	sigs   []hdl.Signal
	cycles [][]uint64
	index  map[string]int
	limit  int
}

// NewProbe watches signals of kernel k, named by their full path as in waves, and
// keeps the first limit cycles of each.
func NewProbe(k *hdl.Kernel, limit int, paths ...string) (*Probe, error) {
	p := &Probe{k: k, index: map[string]int{}, limit: limit}
	want := map[string]bool{}
	for _, path := range paths {
		want[path] = true
	}
	for _, s := range k.Signals() {
		if want[s.Path] && s.Role.Past() && s.Kind == hdl.Bool {
			p.index[s.Path] = len(p.sigs)
			if n := s.Owner + 1 - len(p.owners); n > 0 {
				p.owners = append(p.owners, make([][]int, n)...)
			}
			p.owners[s.Owner] = append(p.owners[s.Owner], len(p.sigs))
			p.sigs = append(p.sigs, s)
		}
	}
	for _, path := range paths {
		if _, ok := p.index[path]; !ok {
			return nil, fmt.Errorf("no such stream: %s", path)
		}
	}
	p.cycles = make([][]uint64, len(p.sigs))
	k.Observe(p)
	return p, nil
}

// Edge notes the streams that moved in the cycle before.
func (p *Probe) Edge(cycle uint64, ch *hdl.Changes) {
	for _, o := range ch.Past {
		if int(o) < len(p.owners) && p.owners[o] != nil {
			p.note(cycle-1, int(o))
		}
	}
}

func (p *Probe) note(cycle uint64, owner int) {
	p.owners[owner] = slices.DeleteFunc(p.owners[owner], func(i int) bool {
		if *(*bool)(unsafe.Add(p.k.Base(owner), p.sigs[i].Offset)) {
			p.cycles[i] = append(p.cycles[i], cycle)
		}
		return len(p.cycles[i]) >= p.limit
	})
	if len(p.owners[owner]) == 0 {
		p.owners[owner] = nil
	}
}

// Jump has nothing to note: nothing moves in it.
func (p *Probe) Jump(from, to uint64, ch *hdl.Changes) {}

// Cycles are those in which the signal was true.
func (p *Probe) Cycles(path string) []uint64 { return p.cycles[p.index[path]] }

// Close stops watching.
func (p *Probe) Close() { p.k.Unobserve(p) }
