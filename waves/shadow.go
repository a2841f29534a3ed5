package waves

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"
)

// shadow is an owner's memory as the file shows it. A module of many registers mostly
// changes a few: words of memory are compared with words, and only the variables are
// looked at that lie in one that differs. Memory of owners is whole words.
type shadow struct {
	bytes []byte // from the owner's base on
	lines []span // with the words, 8 in each, that hold variables
	words []span // with the variables
	quick []quick
}

// span is a stretch of memory and what lies in it: of a line words, of a word variables.
type span struct{ at, first, last int32 }

// quick is what an FST needs of a variable that lies within a word: half the words that
// differ have one. It goes by the owner's shadow and touches no more.
type quick struct {
	mask  uint64 // of the word; 0: of another kind
	head  uint32 // of its records, with the kind
	shift uint8  // of its value in the word
	spare uint8  // bits by which the value is justified
	size  uint8  // bytes of a record
	text  bool   // an enum with its name
}

const (
	leastShadow = 4  // variables of an owner that are worth a shadow in a VCD
	lineSize    = 64 // bytes that are compared at once
)

// newShadow is the shadow of variables of one owner, in the order of their places; nil if
// they are few. An address depends on others' memory: with one, each word has them all.
func newShadow(own []shown, quicks []quick) *shadow {
	if len(own) < leastShadow && quicks == nil {
		return nil
	}
	end := uint32(0)
	gated := false
	for i := range own {
		end = max(end, own[i].end())
		gated = gated || own[i].how == asAddress
	}
	if gated {
		end++ // for the gates, which lie right behind
	}
	s := &shadow{bytes: make([]byte, (end+7)&^7), quick: quicks}
	if quicks == nil || gated {
		s.quick = make([]quick, len(own))
	}
	for w := uint32(0); w < uint32(len(s.bytes)); w += 8 {
		in := func(d shown) bool { return gated || d.off < w+8 && d.end() > w }
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
		n := int32(len(s.words))
		if line := int32(w &^ (lineSize - 1)); len(s.lines) == 0 || s.lines[len(s.lines)-1].at != line {
			s.lines = append(s.lines, span{line, n, n})
		}
		s.lines[len(s.lines)-1].last++
		s.words = append(s.words, span{int32(w), int32(first), int32(last)})
	}
	return s
}

func newQuick(d *shown) quick {
	if d.how == asBytes || d.off/8 != (d.end()-1)/8 {
		return quick{}
	}
	q := quick{head: d.code.record, shift: uint8(8 * (d.off % 8)), spare: uint8(bits.LeadingZeros64(d.mask)), size: 4, text: d.text != nil}
	q.mask = d.mask << q.shift
	if !d.bit {
		width := 64 - int(q.spare)
		q.head |= kindOf(width)
		q.size += uint8(width+7) / 8
	}
	return q
}

// bytes is the size of the variable in memory.
func (d *shown) bytes() uint32 {
	if d.how == asBytes {
		return uint32(len(d.rare.wide))
	}
	return uint32(d.size)
}

// update appends the changes of the owner's variables; all of them if they were void.
func (s *shadow) update(b []byte, own []shown, base unsafe.Pointer, all bool) []byte {
	now := unsafe.Slice((*byte)(base), len(s.bytes))
	next := int32(0)
	for i := range s.lines {
		l := &s.lines[i]
		if end := l.at + lineSize; !all && int(end) <= len(now) && *(*[8]uint64)(unsafe.Pointer(&now[l.at])) == *(*[8]uint64)(unsafe.Pointer(&s.bytes[l.at])) {
			continue
		}
		for j := l.first; j < l.last; j++ {
			w := &s.words[j]
			v := binary.LittleEndian.Uint64(now[w.at:])
			diff := v ^ binary.LittleEndian.Uint64(s.bytes[w.at:])
			if diff == 0 && !all {
				continue
			}
			binary.LittleEndian.PutUint64(s.bytes[w.at:], v)
			for n := w.first; n < w.last; n++ {
				switch q := &s.quick[n]; {
				case q.mask == 0:
					if n >= next {
						b = own[n].update(b, base)
						next = n + 1
					}
				case diff&q.mask != 0 || all:
					b = q.append(b, v)
					if q.text {
						b = own[n].text.change(b, v&q.mask>>q.shift, false)
					}
				}
			}
		}
	}
	return b
}

// append appends the record of the variable in a word.
func (q *quick) append(b []byte, word uint64) []byte {
	v := word & q.mask >> q.shift
	if q.size == 4 {
		return binary.LittleEndian.AppendUint32(b, q.head|uint32(v))
	}
	n := len(b) + int(q.size)
	b = binary.LittleEndian.AppendUint32(b, q.head)
	return binary.BigEndian.AppendUint64(b, v<<q.spare)[:n]
}

// void appends that the owner's variables are x.
func (s *shadow) void(b []byte, own []shown) []byte {
	for i := range s.quick {
		q := &s.quick[i]
		if q.mask == 0 {
			b = own[i].void(b)
			continue
		}
		b = binary.LittleEndian.AppendUint32(b, q.head&^(recordKinds-1)|recordX)
		if q.text {
			b = own[i].text.change(b, 0, true)
		}
	}
	return b
}

// settle has variables say what the shadow has of them.
func (s *shadow) settle(own []shown, void bool) {
	for i, q := range s.quick {
		if q.mask != 0 {
			own[i].x = void
			own[i].last = binary.LittleEndian.Uint64(s.bytes[own[i].off&^7:]) & q.mask >> q.shift
		}
	}
}
