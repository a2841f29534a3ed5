package waves

import (
	"encoding/binary"
	"slices"
)

// trail is the changes of a variable in a section, as the file has them, but for the digits
// of a vector that is x: each with how many time stamps it is behind the one before. It is
// half a line of the cache, for there are thousands and each change needs one.
type trail struct {
	start uint32 // of the chunk that is being filled; a change lies in one chunk
	end   uint32 // of what is in it
	room  uint32 // where it ends
	more  int32  // the full chunks before it: a place in section.full, or -1
	last  uint32 // time stamp of the last change
	width uint32 // bits; 0: a string
	size  uint16 // bytes of a vector's value
	kind  uint8  // of the last record
	holes bool   // of a vector that was x, whose digits are left out
}

// full is a chunk that is full, and the one before it.
type full struct {
	start, end uint32
	more       int32
	bytes      int // in it and in those before
}

// Chunks of a trail have as many bytes as all before them, within bounds, so that no
// more is reserved than twice what is used, and trails of a few changes need little.
const (
	leastChunk = 64
	mostChunk  = 4096
)

// before is the bytes in the full chunks of a trail.
func (sec *section) before(t *trail) int {
	if t.more < 0 {
		return 0
	}
	return sec.full[t.more].bytes
}

// room has the trail's chunk take so many bytes more.
func (sec *section) room(t *trail, n int) {
	bytes := sec.before(t) + int(t.end-t.start)
	if t.end > t.start {
		sec.raw += int(t.end - t.start)
		sec.full = append(sec.full, full{t.start, t.end, t.more, bytes})
		t.more = int32(len(sec.full) - 1)
	}
	size := max(n, min(max(bytes, leastChunk), mostChunk))
	if sec.cut+size > len(sec.store) {
		sec.store = append(sec.store, make([]byte, size+sectionSize/4)...) // for very long texts
	}
	t.start, t.end, t.room = uint32(sec.cut), uint32(sec.cut), uint32(sec.cut+size)
	sec.cut += size
}

// reserve has the store of an empty section take so many bytes of changes, in whatever
// trails: chunks are full to the half at least.
func (sec *section) reserve(limit int) {
	if n := 2*limit + leastChunk*(len(sec.trails)-1); n > len(sec.store) {
		sec.store = make([]byte, n)
	}
}

// whole appends the trail as the file has it.
func (sec *section) whole(b []byte, t *trail) []byte {
	if !t.holes {
		return sec.gather(b, t)
	}
	sec.flat = sec.gather(sec.flat[:0], t)
	for c := sec.flat; len(c) > 0; {
		behind, n := binary.Uvarint(c)
		x := behind&1 != 0
		if !x {
			n += int(t.size)
		}
		b = append(b, c[:n]...)
		c = c[n:]
		if x {
			b = appendX(b, int(t.width))
		}
	}
	return b
}

// appendX appends so many digits.
func appendX(b []byte, n int) []byte {
	for n > 0 {
		k := min(n, len(xs))
		b = append(b, xs[:k]...)
		n -= k
	}
	return b
}

const xs = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

// gather appends the trail in one piece.
func (sec *section) gather(b []byte, t *trail) []byte {
	c := sec.store[t.start:t.end]
	if t.more < 0 {
		return append(b, c...)
	}
	end := len(b) + sec.before(t)
	b = slices.Grow(b, end+len(c)-len(b))[:end+len(c)]
	copy(b[end:], c)
	for i := t.more; i >= 0; i = sec.full[i].more {
		f := &sec.full[i]
		end -= copy(b[end-int(f.end-f.start):], sec.store[f.start:f.end])
	}
	return b
}

// reset empties a section; its store is used again.
func (sec *section) reset() {
	sec.full = sec.full[:0]
	sec.cut = 0
	for i := range sec.trails {
		t := &sec.trails[i]
		t.start, t.end, t.room, t.more, t.last, t.holes = 0, 0, 0, -1, 0, false
	}
}

// advance brings a frame from the values at a section's beginning to those at its end.
func (sec *section) advance(frame []byte) {
	for i := range sec.trails[1:] {
		t := &sec.trails[i+1]
		f := frame[:t.width]
		frame = frame[t.width:]
		switch {
		case t.end == t.start:
		case t.kind == recordX:
			for j := range f {
				f[j] = 'x'
			}
		case t.width == 1:
			f[0] = '0' + t.kind
		default:
			v := sec.store[t.end-uint32(t.size) : t.end]
			for j := range f {
				f[j] = '0' + v[j/8]>>(7-j&7)&1
			}
		}
	}
}
