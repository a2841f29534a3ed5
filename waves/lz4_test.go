package waves

import (
	"bytes"
	"testing"

	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// expands demands that another reader of LZ4 undoes the compression.
func expands(t require.TestingT, b []byte) int {
	var table lz4Table
	for i := range table {
		table[i] = uint32(i) // of a chain before
	}
	packed := table.compress(nil, b)
	if len(packed) == 0 {
		return len(b) // nothing repeats
	}
	back := make([]byte, len(b))
	n, err := lz4.UncompressBlock(packed, back)
	require.NoError(t, err)
	require.Equal(t, len(b), n)
	require.True(t, bytes.Equal(b, back))
	return len(packed)
}

// Sequences of few bytes, repeated from near and far.
func TestLZ4(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var b []byte
		for range rapid.IntRange(1, 30).Draw(r, "pieces") {
			if len(b) > 0 && rapid.Bool().Draw(r, "again") {
				from := rapid.IntRange(0, len(b)-1).Draw(r, "from")
				b = append(b, b[from:min(len(b), from+rapid.IntRange(1, 9000).Draw(r, "n"))]...)
			} else {
				b = append(b, rapid.SliceOfN(rapid.ByteRange(0, 3), 1, 600).Draw(r, "new")...)
			}
		}
		expands(r, b)
	})
	require.Less(t, expands(t, make([]byte, 100_000)), 500)
	for n := 1; n < 400; n++ {
		expands(t, bytes.Repeat([]byte("a"), n))
		expands(t, bytes.Repeat([]byte("abcde"), n))
	}
}

func FuzzLZ4(f *testing.F) {
	f.Add([]byte("abababababababababababababab"))
	f.Add(bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7}, 20_000))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 0 {
			expands(t, b)
			expands(t, append(bytes.Clone(b), bytes.Repeat(b, 70_000/len(b)+1)...))
		}
	})
}
