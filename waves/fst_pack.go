package waves

import (
	"bytes"
	"encoding/binary"
)

// pack appends a section's chains, compressed, and writes into f.index where each is;
// equal ones are there once. It tells how many bytes a reader needs for all.
func (f *fstWriter) pack(b []byte, sec *section) (packed []byte, unpacked int) {
	start := len(b)
	b = append(b, '4')
	f.index = f.index[:0]
	clear(f.twins)
	idle, place, twin := 0, 0, 0
	for i := range sec.trails[1:] {
		h := i + 1
		var c []byte
		c, f.piece = sec.whole(&sec.trails[h], f.piece)
		if len(c) == 0 {
			idle++
			continue
		}
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
			continue
		}
		f.index = appendSigned(f.index, int64(len(b)-start-place)<<1|1)
		place = len(b) - start
		b = f.chain(b, c)
	}
	if idle > 0 {
		f.index = binary.AppendUvarint(f.index, uint64(idle)<<1)
	}
	return b, unpacked
}

// same tells whether a trail has the bytes of a chain.
func (f *fstWriter) same(sec *section, t *trail, c []byte) bool {
	var d []byte
	d, f.twin = sec.whole(t, f.twin)
	return bytes.Equal(c, d)
}

// worthwhile is how many bytes a chain has to have to be compressed.
const worthwhile = 32

// chain appends a chain, compressed if that makes it shorter: its length, or 0 if it
// is as it was, and its bytes.
func (f *fstWriter) chain(b, c []byte) []byte {
	if len(c) > worthwhile {
		start := binary.AppendUvarint(b, uint64(len(c)))
		if packed := f.lz.compress(start, c); len(packed)-len(start) < len(c) {
			return packed
		}
	}
	return append(append(b, 0), c...)
}

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
