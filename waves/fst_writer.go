package waves

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"io"
	"slices"
	"sync/atomic"
)

// fstWriter compresses and writes sections in a goroutine of its own. The order of
// writes is such that the file can be read at any time: a section counts only when all
// of it is there.
type fstWriter struct {
	w      io.WriterAt
	at     int64
	head   fstHead
	jobs   chan *section
	free   chan *section
	done   chan struct{}
	failed atomic.Pointer[error]

	lz     lz4Table
	zip    *zlib.Writer
	twin   []byte // a chain
	packed []byte // one, compressed
	index  []byte
	out    []byte
	twins  map[uint64]int // chains of the section by sample
}

// newFSTWriter begins a file with what is known from the start. It is written here,
// for a file that has no section yet should say at least what it is of.
func newFSTWriter(w io.WriterAt, root *node, vars []*Var, p Profile) *fstWriter {
	h := newHierarchy(root, p)
	f := &fstWriter{
		w: w, head: fstHead{scopes: h.scopes, vars: len(vars)}, twins: map[uint64]int{},
		jobs: make(chan *section, 1), free: make(chan *section, 2), done: make(chan struct{}),
	}
	geo := geometry(vars)
	f.zip, _ = zlib.NewWriterLevel(nil, zlib.BestSpeed)
	packed := f.deflate(nil, geo)
	b := fstBlock(f.head.bytes(), fstGeometry, 24+len(packed))
	b = binary.BigEndian.AppendUint64(b, uint64(len(geo)))
	b = binary.BigEndian.AppendUint64(b, uint64(len(vars)))
	b = append(b, packed...)
	packed = gzipped(h.b)
	b = fstBlock(b, fstTree, 16+len(packed))
	b = binary.BigEndian.AppendUint64(b, uint64(len(h.b)))
	b = append(b, packed...)
	f.write(b, 0)
	f.at = int64(len(b))
	go f.run()
	return f
}

// write writes at a place, unless a write has failed.
func (f *fstWriter) write(b []byte, at int64) {
	if f.failed.Load() == nil {
		if _, err := f.w.WriteAt(b, at); err != nil {
			err = wrap(err)
			f.failed.Store(&err)
		}
	}
}

func (f *fstWriter) err() error {
	if err := f.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// give has a section written, and gives one to fill next: none after an error.
func (f *fstWriter) give(sec *section) (*section, error) {
	next := <-f.free
	next.frame = append(next.frame[:0], sec.frame...)
	sec.advance(next.frame)
	f.jobs <- sec
	return next, f.err()
}

// finish waits until all is written.
func (f *fstWriter) finish() error {
	close(f.jobs)
	<-f.done
	return f.err()
}

func (f *fstWriter) run() {
	defer close(f.done)
	for sec := range f.jobs {
		if f.failed.Load() == nil {
			f.section(sec)
		}
		sec.reset()
		f.free <- sec
	}
}

// section writes a section. Until it is whole it is marked as one to skip.
func (f *fstWriter) section(sec *section) {
	const fixed = 9 + 3*8
	frame := f.deflate(make([]byte, 0, 4096), sec.frame)
	b := slices.Grow(f.out[:0], fixed+sec.raw+len(sec.frame)+len(sec.trails))[:fixed]
	vars := len(sec.trails) - 1
	for _, n := range []int{len(sec.frame), len(frame), vars} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = append(b, frame...)
	b = binary.AppendUvarint(b, uint64(vars))
	b, unpacked := f.pack(b, sec)
	b = append(b, f.index...)
	b = binary.BigEndian.AppendUint64(b, uint64(len(f.index)))
	start := len(b)
	b = f.deflate(b, sec.times)
	for _, n := range []int{len(sec.times), len(b) - start, sec.stamps} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	head := fstBlock(b[:0], fstSkip, len(b)-1)
	for _, v := range []uint64{uint64(sec.begin), uint64(sec.end), uint64(unpacked)} {
		head = binary.BigEndian.AppendUint64(head, v)
	}
	f.out = b
	f.write(b, f.at)
	f.write([]byte{fstSection}, f.at)
	f.at += int64(len(b))
	f.head.sections++
	f.head.end = sec.end
	f.write(f.head.bytes(), 0)
}

// deflate appends zlib's form, or the bytes as they are if that is no shorter.
func (f *fstWriter) deflate(dst, b []byte) []byte {
	z := bytes.NewBuffer(dst)
	f.zip.Reset(z)
	f.zip.Write(b)
	f.zip.Close()
	if z.Len()-len(dst) >= len(b) {
		return append(dst, b...)
	}
	return z.Bytes()
}

func gzipped(b []byte) []byte {
	var z bytes.Buffer
	w, _ := gzip.NewWriterLevel(&z, gzip.BestSpeed)
	w.Write(b)
	w.Close()
	return z.Bytes()
}
