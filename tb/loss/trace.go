package loss

import (
	"slices"

	"rnic/roce"
	"rnic/rtl/port"
	"rnic/tb"
)

// frame is a frame at a MAC, with the cycles of its first and its last beat.
type frame struct {
	tx          bool
	first, last uint64
	pkt         roce.Packet
}

// trace is the frames of a host's port, and when streams of it moved.
type trace struct {
	h      *tb.Host
	probe  *tb.Probe
	frames []frame
	beats  [2]int // that have come, and gone
}

// Streams of a MAC, below the host.
const (
	macRx = "nic.mac.receive.rx.take"
	macTx = "nic.mac.transmit.tx.put"
)

// mostCycles is far more than any stream moves in a run.
const mostCycles = 1 << 20

// newTrace watches a host of a fresh bench, and streams by their path below it.
func newTrace(h *tb.Host, paths ...string) (*trace, error) {
	t := &trace{h: h}
	paths = append(slices.Clone(paths), macRx, macTx)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for i := range paths {
		paths[i] = t.path(paths[i])
	}
	var err error
	if t.probe, err = tb.NewProbe(h.K, mostCycles, paths...); err != nil {
		return nil, err
	}
	h.Tap(t.frame)
	return t, nil
}

func (t *trace) path(below string) string { return t.h.K.Name() + "." + below }

// cycles are those in which a stream moved.
func (t *trace) cycles(below string) []uint64 { return t.probe.Cycles(t.path(below)) }

// frame is a tb.Tap. The cycles are filled in later, by the place of the beats.
func (t *trace) frame(f tb.Frame) {
	pkt, err := roce.ParseFrame(slices.Clone(f.Data))
	n := &t.beats[0]
	if f.Tx {
		n = &t.beats[1]
	}
	from := *n
	*n += (len(f.Data) + roce.FCSSize + port.BeatBytes - 1) / port.BeatBytes
	if err == nil {
		t.frames = append(t.frames, frame{f.Tx, uint64(from), uint64(*n - 1), pkt})
	}
}

// finish gives the frames their cycles.
func (t *trace) finish() {
	rx, tx := t.cycles(macRx), t.cycles(macTx)
	for i := range t.frames {
		f := &t.frames[i]
		c := rx
		if f.tx {
			c = tx
		}
		f.first, f.last = c[f.first], c[f.last]
	}
}

// find is the first frame from place i on that is wanted, or -1.
func (t *trace) find(i int, tx bool, want func(*roce.Packet) bool) int {
	for ; i >= 0 && i < len(t.frames); i++ {
		if f := &t.frames[i]; f.tx == tx && want(&f.pkt) {
			return i
		}
	}
	return -1
}

// next is the first cycle from at on in which a stream moved.
func (t *trace) next(below string, at uint64) (uint64, bool) {
	c := t.cycles(below)
	i, _ := slices.BinarySearch(c, at)
	if i == len(c) {
		return 0, false
	}
	return c[i], true
}
