package read

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// source is a file of either format.
type source interface {
	// step reads to the end of the next time stamp.
	step(s *state) (time uint64, err error)
	// upcoming is the time of the next step, once there has been one.
	upcoming(s *state) (time uint64, err error)
	// want limits what is read to some IDs.
	want(ids []bool)
	// dumping tells whether values are valid now.
	dumping() bool
}

// File is a waveform that is being read.
type File struct {
	Header
	name    string
	closers []io.Closer
	src     source
	*state
	notes []string
	now   uint64
	err   error
}

// Open opens a VCD or FST by what is in it. A VCD may come through a pipe, "-" is
// standard input.
func Open(path string) (*File, error) {
	if path == "-" {
		return from("standard input", os.Stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	w, err := from(path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	w.closers = append(w.closers, f)
	return w, nil
}

// from reads the header.
func from(name string, f *os.File) (*File, error) {
	r := bufio.NewReaderSize(f, 4096)
	head, err := r.Peek(2)
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case len(head) == 0:
		return nil, fmt.Errorf("%s: is empty", name)
	case head[0] == fstHeader || head[0] == fstWrapper:
		st, err := f.Stat()
		switch {
		case err != nil:
			return nil, err
		case !st.Mode().IsRegular():
			return nil, fmt.Errorf("%s: an FST is read in places, and not through a pipe", name)
		}
		return NewFST(name, f, st.Size())
	}
	return NewVCD(name, r)
}

// NewVCD reads a VCD, perhaps within gzip, from anywhere. The name is for errors.
func NewVCD(name string, r io.Reader) (*File, error) {
	b := bufio.NewReaderSize(r, 4096)
	if head, _ := b.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("%s: gzip: %w", name, err)
		}
		b = bufio.NewReaderSize(z, 4096)
		if head, _ := b.Peek(1); bytes.Equal(head, []byte{fstHeader}) {
			return nil, fmt.Errorf("%s: an FST within gzip: it is read in places, so unpack it first", name)
		}
	}
	f := &File{name: name}
	v := &vcd{f: f, words: words{r: b, line: 1}}
	b2, err := v.header()
	if err != nil {
		return nil, err
	}
	f.Header, f.state, f.src = b2.h, newState(b2), v
	return f, nil
}

// NewFST reads an FST of a size in bytes. The name is for errors.
func NewFST(name string, r io.ReaderAt, size int64) (*File, error) {
	f := &File{name: name}
	t := &fst{f: f, r: r, size: size}
	b, err := t.open()
	if err != nil {
		f.Close()
		return nil, err
	}
	f.Header, f.state, f.src = b.h, newState(b), t
	return f, nil
}

// Close closes what Open opened.
func (f *File) Close() error {
	var errs []error
	for _, c := range f.closers {
		errs = append(errs, c.Close())
	}
	f.closers = nil
	return errors.Join(errs...)
}

// Next goes to the next time stamp. It is false at the end and after an error.
func (f *File) Next() bool {
	if f.err != nil {
		return false
	}
	f.begin()
	t, err := f.src.step(f.state)
	if err != nil {
		f.err = err
		return false
	}
	f.now = t
	return true
}

// Upcoming is the time that Next goes to, when it has been called before. It is false
// at the end and after an error, which Err then tells.
func (f *File) Upcoming() (uint64, bool) {
	if f.err != nil {
		return 0, false
	}
	t, err := f.src.upcoming(f.state)
	f.err = err
	return t, err == nil
}

// Err is why Next was false; nil at the end of the file.
func (f *File) Err() error {
	if f.err == io.EOF {
		return nil
	}
	return f.err
}

// Time is the present time in ticks.
func (f *File) Time() uint64 { return f.now }

// Changed are the IDs whose value may have changed at this time, each once, in an order
// that depends on the file alone. It is valid until Next.
func (f *File) Changed() []int32 { return f.changed }

// Raw is the present value: of Bits a digit of 01xzhuwl- a bit, of Event 1 if it
// happens now and else 0, of Real its 8 bytes, of String the text. What has no value yet
// is x, NaN or empty. It is valid until Next.
func (f *File) Raw(id int32) []byte {
	if f.kinds[id] == String {
		return f.texts[id]
	}
	return f.raw(id)
}

// Dumping is false from $dumpoff to $dumpon: values are not known.
func (f *File) Dumping() bool { return f.src.dumping() }

// Want limits what is read to some values, before the first Next. Others keep what
// they have; that saves an FST most of the work.
func (f *File) Want(ids []bool) { f.src.want(ids) }

// Notes are oddities so far that hide nothing.
func (f *File) Notes() []string { return f.notes }

func (f *File) note(format string, args ...any) {
	if len(f.notes) < maxNotes {
		f.notes = append(f.notes, fmt.Sprintf(format, args...))
	}
}
