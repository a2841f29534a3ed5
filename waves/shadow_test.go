package waves

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
)

// However memory changes, the words that differ lead to the changes that a look at every
// variable finds: all words given, or those alone that moved.
func TestShadow(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var vars []*Var
		off := uintptr(rapid.IntRange(0, 9).Draw(r, "offset"))
		for n := range rapid.IntRange(1, 40).Draw(r, "variables") {
			size := uintptr(rapid.SampledFrom([]int{1, 2, 4, 8, 3, 64}).Draw(r, "size"))
			v := &Var{n: n, Width: int(8 * size), Signal: hdl.Signal{Kind: hdl.Uint, Offset: off, Size: size, Width: int(8 * size)}}
			if size&(size-1) != 0 || size > 8 {
				v.Signal.Kind = hdl.Bytes
			}
			vars = append(vars, v)
			off += size + uintptr(rapid.IntRange(0, 9).Draw(r, "gap"))
		}
		own := func() (l []shown) {
			for _, v := range vars {
				l = append(l, newShown(v, asFST))
			}
			return l
		}
		each, some := own(), own()
		quicks := make([]quick, len(some))
		for i := range some {
			quicks[i] = newQuick(&some[i])
		}
		s := newShadow(some, quicks)
		words := make([]uint64, len(s.was))
		base := unsafe.Pointer(&words[0])
		memory := unsafe.Slice((*byte)(base), 8*len(words))
		before := make([]uint64, len(words))
		for range 20 {
			for range rapid.IntRange(0, 5).Draw(r, "writes") {
				memory[rapid.IntRange(0, len(memory)-1).Draw(r, "at")] = rapid.Byte().Draw(r, "byte")
			}
			want := map[uint32]string{}
			for i := range each {
				if b := each[i].update(nil, base); b != nil {
					want[each[i].code.record] = string(b)
				}
			}
			if rapid.Bool().Draw(r, "all") {
				s.takeAll(words, false)
			} else {
				require.Empty(r, s.take(movedWords(before, words)))
			}
			copy(before, words)
			require.Equal(r, want, records(s.changes(nil, some), vars))
		}
	})
}

// movedWords is what a tape has of words that differ.
func movedWords(before, now []uint64) (w []uint64) {
	for at := 0; at < len(now); at += 64 {
		set := uint64(0)
		var moved []uint64
		for i := at; i < min(at+64, len(now)); i++ {
			if now[i] != before[i] {
				set |= 1 << (i - at)
				moved = append(moved, now[i])
			}
		}
		w = append(append(w, set), moved...)
	}
	return w
}

// records takes records apart, by what they begin with but for the kind.
func records(b []byte, vars []*Var) map[uint32]string {
	m := map[uint32]string{}
	for len(b) > 0 {
		head := binary.LittleEndian.Uint32(b)
		n := 4
		switch kind := head % recordKinds; {
		case kind == recordLong:
			n += vars[head/recordKinds-1].Width / 8
		case kind >= recordShort:
			n += int(kind - recordShort + 1)
		}
		m[head-head%recordKinds] = string(b[:n])
		b = b[n:]
	}
	return m
}
