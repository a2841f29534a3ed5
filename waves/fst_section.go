package waves

import (
	"encoding/binary"
	"io"
	"slices"
)

const (
	// sectionSize is the bytes of changes, before compression, after which a section
	// of an FST is written, or after sectionSpan. The first of the run has firstSection,
	// or more if there are many variables, for a section costs a byte or two of each; and
	// each later one has twice as many as the one before, so that little is lost of a run
	// that is killed early.
	sectionSize  = 8 << 20
	sectionSpan  = 100_000_000_000 // ps: 100 ms
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
	raw        int // bytes of changes in full chunks

	flat  []byte // a trail, in whole
	full  []full
	store []byte // of chunks
	cut   int    // bytes of it that are given out
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

func newFSTSink(w io.WriterAt, root *node, vars []*Var, p Profile, start int64) *fstSink {
	s := &fstSink{now: start, out: newFSTWriter(w, root, vars, p)}
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
	// No tool opens a file without a section: the first is of this instant, all x.
	s.out.head.start = start
	s.open(start)
	s.cut(max(firstSection, firstPerVar*len(vars)))
	return s
}

func newSection(vars []*Var) *section {
	sec := &section{trails: make([]trail, len(vars)+1)} // by handle, from 1
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
	if !s.begun {
		s.begun = true // at the start, where the section begins
	} else {
		s.cutBefore(ps)
		s.sec.times = binary.AppendUvarint(s.sec.times, uint64(ps-s.now))
		s.sec.stamps++
		s.stamp++
	}
	s.now = ps
	return s.err
}

// cutBefore ends the section if it is large, or if it has something of long ago, which is
// to be in the file whatever becomes of the run.
func (s *fstSink) cutBefore(ps int64) {
	switch {
	case s.sec.raw >= s.limit:
		s.cut(min(2*s.limit, sectionSize))
	case s.due(ps):
		s.cut(s.limit)
	}
}

func (s *fstSink) due(ps int64) bool { return s.stamp > 0 && ps-s.sec.begin >= sectionSpan }

// passed ends a section that the next change would end, for it may be long in coming.
func (s *fstSink) passed(ps int64) error {
	if s.err == nil && s.due(ps) {
		s.cutBefore(ps)
	}
	return s.err
}

// open begins a section at a time.
func (s *fstSink) open(ps int64) {
	s.sec.begin = ps
	s.sec.times = binary.AppendUvarint(s.sec.times[:0], uint64(ps))
	s.sec.stamps, s.sec.raw, s.stamp = 1, 0, 0
}

// cut ends the section at the present time and begins the next, with its limit.
func (s *fstSink) cut(limit int) {
	old := s.sec
	old.end = s.now
	next, err := s.out.give(old)
	if s.err = err; next == nil {
		return
	}
	s.sec = next
	s.limit = limit
	s.sec.reserve(s.limit)
	s.open(s.now)
}

// changes takes records.
func (s *fstSink) changes(b []byte) error {
	if s.err != nil {
		return s.err
	}
	sec, stamp, trails := s.sec, s.stamp, s.sec.trails
	end := len(b)
	b = slices.Grow(b, recordRoom)[:end+recordRoom]
	for at := 0; at < end; {
		head := binary.LittleEndian.Uint32(b[at:])
		at += 4
		t := &trails[head/recordKinds]
		kind := head % recordKinds
		t.kind = uint8(kind)
		behind := uint64(stamp - t.last)
		t.last = stamp
		if t.room-t.end < recordRoom {
			sec.room(t, recordRoom)
		}
		if kind == recordLong || kind == recordX {
			at += s.long(t, behind, b[at:end])
			continue
		}
		// Bits and vectors in one way: which it is can't be foretold.
		bit := (kind - recordX) >> 31
		v := behind<<(1+bit) | uint64(kind<<1&-bit)
		c := sec.store[t.end:t.room]
		size := uint32(valueSize[kind])
		var n uint32
		if v < 1<<14 { // PutUvarint; nor whether it is one byte or two
			two := uint32((0x7f - v) >> 63)
			binary.LittleEndian.PutUint16(c, uint16(uint32(v)&0x7f|two<<7|uint32(v)>>7<<8))
			n = 1 + two
		} else {
			n = uint32(binary.PutUvarint(c, v))
		}
		binary.LittleEndian.PutUint64(c[n:], binary.LittleEndian.Uint64(b[at:]))
		t.end += n + size
		at += int(size)
	}
	return nil
}

// valueSize is the bytes of values that are not long.
var valueSize = [recordKinds]uint8{recordShort: 1, 2, 3, 4, 5, 6, 7, 8}

// recordRoom is what a change takes at most that is not long.
const recordRoom = binary.MaxVarintLen32 + 1 + 8

// long takes the value of a string, of a long vector or of a vector that is x, and tells
// how many bytes of b it is.
func (s *fstSink) long(t *trail, behind uint64, b []byte) int {
	var v []byte
	switch {
	case t.kind == recordX && t.width <= 1:
		behind = behind<<4 | 1
	case t.kind == recordX:
		t.holes = true // its digits come with whole
		behind = behind<<1 | 1
		s.sec.raw += int(t.width)
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
	c := s.sec.store[:t.room]
	at := t.end + uint32(binary.PutUvarint(c[t.end:], behind))
	at += uint32(copy(c[at:], v))
	t.end = at
	return len(v)
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
