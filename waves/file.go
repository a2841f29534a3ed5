package waves

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"rnic/hdl"
)

// File is a file of waveforms being written, a VCD or an FST. Close it on every path.
type File struct {
	Vars    []*Var // in the order of declaration
	Start   int64  // ps: first instant
	End     int64  // ps: last instant, once closed
	format  format
	w       any // closed in the end, if it can be
	m       *merger
	tracers []*tracer
	closed  bool
	err     error
	lock    sync.Mutex
	cat     *catalog // of views: of the open file, or of the closed one
	whole   bool     // cat is that of the closed file
}

// VCD and FST are files of the one format and of the other.
type (
	VCD = File
	FST = File
)

// begin is the first instant of a file that is attached to kernels where they stand.
func (o *Options) begin(kernels []*hdl.Kernel) int64 {
	ps := o.From
	for _, k := range kernels {
		ps = max(ps, int64(k.Cycle())*k.PeriodPs())
	}
	return ps
}

// attach begins the file.
func (v *File) attach(s sink, o Options, kernels []*hdl.Kernel) {
	v.Start = o.begin(kernels)
	end := max(v.Start, o.To)
	v.m = newMerger(s, len(kernels))
	rest := v.Vars
	for i, k := range kernels {
		n := slices.IndexFunc(rest, func(v *Var) bool { return v.Kernel != i })
		if n < 0 {
			n = len(rest)
		}
		v.tracers = append(v.tracers, newTracer(k, v.m, i, rest[:n], v.format, v.Start, end))
		rest = rest[n:]
	}
	for _, t := range v.tracers {
		t.rows = newRowing(t, v)
	}
	go v.m.run()
	for _, t := range v.tracers {
		t.attach()
	}
}

// Close ends the file where its kernels stand, and is needed after a Fault too. The
// kernels must not be running. The error is the first that writing met, or wraps
// ErrWindow; the file is well-formed even then. Closing twice is harmless.
func (v *File) Close() error {
	if v.closed {
		return v.err
	}
	v.closed = true
	early := true
	for _, t := range v.tracers {
		t.finish()
		early = early && t.early
	}
	for _, t := range v.tracers {
		if t.rows != nil {
			t.rows.finish(t.final)
		}
	}
	<-v.m.done
	v.End = v.m.now
	for _, x := range v.Vars {
		x.quiet = x.Row && !x.told
	}
	if err := v.m.failed.Load(); err != nil {
		v.err = *err
	}
	if c, ok := v.w.(io.Closer); ok {
		if err := c.Close(); err != nil && v.err == nil {
			v.err = wrap(err)
		}
	}
	if early && v.err == nil {
		t := v.tracers[0]
		v.err = fmt.Errorf("waves: %w: it ended at %d ps, the window begins at %d ps", ErrWindow, int64(t.k.Cycle())*t.period, t.from)
	}
	return v.err
}

// wrap says that an error is one of the waves.
func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("waves: %w", err)
	}
	return nil
}
