package waves

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/pierrec/lz4/v4"
)

// pack compresses a section's chains into f.chains, and writes into f.index where each
// is; equal ones are there once. It gives how many bytes a reader needs for all.
func (f *fstWriter) pack(sec *section) (unpacked int) {
	f.chains = append(f.chains[:0], '4')
	f.index = f.index[:0]
	clear(f.twins)
	idle, place, twin := 0, 0, 0
	for i := range sec.trails[1:] {
		h := i + 1
		c := sec.trails[h].chain
		if len(c) == 0 {
			idle++
			continue
		}
		if idle > 0 {
			f.index = binary.AppendUvarint(f.index, uint64(idle)<<1)
			idle = 0
		}
		unpacked += len(c)
		sum := hash(c)
		if t, ok := f.twins[sum]; !ok {
			f.twins[sum] = h
		} else if bytes.Equal(sec.trails[t].chain, c) {
			if t == twin {
				f.index = appendSigned(f.index, 1)
			} else {
				f.index = appendSigned(f.index, int64(-t)<<1|1)
			}
			twin = t
			continue
		}
		f.index = appendSigned(f.index, int64(len(f.chains)-place)<<1|1)
		place = len(f.chains)
		f.chain(c)
	}
	if idle > 0 {
		f.index = binary.AppendUvarint(f.index, uint64(idle)<<1)
	}
	return unpacked
}

// worthwhile is how many bytes a chain has to have to be compressed.
const worthwhile = 32

// chain appends a chain, compressed if that makes it shorter: its length, or 0 if it
// is as it was, and its bytes.
func (f *fstWriter) chain(c []byte) {
	if len(c) > worthwhile {
		if n := lz4.CompressBlockBound(len(c)); n > len(f.packed) {
			f.packed = make([]byte, n)
		}
		if n, err := f.lz.CompressBlock(c, f.packed); err == nil && n > 0 && n < len(c) {
			f.chains = binary.AppendUvarint(f.chains, uint64(len(c)))
			f.chains = append(f.chains, f.packed[:n]...)
			return
		}
	}
	f.chains = append(append(f.chains, 0), c...)
}

// hash tells chains apart, the same in every run.
func hash(b []byte) uint64 {
	h := uint64(len(b))
	for ; len(b) >= 8; b = b[8:] {
		hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(b), 0x9e3779b97f4a7c15)
		h = hi ^ lo
	}
	for _, x := range b {
		h = (h ^ uint64(x)) * 0x100000001b3
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
