// Package whole writes files that are there as a whole or not at all: beside, under the name
// with Part behind it, and renamed when all of it is written. So a full disk, or the end of
// the process, leaves the file of before, or none, but no half under its name.
//
// What is no regular file, as a FIFO that somebody reads, is written to directly. It is for
// files that are made at once; those that grow during a run, as waves, are read while they do.
package whole

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Part is the ending of what is not whole yet: what a process leaves that was killed.
const Part = ".part"

// Write writes a file by save. An error names the file, and leaves it as it was.
func Write(path string, save func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	if err := save(f); err != nil && (f.err == nil || errors.Is(err, f.err)) {
		f.err = err // what save says of an error of the file has more words
	}
	return f.Close()
}

// WriteBytes is Write of bytes that are there.
func WriteBytes(path string, b []byte) error {
	return Write(path, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// File is a file that is being written.
type File struct {
	f    *os.File
	name string // as it was given, for errors
	path string // where it will be; empty: it is written to directly
	err  error  // the first
}

// Create begins a file, which Close puts in its place.
func Create(path string) (*File, error) {
	f := &File{name: path, path: path}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		f.path = to // a link stays one
	}
	at := f.path + Part
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		at, f.path = path, ""
	}
	w, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, f.named(err)
	}
	f.f = w
	return f, nil
}

// Write is of io.Writer. After an error the file is not put in its place.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.f.Write(b)
	if err = f.named(err); err != nil && f.err == nil {
		f.err = err
	}
	return n, err
}

// Close puts the file in its place, or after an error, which it returns, removes it.
func (f *File) Close() error {
	if err := f.f.Close(); f.err == nil {
		f.err = f.named(err)
	}
	if f.path == "" {
		return f.err
	}
	if f.err == nil {
		f.err = f.named(os.Rename(f.f.Name(), f.path))
	}
	if f.err != nil {
		_ = os.Remove(f.f.Name()) // what matters is why
	}
	return f.err
}

// named has an error tell the name that was given, and not that of the part.
func (f *File) named(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		e.Path = f.name
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		return &os.PathError{Op: "write", Path: f.name, Err: e.Err}
	}
	return err
}
