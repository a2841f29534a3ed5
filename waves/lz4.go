package waves

import (
	"encoding/binary"
	"math/bits"
)

// A section has thousands of short chains. The tables of a compressor for long texts
// are larger than the nearest cache and must be cleared for each chain; these are as
// large as the chain needs, at most 16 KiB.

// lz4Table is where four bytes were seen last, by their hash: one more than the place.
type lz4Table [1 << lz4Bits]uint32

const (
	lz4Bits  = 12
	lz4Least = 4  // bytes of a match
	lz4Tail  = 5  // bytes at the end that are no match
	lz4Start = 12 // bytes before the end where the last match begins
	lz4Far   = 1<<16 - 1
)

// compress appends src as a block of LZ4, unless nothing repeats in it: that is found
// out before anything is copied.
func (table *lz4Table) compress(dst, src []byte) []byte {
	size := min(max(bits.Len(uint(len(src)))-1, 6), lz4Bits)
	clear(table[:1<<size])
	anchor := 0 // what is before is in dst
	end := len(src) - lz4Start
	for at, misses := 0, 0; at < end; {
		word := binary.LittleEndian.Uint32(src[at:])
		slot := &table[word*2654435761>>(32-size)]
		from := int(*slot) - 1
		*slot = uint32(at + 1)
		if from < 0 || at-from > lz4Far || binary.LittleEndian.Uint32(src[from:]) != word {
			misses++
			at += 1 + misses>>2 // what does not compress is soon passed over
			continue
		}
		misses = 0
		for at > anchor && from > 0 && src[at-1] == src[from-1] {
			at, from = at-1, from-1
		}
		n := lz4Least + matching(src[at+lz4Least:len(src)-lz4Tail], src[from+lz4Least:])
		dst = appendLiterals(dst, src[anchor:at], n-lz4Least)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(at-from))
		if n-lz4Least >= 15 {
			dst = appendLength(dst, n-lz4Least-15)
		}
		at += n
		anchor = at
		if at < end {
			table[binary.LittleEndian.Uint32(src[at-2:])*2654435761>>(32-size)] = uint32(at - 1)
		}
	}
	if anchor == 0 {
		return dst
	}
	return appendLiterals(dst, src[anchor:], 0)
}

// matching is how many bytes at the beginning of a are those of b, which is no shorter.
func matching(a, b []byte) (n int) {
	for n+8 <= len(a) {
		if d := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); d != 0 {
			return n + bits.TrailingZeros64(d)/8
		}
		n += 8
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// appendLiterals begins a sequence: both lengths, as far as they go into the first
// byte, and the bytes as they are.
func appendLiterals(dst, b []byte, match int) []byte {
	dst = append(dst, byte(min(len(b), 15)<<4|min(match, 15)))
	if len(b) >= 15 {
		dst = appendLength(dst, len(b)-15)
	}
	return append(dst, b...)
}

func appendLength(dst []byte, n int) []byte {
	for ; n >= 255; n -= 255 {
		dst = append(dst, 255)
	}
	return append(dst, byte(n))
}
