package read

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/pierrec/lz4/v4"
)

// Blocks of an FST. Each is a byte of what it is, and 8 of its length from the length on.
const (
	fstHeader     = 0
	fstChanges    = 1
	fstBlackout   = 2
	fstGeometry   = 3
	fstHierGzip   = 4
	fstAlias      = 5
	fstHierLZ4    = 6
	fstHierTwice  = 7
	fstAlias2     = 8
	fstWrapper    = 254
	fstUnfinished = 255
)

const fstHeaderSize = 330

// fst reads an FST.
type fst struct {
	f        *File
	r        io.ReaderAt
	size     int64
	swapped  bool // reals are little-endian
	head     fstCounts
	sections []section
	hier     block
	geometry block
	blackout []blackout
	wanted   []bool
	stream   stream
	cut      error // why the file ends, once all sections have been read
}

// fstCounts is what the header tells.
type fstCounts struct {
	begin, end            uint64
	scopes, vars, handles uint64
	sections              uint64
}

// block is a place in the file: of the byte that tells what it is, and the length from
// the byte after.
type block struct {
	kind byte
	at   int64
	size int64
}

// section is a block of changes.
type section struct {
	block
	begin, end uint64
}

// blackout begins or ends a time without values.
type blackout struct {
	time uint64
	on   bool
}

func (t *fst) fail(at int64, format string, args ...any) error {
	return &Error{File: t.f.name, Byte: at, Fault: fmt.Sprintf(format, args...)}
}

// bytes reads n bytes of a part that is called what.
func (t *fst) bytes(at, n int64, what string) ([]byte, error) {
	if n < 0 || at < 0 || at > t.size || n > t.size-at {
		return nil, t.fail(at, "%s of %d bytes goes beyond the end of the file at %d", what, n, t.size)
	}
	b := make([]byte, n)
	if _, err := t.r.ReadAt(b, at); err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", t.f.name, err)
	}
	return b, nil
}

// open reads all but the changes.
func (t *fst) open() (*builder, error) {
	first, err := t.bytes(0, min(t.size, 9), "a block")
	switch {
	case err != nil:
		return nil, err
	case len(first) > 0 && first[0] == fstWrapper:
		if err := t.unwrap(); err != nil {
			return nil, err
		}
	}
	b := newBuilder("FST")
	if err := t.header(b); err != nil {
		return nil, err
	}
	if err := t.walk(); err != nil {
		return nil, err
	}
	if t.hier.kind == 0 {
		return nil, t.fail(t.size, "there is no hierarchy: libfst writes it when it closes the file, so the writer was killed or is at work")
	}
	widths, err := t.widths()
	if err != nil {
		return nil, err
	}
	if err := t.hierarchy(b, widths); err != nil {
		return nil, err
	}
	return b, nil
}

// unwrap unpacks a file that is within gzip into one that is gone when it is closed.
func (t *fst) unwrap() error {
	h, err := t.bytes(0, 17, "the head of a packed FST")
	if err != nil {
		return err
	}
	want := binary.BigEndian.Uint64(h[9:])
	z, err := gzip.NewReader(io.NewSectionReader(t.r, 17, t.size-17))
	if err != nil {
		return t.fail(17, "gzip: %v", err)
	}
	if want > math.MaxInt64 || !plausible(int64(want), t.size) {
		return t.fail(9, "%d bytes in gzip say that they unpack to %d", t.size, want)
	}
	tmp, err := os.CreateTemp("", "rnic-*.fst")
	if err != nil {
		return err
	}
	os.Remove(tmp.Name())
	t.f.closers = append(t.f.closers, tmp)
	n, err := io.Copy(tmp, io.LimitReader(z, int64(want)))
	if err == nil && uint64(n) < want {
		err = fmt.Errorf("%d bytes of %d", n, want)
	}
	if err != nil {
		return t.fail(17, "gzip: %v", err)
	}
	t.f.name += " (within gzip)"
	t.r, t.size = tmp, n
	return nil
}

