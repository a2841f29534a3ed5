package read_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/waves/read"
)

// shown is a value as the tests write it.
func shown(k read.Kind, raw []byte) string {
	switch k {
	case read.Real:
		return fmt.Sprintf("%g", math.Float64frombits(binary.BigEndian.Uint64(raw)))
	case read.String:
		return fmt.Sprintf("%q", raw)
	}
	return string(raw)
}

// canon is what a file shows: a line a variable, sorted, with the changes of its value
// from the first time stamp on. It checks what File promises.
func canon(t testing.TB, f *read.File, types bool) string {
	t.Helper()
	kinds := make([]read.Kind, f.IDs)
	for i := range f.Vars {
		kinds[f.Vars[i].ID] = f.Vars[i].Kind
	}
	hist := make([]strings.Builder, f.IDs)
	last := make([]string, f.IDs)
	steps, begin, before := 0, uint64(0), uint64(0)
	for {
		if steps > 0 {
			next, ok := f.Upcoming()
			if more := f.Next(); !more {
				require.False(t, ok)
				break
			}
			require.True(t, ok)
			require.Equal(t, next, f.Time())
		} else if !f.Next() {
			break
		}
		if steps++; steps == 1 {
			begin = f.Time()
		} else {
			require.Greater(t, f.Time(), before)
		}
		before = f.Time()
		said := map[int32]bool{}
		for _, id := range f.Changed() {
			require.False(t, said[id], "twice in a step")
			said[id] = true
		}
		for id := range hist {
			now := shown(kinds[id], f.Raw(int32(id)))
			switch {
			case kinds[id] == read.Event:
				if now == "1" {
					fmt.Fprintf(&hist[id], " %d", f.Time())
				}
				require.Equal(t, now == "1", said[int32(id)])
			case now != last[id]:
				fmt.Fprintf(&hist[id], " %d=%s", f.Time(), now)
				require.True(t, said[int32(id)] || steps == 1, "a change that is not told")
				last[id] = now
			}
		}
	}
	require.NoError(t, f.Err())
	var lines []string
	for i := range f.Vars {
		v := &f.Vars[i]
		what := v.Kind.String()
		if types {
			what = v.Type
		}
		lines = append(lines, fmt.Sprintf("%s %s %d%s%s", f.Path(v), what, v.Width, v.Range, hist[v.ID].String()))
	}
	sort.Strings(lines)
	return fmt.Sprintf("%s %d..%d\n%s\n", f.Timescale(), begin, before, strings.Join(lines, "\n"))
}

// open opens a file until the test ends.
func open(t testing.TB, path ...string) *read.File {
	t.Helper()
	f, err := read.Open(filepath.Join(path...))
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func vcd(t testing.TB, text string) *read.File {
	t.Helper()
	f, err := read.NewVCD("a.vcd", strings.NewReader(text))
	require.NoError(t, err)
	return f
}

func bytesOf(t testing.TB, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return b
}
