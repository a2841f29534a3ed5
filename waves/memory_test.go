package waves

import (
	"math/rand/v2"
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
