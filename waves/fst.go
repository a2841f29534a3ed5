package waves

import (
	"fmt"
	"io"
	"os"

	"rnic/hdl"
)

// CreateFST is Create for an FST: the same variables, the same values at the same
// times, in a file that is a fraction of the size and opens at once. The file is
// written to in places, so that it cannot be a FIFO. If the process is killed, the
// file has all up to the last section written.
func CreateFST(path string, o Options, kernels ...*hdl.Kernel) (*FST, error) {
	root, err := o.plan(kernels)
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(path); err == nil && st.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 {
		return nil, fmt.Errorf("waves: %s: an FST cannot be written to a FIFO", path)
	}
	f, err := create(path)
	if err != nil {
		return nil, err
	}
	return newFST(f, o, root, kernels), nil
}

// NewFST is CreateFST for anything that is written to at offsets, at first empty,
// which Close closes if it can.
func NewFST(w io.WriterAt, o Options, kernels ...*hdl.Kernel) (*FST, error) {
	root, err := o.plan(kernels)
	if err != nil {
		return nil, err
	}
	return newFST(w, o, root, kernels), nil
}

func newFST(w io.WriterAt, o Options, root *node, kernels []*hdl.Kernel) *FST {
	v := &File{Vars: root.number(nil), format: asFST, w: w}
	v.attach(newFSTSink(w, root, v.Vars, o.Profile, o.begin(kernels)), o, kernels)
	return v
}
