package waves

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"
)

// shadow is an owner's memory as the file shows it, in words. A module of many registers
// mostly changes a few: only the variables are looked at that lie in a word that differs.
type shadow struct {
	was   []uint64
	moved []uint64 // words that differ from before, a bit each
	diff  []uint64 // of those, the bits that do
	cells []cell   // of the words
	quick []quick
}

// cell is what lies in a word of memory.
type cell struct {
	quick       uint64 // bits of the variables that are quick
	texts       uint64 // and of those of them that have names
	first, last int32  // of an owner's variables
}

// quick is what an FST needs of a variable that lies within a word: half the words that
// differ have one. It goes by the owner's shadow and touches no more.
type quick struct {
	head  uint32 // of its records, with the kind
	left  uint8  // shifts of the word that leave the value
	right uint8
	size  uint8 // bytes of a record; 0: it does not lie within a word, or depends on others
	flags uint8
}

const (
	quickBit  = 1 // the value is in the head
	quickText = 2 // an enum with its name
)

// newShadow is the shadow of variables of one owner, in the order of their places. An
// address depends on others' memory: with one, each word has them all.
func newShadow(own []shown, quicks []quick) shadow {
	gated := slices.ContainsFunc(own, func(d shown) bool { return d.how == asAddress })
	words := memoryWords(own)
	s := shadow{was: make([]uint64, words), moved: make([]uint64, (words+63)/64), diff: make([]uint64, words), cells: make([]cell, words), quick: quicks}
	if quicks == nil || gated {
		s.quick = make([]quick, len(own))
	}
	for w := range s.cells {
		at := uint32(w * 8)
		in := func(d shown) bool { return gated || d.off < at+8 && d.end() > at }
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
		s.cells[w] = newCell(s.quick, first, last)
	}
	return s
}

// newQuick is that of a variable, of size 0 if it has none.
func newQuick(d *shown) quick {
	if d.how == asBytes || d.off/8 != (d.end()-1)/8 {
		return quick{}
	}
	q := quick{head: d.code.record, right: uint8(bits.LeadingZeros64(d.mask)), size: 4}
	q.left = q.right - uint8(8*(d.off%8))
	if d.text != nil {
		q.flags |= quickText
	}
	if d.bit {
		q.flags |= quickBit
	} else {
		width := 64 - int(q.right)
		q.head |= kindOf(width)
		q.size += uint8(width+7) / 8
	}
	return q
}

// value is that of the variable in a word.
func (q *quick) value(word uint64) uint64 { return word << (q.left & 63) >> (q.right & 63) }

// mask is the bits of the variable in a word.
func (q *quick) mask() uint64 { return ^uint64(0) << q.right >> q.left }

// newCell is a word with these of an owner's variables.
func newCell(quicks []quick, first, last int) cell {
	c := cell{first: int32(first), last: int32(last)}
	for i := first; i < last; i++ {
		if q := &quicks[i]; q.size > 0 {
			c.quick |= q.mask()
			if q.flags&quickText != 0 {
				c.texts |= q.mask()
			}
		}
	}
	return c
}

// bytes is the size of the variable in memory.
func (d *shown) bytes() uint32 {
	if d.how == asBytes {
		return uint32(len(d.rare.wide))
	}
	return uint32(d.size)
}

// takeAll takes over all words; if they are new, as if each bit differed.
func (s *shadow) takeAll(now []uint64, fresh bool) {
	for g := range s.moved {
		at := g * 64
		now := now[at:min(at+64, len(now))]
		was, diff := s.was[at:at+len(now)], s.diff[at:at+len(now)]
		set := uint64(0)
		for i, v := range now {
			x := v ^ was[i]
			if fresh {
				x = ^uint64(0)
			}
			was[i], diff[i] = v, x
			set |= (x | -x) >> 63 << (i & 63)
		}
		s.moved[g] = set
	}
}

// take takes over words that differ, from a tape that says of each 64 which they are, and
// gives the rest of the tape.
func (s *shadow) take(w []uint64) []uint64 {
	for g := range s.moved {
		set := w[0]
		w = w[1:]
		s.moved[g] = set
		for ; set != 0; set &= set - 1 {
			i := g*64 + bits.TrailingZeros64(set)
			s.diff[i] = s.was[i] ^ w[0]
			s.was[i] = w[0]
			w = w[1:]
		}
	}
	return w
}

// changes appends the changes of the owner's variables since words were taken over.
func (s *shadow) changes(b []byte, own []shown) []byte {
	next := int32(0)
	for g, set := range s.moved {
		for ; set != 0; set &= set - 1 {
			i := g*64 + bits.TrailingZeros64(set)
			c, diff := &s.cells[i], s.diff[i]
			if diff&c.quick != 0 {
				b = c.append(b, s.quick, own, s.was[i], diff)
			}
			if diff&^c.quick == 0 {
				continue
			}
			for n := max(c.first, next); n < c.last; n++ {
				if s.quick[n].size == 0 {
					b = own[n].update(b, unsafe.Pointer(&s.was[0]))
					next = n + 1
				}
			}
		}
	}
	return b
}

// append appends the records of the quick variables of which bits differ. Which they are
// can't be foretold, and a branch that is mispredicted costs more than a record: each is
// written, and counts if it differs.
func (c *cell) append(b []byte, quicks []quick, own []shown, now, diff uint64) []byte {
	n := len(b)
	if cap(b)-n < cellRoom {
		b = slices.Grow(b, blockSlack)
	}
	b = b[:cap(b)]
	for i := c.first; i < c.last; i++ {
		q := &quicks[i]
		v, x := q.value(now), q.value(diff)
		binary.LittleEndian.PutUint32(b[n:], q.head|uint32(v)&uint32(q.flags&quickBit))
		binary.BigEndian.PutUint64(b[n+4:], v<<(q.right&63))
		n += int(int64(q.size) & (int64(x|-x) >> 63))
	}
	b = b[:n]
	if diff&c.texts != 0 {
		b = c.appendTexts(b, quicks, own, now, diff)
	}
	return b
}

// cellRoom is the bytes that the records of a word take at most, and one that does not count.
const cellRoom = (8 + 1) * recordRoom

func (c *cell) appendTexts(b []byte, quicks []quick, own []shown, now, diff uint64) []byte {
	for i := c.first; i < c.last; i++ {
		if q := &quicks[i]; q.flags&quickText != 0 && q.value(diff) != 0 {
			b = own[i].text.change(b, q.value(now), false)
		}
	}
	return b
}

// void appends that the owner's variables are x.
func (s *shadow) void(b []byte, own []shown) []byte {
	for i := range s.quick {
		q := &s.quick[i]
		if q.size == 0 {
			b = own[i].void(b)
			continue
		}
		b = binary.LittleEndian.AppendUint32(b, q.head&^(recordKinds-1)|recordX)
		if q.flags&quickText != 0 {
			b = own[i].text.change(b, 0, true)
		}
	}
	return b
}

// settle has variables say what the shadow has of them.
func (s *shadow) settle(own []shown, void bool) {
	for i := range s.quick {
		if q := &s.quick[i]; q.size != 0 {
			own[i].x = void
			own[i].last = q.value(s.was[own[i].off/8])
		}
	}
}
