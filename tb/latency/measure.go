package latency

import (
	"fmt"
	"slices"

	"rnic/abi"
	"rnic/tb"
)

// Ops are the operations that can be followed.
var Ops = [...]abi.WQEOp{abi.OpSend, abi.OpWrite, abi.OpRead, abi.OpFetchAdd}

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
	Op   abi.WQEOp
	Mode Mode
	Size int
	// Stages lead from the doorbell to the end of the latency: of a SEND the
	// receiver's CQE in its memory, of a WRITE the payload there, of what is
	// answered the requester's CQE.
	Stages []Stage
	// Return leads from the payload's write to the sender's CQE in its memory;
	// empty if it is part of the way.
	Return []Stage
	// Latency is all of Stages. Payload is when the data are where they are
	// wanted, SendCQE when the sender's CQE is in memory.
	Latency, Payload, SendCQE uint64
	// T is from the doorbell at the NIC to the first bit on the wire, without PCIe
	// reads; X from the last bit at the MAC to the payload's write leaving. Turn is
	// what the peer takes to turn a request into its answer; 0 if there is none.
	T, Turn, X uint64
}

// answers tells operations whose answer carries the data.
func answers(op abi.WQEOp) bool { return op == abi.OpRead || op == abi.OpFetchAdd }

// prepare judges what is asked for, and builds a fresh bench for it.
func prepare(c tb.Config, op abi.WQEOp, m Mode, size, most, count int) (*run, error) {
	if m != Fetched && op != abi.OpRead {
		most = inlineBytes
	}
	switch {
	case !slices.Contains(Ops[:], op):
		return nil, fmt.Errorf("latency of %v: must be one of %v", op, Ops)
	case answers(op) && m == Inline:
		return nil, fmt.Errorf("latency of %v, inline: it has no payload", op)
	case op == abi.OpFetchAdd && size != 8:
		return nil, fmt.Errorf("a %v of %d bytes: must be 8", op, size)
	case size < 1 || size > most:
		return nil, fmt.Errorf("a message of %d bytes, %s: must be 1 to %d", size, m, most)
	case count < 1 || count > maxCount:
		return nil, fmt.Errorf("%d messages: must be 1 to %d", count, maxCount)
	}
	bench, err := tb.New(c)
	if err != nil {
		return nil, err
	}
	return &run{bench: bench, op: op, mode: m, size: size, count: count}, nil
}

// Limits of a sample: a queue holds all its messages.
const (
	maxCount  = 4000
	maxSample = 1 << 20 // bytes of a message that is not inline
)

// Sample sends n messages one at a time, each when all of the one before is at
// rest, and gives their latencies in cycles, in order. Sizes are those of Measure,
// but up to 1 MiB.
func Sample(c tb.Config, op abi.WQEOp, m Mode, size, n int) ([]uint64, error) {
	r, err := prepare(c, op, m, size, maxSample, n)
	if err != nil {
		return nil, err
	}
	defer r.bench.Close()
	if err := r.run(); err != nil {
		return nil, err
	}
	var l []uint64
	for i := warmUp; i < warmUp+n; i++ {
		l = append(l, r.end(i)-r.bells[i])
	}
	return l, nil
}

// end is the cycle in which message i was where it was wanted.
func (r *run) end(i int) uint64 {
	switch {
	case answers(r.op):
		return r.sides[a].log[i].cqe
	case r.op == abi.OpSend:
		return r.sides[b].log[i].cqe
	}
	return r.sides[b].log[i].payload
}

// Measure sends one message of size bytes, 1 to 1024 (with Inline and Pushed to
// 32, unless it is a READ), on a fresh bench: one that is at rest, with a context
// and a receive WQE on chip because messages went before.
func Measure(c tb.Config, op abi.WQEOp, m Mode, size int) (Result, error) {
	r, err := prepare(c, op, m, size, mtu.Bytes(), 1)
	if err != nil {
		return Result{}, err
	}
	defer r.bench.Close()
	there, on, back := path(op, m)
	var probes [2]*tb.Probe
	for i := range r.sides {
		h := r.bench.Hosts[i]
		if probes[i], err = tb.NewProbe(h.K, mostCycles, signals(h, i, slices.Concat(there, on, back))...); err != nil {
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
	there, on, back := path(r.op, r.mode)
	at := &r.sides[b].log[warmUp]
	if answers(r.op) {
		at = &r.sides[a].log[warmUp]
	}
	sent := &r.sides[a].log[warmUp]
	w := walk{run: r, probes: probes, at: r.bell}
	res := Result{Op: r.op, Mode: r.mode, Size: r.size}
	ok := w.follow(&res.Stages, there)
	left := w.at
	ok = ok && w.follow(&res.Stages, on)
	if len(on) == 0 {
		w.until(&res.Stages, "payload in memory", at.payload)
	} else {
		w.until(&res.Stages, "CQE in memory", at.cqe)
	}
	if len(back) > 0 {
		w.at = left
		ok = ok && w.follow(&res.Return, back)
		w.until(&res.Return, "CQE in memory", sent.cqe)
	}
	if !ok {
		return res, fmt.Errorf("%v, %s: the message took another way: no %q after cycle %d of it", r.op, r.mode, w.lost, w.at-r.bell)
	}
	res.Latency, res.Payload, res.SendCQE = r.end(warmUp)-r.bell, at.payload-r.bell, sent.cqe-r.bell
	res.share(left - r.bell)
	return res, nil
}

// share adds up what the NICs take until the payload leaves: before the first
// frame, between two, and after the last.
func (r *Result) share(left uint64) {
	part := &r.T
	for _, s := range r.Stages {
		switch {
		case s.Since > left:
			return
		case s.Block == Wire && s.Name == "serialisation" && part == &r.X:
			r.Turn, r.X = r.X, 0
		case s.Block == Wire:
			part = &r.X
		case s.Block != PCIe:
			*part += s.Cycles
		}
	}
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
