package bits

import (
	"encoding/binary"
	"unsafe"
)

// word is a run of whole bytes of the encoding: either 1 to 8 bytes made of
// pieces of fields, or a byte array of any length.
type word struct {
	pos, n int     // byte offset and length
	pieces []piece // nil and copy unset: reserved, all zero
	off    uintptr // copy: of the Go array
	copy   bool
}

// piece is the part of one field inside one word. A field lies in one word
// unless no cut on a field boundary was possible.
type piece struct {
	off    uintptr // of the Go field
	mask   uint64  // of the piece, at bit 0
	size   uint8   // of the Go field, bytes
	wshift uint8   // position in the word
	vshift uint8   // position in the field's value
	first  bool    // decode stores the first piece, ORs the others
}

// compile cuts the structure into words, on field boundaries where it can.
func compile(fields []leaf, o Order, size int) []word {
	var words []word
	for pos := 0; pos < size; {
		w := word{pos: pos}
		if f := starting(fields, pos*8); f != nil && f.bytes {
			w.n, w.off, w.copy = f.Width/8, f.off, true
		} else {
			w.n = cut(fields, pos, size)
			w.pieces = pieces(fields, o, pos*8, w.n*8)
		}
		words = append(words, w)
		pos += w.n
	}
	return words
}

// starting returns the field that begins at the bit, if any.
func starting(fields []leaf, bit int) *leaf {
	for i := range fields {
		if fields[i].BitOffset == bit {
			return &fields[i]
		}
	}
	return nil
}

// cut returns the length of the word at byte pos: up to the last field end that
// is on a byte boundary within 8 bytes, or else 8 bytes. A byte array ends it.
func cut(fields []leaf, pos, size int) int {
	best, limit := 0, min(8, size-pos)
	for i := range fields {
		f := &fields[i]
		if f.BitOffset+f.Width <= pos*8 {
			continue
		}
		if f.bytes {
			break
		}
		end := f.BitOffset + f.Width - pos*8
		if end > limit*8 {
			break
		}
		if end%8 == 0 {
			best = end / 8
		}
	}
	if best == 0 {
		return limit
	}
	return best
}

// pieces returns the parts of fields inside the word of n bits at bit start.
func pieces(fields []leaf, o Order, start, n int) []piece {
	var ps []piece
	for i := range fields {
		f := &fields[i]
		lo := max(f.BitOffset, start)
		hi := min(f.BitOffset+f.Width, start+n)
		if f.Reserved || f.bytes || lo >= hi {
			continue
		}
		p := piece{off: f.off, size: f.size, first: lo == f.BitOffset, mask: ^uint64(0) >> (64 - (hi - lo))}
		if o == Big {
			p.wshift, p.vshift = uint8(start+n-hi), uint8(f.BitOffset+f.Width-hi)
		} else {
			p.wshift, p.vshift = uint8(lo-start), uint8(lo-f.BitOffset)
		}
		ps = append(ps, p)
	}
	return ps
}

func encode(words []word, o Order, v unsafe.Pointer, b []byte) {
	for i := range words {
		w := &words[i]
		dst := b[w.pos : w.pos+w.n]
		if w.copy {
			copy(dst, unsafe.Slice((*byte)(unsafe.Add(v, w.off)), w.n))
			continue
		}
		var x uint64
		for j := range w.pieces {
			p := &w.pieces[j]
			x |= load(v, p.off, p.size) >> (p.vshift & 63) & p.mask << (p.wshift & 63)
		}
		putWord(dst, o, x)
	}
}

func decode(words []word, o Order, v unsafe.Pointer, b []byte) {
	for i := range words {
		w := &words[i]
		src := b[w.pos : w.pos+w.n]
		if w.copy {
			copy(unsafe.Slice((*byte)(unsafe.Add(v, w.off)), w.n), src)
			continue
		}
		if w.pieces == nil {
			continue
		}
		x := getWord(src, o)
		for j := range w.pieces {
			p := &w.pieces[j]
			y := x >> (p.wshift & 63) & p.mask << (p.vshift & 63)
			if !p.first {
				y |= load(v, p.off, p.size)
			}
			store(v, p.off, p.size, y)
		}
	}
}

func load(v unsafe.Pointer, off uintptr, size uint8) uint64 {
	p := unsafe.Add(v, off)
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func store(v unsafe.Pointer, off uintptr, size uint8, x uint64) {
	p := unsafe.Add(v, off)
	switch size {
	case 1:
		*(*uint8)(p) = uint8(x)
	case 2:
		*(*uint16)(p) = uint16(x)
	case 4:
		*(*uint32)(p) = uint32(x)
	default:
		*(*uint64)(p) = x
	}
}

func putWord(b []byte, o Order, x uint64) {
	if o == Big {
		x <<= (64 - 8*uint(len(b))) & 63
		switch len(b) {
		case 8:
			binary.BigEndian.PutUint64(b, x)
		case 4:
			binary.BigEndian.PutUint32(b, uint32(x>>32))
		default:
			for i := range b {
				b[i] = byte(x >> 56)
				x <<= 8
			}
		}
		return
	}
	switch len(b) {
	case 8:
		binary.LittleEndian.PutUint64(b, x)
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(x))
	default:
		for i := range b {
			b[i] = byte(x)
			x >>= 8
		}
	}
}

func getWord(b []byte, o Order) uint64 {
	var x uint64
	if o == Big {
		switch len(b) {
		case 8:
			return binary.BigEndian.Uint64(b)
		case 4:
			return uint64(binary.BigEndian.Uint32(b))
		}
		for i := range b {
			x = x<<8 | uint64(b[i])
		}
		return x
	}
	switch len(b) {
	case 8:
		return binary.LittleEndian.Uint64(b)
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	for i := len(b) - 1; i >= 0; i-- {
		x = x<<8 | uint64(b[i])
	}
	return x
}
