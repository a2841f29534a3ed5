package read

import (
	"bytes"
	"encoding/binary"
	"math"
)

// state is the present value of each ID: of Bits and Event a digit a bit, of Real the
// float64 in 8 bytes, big-endian.
type state struct {
	kinds   []Kind
	at      []int32 // where it begins in bits
	bits    []byte
	texts   map[int32][]byte // of strings
	stamp   uint32           // of the step
	listed  []uint32         // the step in which an ID was last in changed
	changed []int32
	fired   []int32 // events of this step
}

func newState(b *builder) *state {
	s := &state{kinds: b.kinds, at: make([]int32, len(b.kinds)+1), bits: make([]byte, b.bits), listed: make([]uint32, len(b.kinds)), texts: map[int32][]byte{}}
	for i, w := range b.width {
		s.at[i+1] = s.at[i] + w
		v := s.bits[s.at[i]:s.at[i+1]]
		switch b.kinds[i] {
		case Bits:
			for j := range v {
				v[j] = 'x'
			}
		case Event:
			for j := range v {
				v[j] = '0'
			}
		case Real:
			binary.BigEndian.PutUint64(v, math.Float64bits(math.NaN()))
		}
	}
	return s
}

// begin begins a step.
func (s *state) begin() {
	if s.stamp++; s.stamp == 0 { // once in 2^32 steps
		clear(s.listed)
		s.stamp = 1
	}
	s.changed = s.changed[:0]
	for _, id := range s.fired {
		s.raw(id)[0] = '0'
	}
	s.fired = s.fired[:0]
}

// raw is where the value of an ID is.
func (s *state) raw(id int32) []byte { return s.bits[s.at[id]:s.at[id+1]] }

// list tells that an ID has changed.
func (s *state) list(id int32) {
	if s.listed[id] != s.stamp {
		s.listed[id] = s.stamp
		s.changed = append(s.changed, id)
	}
}

// digit sets a value of one bit.
func (s *state) digit(id int32, c byte) {
	v := &s.bits[s.at[id]]
	if s.kinds[id] == Event {
		if c == '1' {
			*v = '1'
			s.fired = append(s.fired, id)
			s.list(id)
		}
		return
	}
	if *v != c {
		*v = c
		s.list(id)
	}
}

// digits sets a value, at full width.
func (s *state) digits(id int32, d []byte) {
	v := s.raw(id)
	if !bytes.Equal(v, d) {
		copy(v, d)
		s.list(id)
	}
}

// real sets a number. One that is none is like another.
func (s *state) real(id int32, x float64) {
	v, u := s.raw(id), math.Float64bits(x)
	if x != x {
		u = math.Float64bits(math.NaN())
	}
	if binary.BigEndian.Uint64(v) != u {
		binary.BigEndian.PutUint64(v, u)
		s.list(id)
	}
}

// text sets a string.
func (s *state) text(id int32, t []byte) {
	if old := s.texts[id]; !bytes.Equal(old, t) {
		s.texts[id] = append(old[:0], t...)
		s.list(id)
	}
}

// digitOf is what digits become: lower case; 0 for what is none.
var digitOf = func() (t [256]byte) {
	for _, c := range []byte("01xzhuwl-") {
		t[c] = c
	}
	for _, c := range []byte("XZHUWL") {
		t[c] = c | 0x20
	}
	return
}()
