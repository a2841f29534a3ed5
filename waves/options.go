package waves

import (
	"errors"
	"fmt"

	"rnic/hdl"
)

// Profile is a choice of what readers have to understand.
type Profile uint8

const (
	Rich     Profile = iota // text of enums as string variables and attributes, structs as scopes
	Portable                // modules, wires and registers only; an FST has the tables of enums all the same
)

// Options are what a file shows.
type Options struct {
	Profile Profile
	From    int64    // ps: first instant
	To      int64    // ps: last instant; the end of the run if zero
	Scopes  []string // patterns as nic.dma or host_a.*.state: what is at or below one; everything if none
	Control bool     // without payload: no beats' fields, no array of more bytes than a header has
	Rows    []*Row   // strings that the caller sets; none in the profile Portable
}

// controlBytes is the longest array of bytes in registers that Options.Control keeps: a
// GRH, which is an IPv6 header. Those of data are longer.
const controlBytes = 40

// control tells whether a variable is anything but payload.
func (v *Var) control() bool {
	return v.Signal.Role != hdl.RolePayload && (v.Signal.Kind != hdl.Bytes || v.Signal.Size <= controlBytes)
}

// ErrWindow says that a run ended before the window began.
var ErrWindow = errors.New("the run ended before the window began")

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
	if o.Profile == Rich {
		if err := root.addRows(o.Rows, kernels); err != nil {
			return nil, err
		}
	}
	if o.Control {
		root.prune((*Var).control)
	}
	if len(o.Scopes) > 0 {
		s, err := newSelection(o.Scopes)
		if err != nil {
			return nil, err
		}
		roots := make([]string, len(root.kids))
		for i, k := range root.kids {
			roots[i] = k.path
		}
		root.prune(func(v *Var) bool { return s.find(v.Path) >= 0 })
		if err := s.unused(roots); err != nil {
			return nil, err
		}
	}
	return root, nil
}
