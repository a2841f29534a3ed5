package waves

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
)

// However memory changes, the words that differ lead to the changes that a look at every
// variable finds.
func TestShadow(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var vars []*Var
		off := uintptr(rapid.IntRange(0, 9).Draw(r, "offset"))
		for n := range rapid.IntRange(leastShadow, 20).Draw(r, "variables") {
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
		if s == nil {
			return
		}
		memory := make([]byte, (off+7)&^7)
		for range 20 {
			for range rapid.IntRange(0, 5).Draw(r, "writes") {
				memory[rapid.IntRange(0, len(memory)-1).Draw(r, "at")] = rapid.Byte().Draw(r, "byte")
			}
			base := unsafe.Pointer(&memory[0])
			var want []byte
			for i := range each {
				want = each[i].update(want, base)
			}
			require.Equal(r, want, s.update(nil, some, base, false))
		}
	})
}
