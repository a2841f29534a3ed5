package waves

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"rnic/hdl"
)

// Profile is a dialect of VCD.
type Profile uint8

const (
	Rich     Profile = iota // text of enums as string variables and attributes, structs as scopes
	Portable                // modules, wires and registers only
)

// Options are what a file shows.
type Options struct {
	Profile Profile
	From    int64    // ps: first instant
	To      int64    // ps: last instant; the end of the run if zero
	Scopes  []string // patterns as nic.dma or host_a.*.state: what is at or below one; everything if none
}

// ErrWindow says that a run ended before the window began.
var ErrWindow = errors.New("the run ended before the window began")

// VCD is a file of waveforms being written. Close it on every path.
type VCD struct {
	Vars    []*Var // in the order of declaration
	Start   int64  // ps: first instant
	End     int64  // ps: last instant, once closed
	w       io.Writer
	m       *merger
	tracers []*tracer
	closed  bool
	err     error
}

// Create makes the file, or takes a FIFO or device, and attaches it to kernels that do
// not run at present. Errors name the path or the option that is wrong.
func Create(path string, o Options, kernels ...*hdl.Kernel) (*VCD, error) {
	root, err := o.plan(kernels) // first: a wrong option shall not cost the file of an earlier run
	if err != nil {
		return nil, err
	}
	// Not os.Create: a FIFO opened for reading too would never break.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, fmt.Errorf("waves: %w", err)
	}
	return attach(f, o, root, kernels), nil
}

// New is Create for any writer, which Close closes if it can.
func New(w io.Writer, o Options, kernels ...*hdl.Kernel) (*VCD, error) {
	root, err := o.plan(kernels)
	if err != nil {
		return nil, err
	}
	return attach(w, o, root, kernels), nil
}

// plan judges the options and gives the scopes of the file.
func (o *Options) plan(kernels []*hdl.Kernel) (*node, error) {
	if len(kernels) == 0 {
		return nil, errors.New("waves: no kernel")
	}
	if o.To == 0 {
		o.To = never
	}
	if o.From < 0 || o.To < o.From {
		return nil, fmt.Errorf("waves: a window from %d ps to %d ps", o.From, o.To)
	}
	root := tree(kernels, o.Profile)
	if len(o.Scopes) > 0 {
		s, err := newSelection(o.Scopes)
		if err != nil {
			return nil, err
		}
		roots := make([]string, len(root.kids))
		for i, k := range root.kids {
			roots[i] = k.path
		}
		root.prune(s)
		if err := s.unused(roots); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// attach begins the file.
func attach(w io.Writer, o Options, root *node, kernels []*hdl.Kernel) *VCD {
	from := o.From
	for _, k := range kernels {
		from = max(from, int64(k.Cycle())*k.PeriodPs())
	}
	v := &VCD{Vars: root.number(nil), Start: from, w: w}
	v.m = newMerger(w, len(kernels), header(root, o.Profile))
	go v.m.run()
	rest := v.Vars
	for i, k := range kernels {
		n := slices.IndexFunc(rest, func(v *Var) bool { return v.Kernel != i })
		if n < 0 {
			n = len(rest)
		}
		v.tracers = append(v.tracers, newTracer(k, v.m, i, rest[:n], from, max(from, o.To)))
		rest = rest[n:]
	}
	for _, t := range v.tracers {
		t.attach()
	}
	return v
}

// Close ends the file where its kernels stand, and is needed after a Fault too. The
// kernels must not be running. The error is the first that writing met, or wraps
// ErrWindow; the file is well-formed even then. Closing twice is harmless.
func (v *VCD) Close() error {
	if v.closed {
		return v.err
	}
	v.closed = true
	early := true
	for _, t := range v.tracers {
		t.finish()
		early = early && t.early
	}
	<-v.m.done
	v.End = v.m.now
	if err := v.m.failed.Load(); err != nil {
		v.err = *err
	}
	if c, ok := v.w.(io.Closer); ok {
		if err := c.Close(); err != nil && v.err == nil {
			v.err = fmt.Errorf("waves: %w", err)
		}
	}
	if early && v.err == nil {
		t := v.tracers[0]
		v.err = fmt.Errorf("waves: %w: it ended at %d ps, the window begins at %d ps", ErrWindow, int64(t.k.Cycle())*t.period, t.from)
	}
	return v.err
}
