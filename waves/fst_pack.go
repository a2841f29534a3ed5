package waves

import (
	"bytes"
	"encoding/binary"
)

// pack appends a section's chains, each after its length or after 0 if compression does
// not make it shorter, and writes into f.index where each is;
// equal ones are there once. It tells how many bytes a reader needs for all.
func (f *fstWriter) pack(b []byte, sec *section) (packed []byte, unpacked int) {
	start := len(b)
	b = append(b, '4')
	f.index = f.index[:0]
	clear(f.twins)
	idle, place, twin := 0, 0, 0
	for i := range sec.trails[1:] {
		h := i + 1
		t := &sec.trails[h]
		if t.end == t.start {
			idle++
			continue
		}
		// As it is, in its place: payload mostly stays so.
		at := len(b)
		b = sec.whole(append(b, 0), t)
		c := b[at+1:]
		if idle > 0 {
			f.index = binary.AppendUvarint(f.index, uint64(idle)<<1)
			idle = 0
		}
		unpacked += len(c)
		sum := sample(c)
		if t, ok := f.twins[sum]; !ok {
			f.twins[sum] = h
		} else if f.same(sec, &sec.trails[t], c) {
			if t == twin {
				f.index = appendSigned(f.index, 1)
			} else {
				f.index = appendSigned(f.index, int64(-t)<<1|1)
			}
			twin = t
			b = b[:at]
			continue
		}
		f.index = appendSigned(f.index, int64(at-start-place)<<1|1)
		place = at - start
		if len(c) > worthwhile {
			f.packed = f.lz.compress(f.packed[:0], c)
			if n := len(f.packed); n > 0 && n < len(c) {
				b = append(binary.AppendUvarint(b[:at], uint64(len(c))), f.packed...)
			}
		}
	}
	if idle > 0 {
		f.index = binary.AppendUvarint(f.index, uint64(idle)<<1)
	}
	return b, unpacked
}

// same tells whether a trail has the bytes of a chain.
func (f *fstWriter) same(sec *section, t *trail, c []byte) bool {
	f.twin = sec.whole(f.twin[:0], t)
	return bytes.Equal(c, f.twin)
}

// worthwhile is how many bytes a chain has to have to be compressed.
const worthwhile = 32

// sample tells most chains apart, by their length and some of their bytes.
func sample(c []byte) uint64 {
	h := uint64(len(c))
	for i := range 8 {
		h = (h ^ uint64(c[(len(c)-1)*i/7])) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}

// appendSigned is signed LEB128.
func appendSigned(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
