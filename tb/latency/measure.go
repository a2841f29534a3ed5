package latency

import (
	"fmt"
	"slices"

	"rnic/tb"
)

// Stage is a part of a message's way.
type Stage struct {
	Name   string
	Block  string // that works in it; PCIe or Wire
	Cycles uint64
	Since  uint64 // its end, cycles since the doorbell
}

// Result is the way of one message. Cycles count from the write of the doorbell,
// or of the pushed WQE, by the CPU.
type Result struct {
	Mode Mode
	Size int
	// Stages lead from the doorbell to the receiver's CQE in its memory.
	Stages []Stage
	// Return leads from the payload's write to the sender's CQE in its memory.
	Return []Stage
	// Payload, CQE and SendCQE are when they are in memory. CQE is the latency.
	Payload, CQE, SendCQE uint64
	// T is from the doorbell at the NIC to the first bit on the wire, without PCIe
	// reads; X from the last bit at the peer's MAC to the payload's write leaving.
	T, X uint64
}

// Measure sends one message of size bytes, 1 to 1024 (with Inline and Pushed to
// 32), on a fresh bench: one that is at rest, with a context and a receive WQE on
// chip because messages went before.
func Measure(c tb.Config, m Mode, size int) (Result, error) {
	most := inlineBytes
	if m == Fetched {
		most = mtu.Bytes()
	}
	if size < 1 || size > most {
		return Result{}, fmt.Errorf("a message of %d bytes, %s: must be 1 to %d", size, m, most)
	}
	bench, err := tb.New(c)
	if err != nil {
		return Result{}, err
	}
	defer bench.Close()
	r := &run{bench: bench, mode: m, size: size}
	steps := slices.Concat(request(m), completion(), acknowledgement())
	var probes [2]*tb.Probe
	for i := range r.sides {
		h := bench.Hosts[i]
		if probes[i], err = tb.NewProbe(h.K, mostCycles, signals(h, i, steps)...); err != nil {
			return Result{}, err
		}
	}
	if err := r.run(); err != nil {
		return Result{}, err
	}
	return r.result(probes)
}

// mostCycles is far more than any stream moves in a run.
const mostCycles = 1 << 20

// signals are the paths that steps name at host i, each once.
func signals(h *tb.Host, i int, steps []step) []string {
	var paths []string
	for _, s := range steps {
		if p := h.K.Name() + "." + s.signal; s.host == i && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// result follows the message through what the probes saw.
func (r *run) result(probes [2]*tb.Probe) (Result, error) {
	w := walk{run: r, probes: probes, at: r.bell}
	res := Result{Mode: r.mode, Size: r.size}
	ok := w.follow(&res.Stages, request(r.mode))
	left := w.at
	ok = ok && w.follow(&res.Stages, completion())
	w.until(&res.Stages, "CQE in memory", r.sides[b].cqe)
	w.at = left
	ok = ok && w.follow(&res.Return, acknowledgement())
	w.until(&res.Return, "CQE in memory", r.sides[a].cqe)
	if !ok {
		return res, fmt.Errorf("%s: the message took another way: no %q after cycle %d of it", r.mode, w.lost, w.at-r.bell)
	}
	res.Payload, res.CQE, res.SendCQE = r.sides[b].payload-r.bell, r.sides[b].cqe-r.bell, r.sides[a].cqe-r.bell
	part := &res.T
	for _, s := range res.Stages {
		switch {
		case s.Since > left-r.bell:
			return res, nil
		case s.Block == Wire:
			part = &res.X
		case s.Block != PCIe:
			*part += s.Cycles
		}
	}
	return res, nil
}

// walk is the way of the message so far.
type walk struct {
	*run
	probes [2]*tb.Probe
	at     uint64 // absolute cycle
	lost   string
}

// follow adds a stage for each step, and tells whether all were found.
func (w *walk) follow(dst *[]Stage, steps []step) bool {
	for _, s := range steps {
		cycles := w.probes[s.host].Cycles(w.bench.Hosts[s.host].K.Name() + "." + s.signal)
		i, _ := slices.BinarySearch(cycles, w.at)
		if i == len(cycles) {
			w.lost = s.name
			return false
		}
		if s.last {
			i = len(cycles) - 1
		}
		w.add(dst, s.name, s.block, cycles[i])
	}
	return true
}

// until adds the last stage, a posted write.
func (w *walk) until(dst *[]Stage, name string, cycle uint64) {
	if cycle >= w.at {
		w.add(dst, name, PCIe, cycle)
	}
}

func (w *walk) add(dst *[]Stage, name, block string, cycle uint64) {
	*dst = append(*dst, Stage{name, block, cycle - w.at, cycle - w.bell})
	w.at = cycle
}
