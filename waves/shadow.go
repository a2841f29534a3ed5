package waves

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// shadow is an owner's memory as the file shows it. A module of many registers mostly
// changes a few: words of memory are compared with words, and only the variables are
// looked at that lie in one that differs.
type shadow struct {
	off   uintptr // in the owner's memory
	bytes []byte
	words []span // of bytes, 8 each, of which the last may overlap the one before
}

// span is a word, and the first of the owner's variables, and the first not, that lie in it.
type span struct{ at, first, last int32 }

// leastShadow is the variables of an owner that are worth a shadow.
const leastShadow = 4

// newShadow is the shadow of variables of one owner, in the order of their places; nil if
// they are few. An address depends on others' memory: with one, each word has them all.
func newShadow(own []shown) *shadow {
	if len(own) < leastShadow {
		return nil
	}
	end := uint32(0)
	gated := false
	for i := range own {
		end = max(end, own[i].end())
		gated = gated || own[i].how == asAddress
	}
	if gated {
		end = (end + 7) &^ 7 // the gates lie right behind
	}
	s := &shadow{off: uintptr(own[0].off), bytes: make([]byte, end-own[0].off)}
	if len(s.bytes) < 8 {
		return nil
	}
	for p := 0; p < len(s.bytes); p += 8 {
		w := min(p, len(s.bytes)-8)
		lo := own[0].off + uint32(w)
		in := func(d shown) bool { return gated || d.off < lo+8 && d.end() > lo }
		first := slices.IndexFunc(own, in)
		if first < 0 {
			continue // padding, or what has no name
		}
		last := first
		for i := range own {
			if in(own[i]) {
				last = i + 1
			}
		}
		s.words = append(s.words, span{int32(w), int32(first), int32(last)})
	}
	return s
}

// bytes is the size of the variable in memory.
func (d *shown) bytes() uint32 {
	if d.how == asBytes {
		return uint32(len(d.rare.wide))
	}
	return uint32(d.size)
}

// update appends the changes of the owner's variables.
func (s *shadow) update(b []byte, own []shown, base unsafe.Pointer) []byte {
	now := unsafe.Slice((*byte)(unsafe.Add(base, s.off)), len(s.bytes))
	next := int32(0)
	for i := range s.words {
		w := &s.words[i]
		v := binary.LittleEndian.Uint64(now[w.at:])
		if v == binary.LittleEndian.Uint64(s.bytes[w.at:]) {
			continue
		}
		binary.LittleEndian.PutUint64(s.bytes[w.at:], v)
		for next = max(next, w.first); next < w.last; next++ {
			b = own[next].update(b, base)
		}
	}
	return b
}

// refill takes over memory whose variables have all been looked at.
func (s *shadow) refill(base unsafe.Pointer) {
	copy(s.bytes, unsafe.Slice((*byte)(unsafe.Add(base, s.off)), len(s.bytes)))
}
