package waves

import (
	"io"
	"os"

	"rnic/hdl"
)

// Create makes a VCD, or takes a FIFO or device, and attaches it to kernels that do
// not run at present. Errors name the path or the option that is wrong.
func Create(path string, o Options, kernels ...*hdl.Kernel) (*VCD, error) {
	root, err := o.plan(kernels) // first: a wrong option shall not cost the file of an earlier run
	if err != nil {
		return nil, err
	}
	f, err := create(path)
	if err != nil {
		return nil, err
	}
	return newVCD(f, o, root, kernels), nil
}

// New is Create for any writer, which Close closes if it can.
func New(w io.Writer, o Options, kernels ...*hdl.Kernel) (*VCD, error) {
	root, err := o.plan(kernels)
	if err != nil {
		return nil, err
	}
	return newVCD(w, o, root, kernels), nil
}

func newVCD(w io.Writer, o Options, root *node, kernels []*hdl.Kernel) *VCD {
	v := &File{Vars: root.number(nil), format: asVCD, w: w}
	v.attach(&vcdSink{w: w, out: header(root, o.Profile)}, o, kernels)
	return v
}

// create opens a file to write. Not os.Create: a FIFO opened for reading too would
// never break.
func create(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	return f, wrap(err)
}
