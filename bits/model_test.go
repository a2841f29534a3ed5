package bits

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// format is a random description: a struct type and the bytes it takes.
type format struct {
	t    reflect.Type
	size int
}

var scalars = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](),
	reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
}

func tagged(name string, t reflect.Type, width int) reflect.StructField {
	f := reflect.StructField{Name: name, Type: t, Tag: reflect.StructTag(fmt.Sprintf(`bits:"%d"`, width))}
	if name == "_" {
		f.PkgPath = "bits"
	}
	return f
}

// drawFormat draws scalars of any width, arrays, nested structs, byte arrays
// and reserved fields, with padding where a byte boundary is required.
func drawFormat(t *rapid.T) format {
	var fs []reflect.StructField
	bit := 0
	align := func() {
		if n := -bit & 7; n != 0 {
			fs = append(fs, tagged("_", reflect.TypeFor[struct{}](), n))
			bit += n
		}
	}
	for i := range rapid.IntRange(1, 12).Draw(t, "fields") {
		name := fmt.Sprintf("F%d", i)
		s := rapid.SampledFrom(scalars).Draw(t, "scalar")
		width := rapid.IntRange(1, scalarBits(s)).Draw(t, "width")
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			width = rapid.IntRange(1, 150).Draw(t, "reserved")
			fs = append(fs, tagged("_", reflect.TypeFor[struct{}](), width))
			bit += width
		case 1:
			align()
			n := rapid.IntRange(1, 20).Draw(t, "bytes")
			fs = append(fs, tagged(name, reflect.ArrayOf(n, reflect.TypeFor[uint8]()), 8))
			bit += n * 8
		case 2:
			if s.Kind() == reflect.Uint8 {
				s = reflect.TypeFor[uint16]()
			}
			n := rapid.IntRange(1, 4).Draw(t, "elems")
			fs = append(fs, tagged(name, reflect.ArrayOf(n, s), width))
			bit += n * width
		case 3:
			inner := reflect.StructOf([]reflect.StructField{tagged("A", s, width), tagged("B", reflect.TypeFor[uint32](), 17)})
			fs = append(fs, reflect.StructField{Name: name, Type: inner})
			bit += width + 17
		default:
			fs = append(fs, tagged(name, s, width))
			bit += width
		}
	}
	align()
	return format{reflect.StructOf(fs), bit / 8}
}

// model is the encoding as one big integer, built bit by bit.
func model(fields []leaf, o Order, size int, value func(*leaf) *big.Int) []byte {
	n := new(big.Int)
	for i := range fields {
		f := &fields[i]
		v := value(f)
		for k := range f.Width {
			bit := size*8 - f.BitOffset - f.Width + k
			if o == Little {
				bit = f.BitOffset + k
			}
			n.SetBit(n, bit, v.Bit(k))
		}
	}
	b := n.FillBytes(make([]byte, size))
	if o == Little {
		slices.Reverse(b)
	}
	return b
}

// goValue reads a field's Go value without the package's own load.
func goValue(v reflect.Value, f *leaf, o Order) *big.Int {
	n := new(big.Int)
	if f.Reserved {
		return n
	}
	raw := unsafe.Slice((*byte)(unsafe.Add(v.UnsafePointer(), f.off)), f.goBytes())
	b := slices.Clone(raw)
	if !f.bytes || o == Little { // the machine that runs the test is little-endian
		slices.Reverse(b)
	}
	return n.SetBytes(b)
}

func (l *leaf) goBytes() int {
	if l.bytes {
		return l.Width / 8
	}
	return int(l.size)
}

func fillRandom(t *rapid.T, v reflect.Value, f *leaf) {
	dst := unsafe.Slice((*byte)(unsafe.Add(v.UnsafePointer(), f.off)), f.goBytes())
	for i := range dst {
		dst[i] = rapid.Byte().Draw(t, f.Name)
		if f.Type == "bool" {
			dst[i] &= 1
		}
	}
}

func TestAgainstBigInteger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFormat(t)
		o := rapid.SampledFrom([]Order{Big, Little}).Draw(t, "order")
		fields, err := describe(f.t, f.size)
		require.NoError(t, err)
		words := compile(fields, o, f.size)

		v := reflect.New(f.t)
		for i := range fields {
			if !fields[i].Reserved {
				fillRandom(t, v, &fields[i])
			}
		}
		want := model(fields, o, f.size, func(l *leaf) *big.Int { return goValue(v, l, o) })
		got := make([]byte, f.size)
		for i := range got {
			got[i] = 0xA5
		}
		encode(words, o, v.UnsafePointer(), got)
		require.Equal(t, want, got)

		back := reflect.New(f.t)
		for i := range fields { // decode must not depend on what was there
			if !fields[i].Reserved {
				fillRandom(t, back, &fields[i])
			}
		}
		decode(words, o, back.UnsafePointer(), got)
		for i := range fields {
			l := &fields[i]
			mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(l.Width)), big.NewInt(1))
			want := mask.And(mask, goValue(v, l, o))
			require.Zero(t, want.Cmp(goValue(back, l, o)), "field %s", l.Name)
		}
	})
}

// The fields and the words tile the structure.
func TestTiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFormat(t)
		fields, err := describe(f.t, f.size)
		require.NoError(t, err)
		bit := 0
		for _, l := range fields {
			require.Equal(t, bit, l.BitOffset)
			bit += l.Width
		}
		require.Equal(t, f.size*8, bit)
		pos := 0
		for _, w := range compile(fields, Big, f.size) {
			require.Equal(t, pos, w.pos)
			require.True(t, w.copy || w.n >= 1 && w.n <= 8)
			pos += w.n
		}
		require.Equal(t, f.size, pos)
	})
}
