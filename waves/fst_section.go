package waves

import (
	"encoding/binary"
	"io"
)

const (
	// sectionSize is the bytes of changes, before compression, after which a section
	// of an FST is written. The first has firstSection, or more if there are many
	// variables, for a section costs a byte or two of each; and each later one has
	// twice as many as the one before, so that little is lost of a run that is killed
	// early.
	sectionSize  = 8 << 20
	firstSection = 64 << 10
	firstPerVar  = 32
)

// section is a stretch of time of an FST: the values at its beginning, and each
// variable's changes one after the other.
type section struct {
	begin, end int64  // ps
	frame      []byte // values at the beginning: a digit a bit, of all but strings
	trails     []trail
	times      []byte // differences, the first from 0
	stamps     int

	full  []full
	slabs [][]byte
	slab  int // that is being cut
	cut   int // bytes of it
}

// fstSink sorts records by variable into sections, which a goroutine of its own
// compresses and writes: there are two, one of which is filled.
type fstSink struct {
	sec   *section
	raw   int // bytes in trails
	limit int // of raw
	now   int64
	stamp uint32 // number of now in the section
	begun bool
	xs    []byte // as many x as the widest variable has bits
	err   error
	out   *fstWriter
}

func newFSTSink(w io.WriterAt, root *node, vars []*Var, p Profile) *fstSink {
	s := &fstSink{limit: max(firstSection, firstPerVar*len(vars)), out: newFSTWriter(w, root, vars, p)}
	widest, digits := 0, 0
	for _, v := range vars {
		if !v.text() {
			widest = max(widest, v.Width)
			digits += v.Width
		}
	}
	s.xs = make([]byte, max(widest, digits))
	for i := range s.xs {
		s.xs[i] = 'x'
	}
	for range 2 {
		s.out.free <- newSection(vars)
	}
	s.sec = <-s.out.free
	s.sec.frame = append(s.sec.frame, s.xs[:digits]...)
	s.err = s.out.err()
	return s
}

func newSection(vars []*Var) *section {
	sec := &section{trails: make([]trail, len(vars)+1), slabs: [][]byte{make([]byte, slabSize)}} // by handle, from 1
	sec.reset()
	for i, v := range vars {
		if t := &sec.trails[i+1]; !v.text() {
			t.width = uint32(v.Width)
			if v.Width > 1 {
				t.size = uint16((v.Width + 7) / 8)
			}
		}
	}
	return sec
}

func (s *fstSink) dump(bool) {}

func (s *fstSink) time(ps int64) error {
	switch {
	case !s.begun:
		s.begun = true
		s.out.head.start = ps
		s.open(ps)
	case s.raw >= s.limit:
		s.cut()
		fallthrough
	default:
		s.sec.times = binary.AppendUvarint(s.sec.times, uint64(ps-s.now))
		s.sec.stamps++
		s.stamp++
	}
	s.now = ps
	return s.err
}

// open begins a section at a time.
func (s *fstSink) open(ps int64) {
	s.sec.begin = ps
	s.sec.times = binary.AppendUvarint(s.sec.times[:0], uint64(ps))
	s.sec.stamps, s.stamp, s.raw = 1, 0, 0
}

// cut ends the section at the present time and begins the next.
func (s *fstSink) cut() {
	old := s.sec
	old.end = s.now
	next, err := s.out.give(old)
	if s.err = err; next == nil {
		return
	}
	s.sec = next
	s.limit = min(2*s.limit, sectionSize)
	s.open(s.now)
}

// changes takes records.
func (s *fstSink) changes(b []byte) error {
	if s.err != nil {
		return s.err
	}
	trails := s.sec.trails
	raw := 0
	for len(b) > 0 {
		head := binary.LittleEndian.Uint32(b)
		b = b[4:]
		t := &trails[head>>2]
		t.kind = uint8(head & recordKind)
		behind := uint64(s.stamp - t.last)
		t.last = s.stamp
		need := binary.MaxVarintLen32 + 1 + int(t.size)
		switch {
		case t.width == 0:
			n, k := binary.Uvarint(b)
			need += k + int(n)
		case t.kind == recordX:
			need += int(t.width)
		}
		if need > cap(t.chunk)-len(t.chunk) {
			s.sec.room(t, need)
		}
		c := t.chunk
		raw -= len(c)
		switch {
		case t.size > 0 && t.kind != recordX:
			c = appendBehind(c, behind<<1)
			t.at = uint32(len(c))
			c = append(c, b[:t.size]...)
			b = b[t.size:]
		case t.width == 0:
			n := need - binary.MaxVarintLen32 - 1
			c = append(appendBehind(c, behind<<1), b[:n]...)
			b = b[n:]
		case t.size > 0:
			c = append(appendBehind(c, behind<<1|1), s.xs[:t.width]...)
		case t.kind == recordX:
			c = appendBehind(c, behind<<4|1)
		default:
			c = appendBehind(c, behind<<2|uint64(t.kind))
		}
		raw += len(c)
		t.chunk = c
	}
	s.raw += raw
	return nil
}

// appendBehind is AppendUvarint, inlined for what is mostly one byte.
func appendBehind(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	return binary.AppendUvarint(b, v)
}

func (s *fstSink) end() error {
	if s.begun && s.err == nil {
		s.sec.end = s.now
		s.out.jobs <- s.sec
	}
	if err := s.out.finish(); s.err == nil {
		s.err = err
	}
	return s.err
}
