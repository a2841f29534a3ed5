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
	raw        int // bytes of changes in the file, before compression

	flat  []byte // a trail, in whole
	full  []full
	slabs [][]byte
	slab  int // that is being cut
	cut   int // bytes of it
}

// fstSink sorts records by variable into sections, which a goroutine of its own
// compresses and writes: there are two, one of which is filled.
type fstSink struct {
	sec   *section
	limit int // of the section's raw
	now   int64
	stamp uint32 // number of now in the section
	begun bool
	err   error
	out   *fstWriter
}

func newFSTSink(w io.WriterAt, root *node, vars []*Var, p Profile) *fstSink {
	s := &fstSink{limit: max(firstSection, firstPerVar*len(vars)), out: newFSTWriter(w, root, vars, p)}
	digits := 0
	for _, v := range vars {
		if !v.text() {
			digits += v.Width
		}
	}
	for range 2 {
		s.out.free <- newSection(vars)
	}
	s.sec = <-s.out.free
	s.sec.frame = appendX(s.sec.frame, digits)
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
	case s.sec.raw >= s.limit:
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
	s.sec.stamps, s.sec.raw, s.stamp = 1, 0, 0
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
	sec, stamp, trails := s.sec, s.stamp, s.sec.trails
	raw := 0
	for len(b) >= 4 {
		head := binary.LittleEndian.Uint32(b)
		b = b[4:]
		t := &trails[head/recordKinds]
		kind := head % recordKinds
		t.kind = uint8(kind)
		behind := uint64(stamp - t.last)
		t.last = stamp
		if kind == recordLong || kind == recordX && t.width > 1 {
			b = b[s.long(t, behind, b):]
			continue
		}
		if t.room-t.end < recordRoom {
			sec.room(t, recordRoom)
		}
		c := sec.slabs[t.slab][t.end:t.room]
		n := uint32(0)
		switch {
		case kind == recordX:
			n = putBehind(c, 0, behind<<4|1)
		case kind < recordX:
			n = putBehind(c, 0, behind<<2|uint64(kind)<<1)
		default:
			n = putBehind(c, 0, behind<<1)
			size := kind - (recordShort - 1)
			if cap(b) >= 8 { // a word costs less than so many bytes
				binary.LittleEndian.PutUint64(c[n:], binary.LittleEndian.Uint64(b[:8]))
			} else {
				copy(c[n:], b[:size])
			}
			n += size
			b = b[size:]
		}
		raw += int(n)
		t.end += n
	}
	sec.raw += raw
	return nil
}

// recordRoom is what a change takes at most that is not long.
const recordRoom = binary.MaxVarintLen32 + 1 + 8

// long takes the value of a string, of a long vector or of a vector that is x, and tells
// how many bytes of b it is.
func (s *fstSink) long(t *trail, behind uint64, b []byte) int {
	var v []byte
	raw := 0
	switch {
	case t.kind == recordX:
		t.holes = true // its digits come with whole
		behind = behind<<1 | 1
		raw = int(t.width)
	case t.width == 0:
		n, k := binary.Uvarint(b)
		v = b[:k+int(n)]
		behind <<= 1
	default:
		v = b[:t.size]
		behind <<= 1
	}
	if need := recordRoom + len(v); need > int(t.room-t.end) {
		s.sec.room(t, need)
	}
	c := s.sec.slabs[t.slab][:t.room]
	at := putBehind(c, t.end, behind)
	at += uint32(copy(c[at:], v))
	s.sec.raw += int(at-t.end) + raw
	t.end = at
	return len(v)
}

// putBehind is PutUvarint at a place, inlined for what is mostly one byte.
func putBehind(b []byte, at uint32, v uint64) uint32 {
	if v < 0x80 {
		b[at] = byte(v)
		return at + 1
	}
	return at + uint32(binary.PutUvarint(b[at:], v))
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