// header reads the first block.
func (t *fst) header(b *builder) error {
	h, err := t.bytes(0, fstHeaderSize, "the head")
	if err != nil {
		return err
	}
	u := func(at int) uint64 { return binary.BigEndian.Uint64(h[at:]) }
	if h[0] != fstHeader || u(1) != fstHeaderSize-1 {
		return t.fail(0, "neither a VCD nor an FST: the head of an FST begins with 0 and a length of 329")
	}
	switch {
	case math.Float64frombits(binary.LittleEndian.Uint64(h[25:])) == math.E:
		t.swapped = true
	case math.Float64frombits(u(25)) != math.E:
		return t.fail(25, "the order of bytes of reals is told by % x: must be e", h[25:33])
	}
	t.head = fstCounts{u(9), u(17), u(41), u(49), u(57), u(65)}
	b.h.Exponent = int(int8(h[73]))
	if b.h.Exponent < -21 || b.h.Exponent > 2 {
		return t.fail(73, "a tick of 1e%d s: must be 1e-21 to 100", b.h.Exponent)
	}
	text := func(b []byte) string {
		b, _, _ = bytes.Cut(b, []byte{0})
		return string(bytes.TrimSpace(b))
	}
	b.h.Version, b.h.Date = text(h[74:202]), text(h[202:321])
	if zero := u(322); zero != 0 {
		t.f.note("%s: time zero is at %d ticks, which is not added", t.f.name, int64(zero))
	}
	return nil
}

// walk finds the blocks.
func (t *fst) walk() error {
	for at := int64(fstHeaderSize); at < t.size; {
		if t.size-at < 9 {
			t.cut = t.fail(at, "the file ends within the head of a block")
			return nil
		}
		h, err := t.bytes(at, 9, "the head of a block")
		if err != nil {
			return err
		}
		size := int64(binary.BigEndian.Uint64(h[1:]))
		switch {
		case h[0] == fstUnfinished:
			t.f.note("%s: byte %d: a section was not finished when the writer ended", t.f.name, at)
			t.count(at)
			return nil
		case size < 8:
			return t.fail(at, "a block of %d bytes", size)
		case size > t.size-at-1:
			t.cut = t.fail(at, "a block of %d bytes is cut at %d", size, t.size-at-1)
			return nil
		}
		if err := t.block(block{h[0], at, size}); err != nil {
			return err
		}
		at += 1 + size
	}
	t.count(t.size)
	return nil
}

// count compares the sections with the head, which is not ahead of them.
func (t *fst) count(at int64) {
	if n := uint64(len(t.sections)); n < t.head.sections {
		t.cut = t.fail(at, "the file ends after %d sections of %d", n, t.head.sections)
	}
}

func (t *fst) block(b block) error {
	switch b.kind {
	case fstChanges, fstAlias, fstAlias2:
		h, err := t.bytes(b.at+9, 16, "the head of a section")
		if err != nil {
			return err
		}
		s := section{b, binary.BigEndian.Uint64(h), binary.BigEndian.Uint64(h[8:])}
		if s.end < s.begin {
			return t.fail(b.at+9, "a section from %d to %d", s.begin, s.end)
		}
		t.sections = append(t.sections, s)
	case fstGeometry:
		t.geometry = b
	case fstHierGzip, fstHierLZ4, fstHierTwice:
		t.hier = b
	case fstBlackout:
		return t.blackouts(b)
	case fstHeader:
		return t.fail(b.at, "a second head")
	default:
		return t.fail(b.at, "a block of kind %d", b.kind)
	}
	return nil
}

func (t *fst) blackouts(b block) error {
	data, err := t.bytes(b.at+9, b.size-8, "the blackouts")
	if err != nil {
		return err
	}
	c := chars{b: data}
	n := c.number()
	now := uint64(0)
	t.blackout = nil
	for range n {
		on := c.byte() != 0
		now += c.number()
		if c.short {
			return t.fail(b.at, "%d blackouts are in %d bytes", n, len(data))
		}
		t.blackout = append(t.blackout, blackout{now, on})
	}
	return nil
}

// plausible tells whether so many bytes can come of packed ones: zlib makes at most
// 1,032 of one, LZ4 255.
func plausible(unpacked, packed int64) bool {
	return unpacked >= 0 && unpacked/1032 <= packed+64
}

// inflate unpacks zlib to a known size; equal sizes mean that nothing is packed.
func inflate(b []byte, size int64) ([]byte, error) {
	if size == int64(len(b)) {
		return b, nil
	}
	return unzip(b, size)
}

// unzip unpacks zlib to a known size.
func unzip(b []byte, size int64) ([]byte, error) {
	if !plausible(size, int64(len(b))) {
		return nil, fmt.Errorf("%d bytes say that they unpack to %d", len(b), size)
	}
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	out := make([]byte, size)
	if n, err := io.ReadFull(z, out); err != nil {
		return nil, fmt.Errorf("%d bytes of %d", n, size)
	}
	return out, nil
}

// unlz4 unpacks a block of LZ4 into all of dst.
func unlz4(dst, b []byte) error {
	n, err := lz4.UncompressBlock(b, dst)
	if err == nil && n != len(dst) {
		err = fmt.Errorf("%d bytes of %d", n, len(dst))
	}
	return err
}
