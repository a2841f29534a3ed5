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
	sectionSize  = 16 << 20
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
}

// trail is the changes of a variable in a section, as the file has them: each with how
// many time stamps it is behind the one before.
type trail struct {
	chain []byte
	last  uint32 // time stamp of the last change
	at    uint32 // of a vector: where in chain its last value is
	width uint32 // bits; 0: a string
	size  uint16 // bytes of a vector's value
	kind  uint8  // of the last record
}

// fstSink sorts records by variable into sections, which a goroutine of its own
// compresses and writes: there are two, one of which is filled.
type fstSink struct {
	sec   *section
	raw   int // bytes in chains
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
	sec := &section{trails: make([]trail, len(vars)+1)} // by handle, from 1
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
	raw := s.raw
	for len(b) > 0 {
		head := binary.LittleEndian.Uint32(b)
		b = b[4:]
		t := &trails[head>>2]
		t.kind = uint8(head & recordKind)
		behind := uint64(s.stamp - t.last)
		t.last = s.stamp
		c := t.chain
		raw -= len(c)
		switch {
		case t.size > 0 && t.kind != recordX:
			c = appendBehind(c, behind<<1)
			t.at = uint32(len(c))
			c = append(c, b[:t.size]...)
			b = b[t.size:]
		case t.width == 0:
			c = appendBehind(c, behind<<1)
			n, k := binary.Uvarint(b)
			c = append(c, b[:k+int(n)]...)
			b = b[k+int(n):]
		case t.size > 0:
			c = append(appendBehind(c, behind<<1|1), s.xs[:t.width]...)
		case t.kind == recordX:
			c = appendBehind(c, behind<<4|1)
		default:
			c = appendBehind(c, behind<<2|uint64(t.kind))
		}
		raw += len(c)
		t.chain = c
	}
	s.raw = raw
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

// advance brings a frame from the values at a section's beginning to those at its end.
func (sec *section) advance(frame []byte) {
	for i := range sec.trails[1:] {
		t := &sec.trails[i+1]
		f := frame[:t.width]
		frame = frame[t.width:]
		switch {
		case len(t.chain) == 0:
		case t.kind == recordX:
			for j := range f {
				f[j] = 'x'
			}
		case t.width == 1:
			f[0] = '0' + t.kind>>1
		default:
			for j := range f {
				f[j] = '0' + t.chain[int(t.at)+j/8]>>(7-j&7)&1
			}
		}
	}
}
