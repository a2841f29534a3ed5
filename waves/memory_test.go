package waves

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

type nowhere struct{}

func (nowhere) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }

// Whichever variables are busy, a section takes no more than is promised.
func TestMemoryOfAnFST(t *testing.T) {
	root := &node{names: unique{}}
	top := root.child("top", false)
	for range 3000 {
		top.add("v", &Var{Width: 64})
	}
	top.add("wide", &Var{Width: 4096})
	vars := root.number(nil)
	s := newFSTSink(nowhere{}, root, vars, Rich, 0)
	r := rand.New(rand.NewPCG(1, 2))
	value := make([]byte, 512)
	first := 0
	for ps := range int64(60_000) {
		require.NoError(t, s.time(ps))
		if ps%2000 == 0 {
			first = r.IntN(3000) // others are busy
		}
		var b []byte
		for range 100 {
			n, size, kind := first+r.IntN(max(1, (3000-first)/100)), 8, kindOf(64)
			if r.IntN(1000) == 0 {
				n, size, kind = 3000, 512, recordLong
			}
			b = append(appendHead(b, recordHead(n)|kind), value[:size]...)
		}
		require.NoError(t, s.changes(b))
	}
	require.NoError(t, s.end())
	require.Greater(t, s.out.head.sections, 5)
	for range 2 {
		sec := <-s.out.free
		held := len(sec.store)
		require.LessOrEqual(t, held, 2*sectionSize+64*len(vars))
	}
}

// What was long ago is in the file, though nothing has happened since; and the bytes do
// not depend on when the sink hears that time has passed.
func TestOldSectionsAreWritten(t *testing.T) {
	file := func(heard ...int64) []byte {
		root := &node{names: unique{}}
		root.child("top", false).add("v", &Var{Width: 1})
		f, err := os.Create(filepath.Join(t.TempDir(), "x.fst"))
		require.NoError(t, err)
		s := newFSTSink(f, root, root.number(nil), Rich, 0)
		for i, ps := range []int64{0, 4000, 8000, 150_000_000_000, 150_000_004_000, 900_000_000_000} {
			for len(heard) > 0 && heard[0] < ps {
				require.NoError(t, s.passed(heard[0]))
				heard = heard[1:]
			}
			require.NoError(t, s.time(ps))
			require.NoError(t, s.changes(appendBitRecord(nil, recordHead(0), '0'+byte(i%2))))
		}
		require.NoError(t, s.end())
		require.Equal(t, 5, s.out.head.sections) // the first instant, and four
		require.NoError(t, f.Close())
		b, err := os.ReadFile(f.Name())
		require.NoError(t, err)
		return b
	}
	want := file()
	require.Equal(t, want, file(5000, 99_999_999_999, 100_000_000_000, 149_000_000_000, 149_500_000_000, 500_000_000_000))
	require.Equal(t, want, file(200_000_000_000, 300_000_000_000))
}
