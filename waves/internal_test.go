package waves

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestIDsAreDenseBase94(t *testing.T) {
	for n, want := range map[int]string{0: "!", 1: "\"", 93: "~", 94: "!!", 95: "\"!", 187: "~!", 188: "!\"", 94 + 94*94: "!!!"} {
		require.Equal(t, want, string(appendID(nil, n)), n)
	}
	c := newCode(asVCD, &Var{n: 94 + 94*94 + 94*94*94 - 1}, true)
	require.Equal(t, "~~~\n", string(c.append(nil)))
	c = newCode(asVCD, &Var{n: 94 + 94*94 + 94*94*94 - 1}, false)
	require.Equal(t, "b1 ~~~\n", string(c.append([]byte("b1"))))
}

func TestIdentIsSafeAndUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := unique{}
		seen := map[string]bool{}
		for range 5 {
			s := u.name(rapid.StringOfN(rapid.RuneFrom([]rune("a1_.:[]$ \\\tü\x00")), 0, 3, -1).Draw(t, "name"))
			require.Regexp(t, `^[A-Za-z_][A-Za-z0-9_]*$`, s)
			require.False(t, seen[s], s)
			seen[s] = true
		}
	})
	require.Equal(t, "q_3__state", ident("q[3].state"))
	require.Equal(t, "_", ident(""))
	require.Equal(t, "_2x", ident("2x"))
}

func TestTextIsPrintableAndReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		got := appendText(nil, s)
		back := []byte{}
		for i := 0; i < len(got); i++ {
			require.Greater(t, got[i], byte(' '))
			require.Less(t, got[i], byte(0x7f))
			require.NotEqual(t, byte('$'), got[i])
			if got[i] == '\\' {
				n, err := strconv.ParseUint(string(got[i+1:i+4]), 8, 8)
				require.NoError(t, err)
				back = append(back, byte(n))
				i += 3
				continue
			}
			back = append(back, got[i])
		}
		require.Equal(t, s, string(back))
	})
}

func TestBitsAreShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64().Draw(t, "v") >> rapid.IntRange(0, 63).Draw(t, "shift")
		require.Equal(t, strconv.FormatUint(v, 2), string(appendBits(nil, v)))
		b := rapid.SliceOfN(rapid.Byte(), 1, 80).Draw(t, "bytes")
		want := ""
		for _, x := range b {
			want += fmt.Sprintf("%08b", x)
		}
		want = strings.TrimLeft(want[:len(want)-1], "0") + want[len(want)-1:]
		require.Equal(t, want, string(appendBytes(nil, b)))
	})
}

// A wide enum's names are kept up to a bound, and right beyond it.
func TestWideEnum(t *testing.T) {
	x := texts{wide: map[uint64][]byte{}, names: func(v uint64) string { return fmt.Sprint("v ", v) }}
	for v := range uint64(wideTexts + 10) {
		require.Equal(t, fmt.Sprintf(`v\040%d`, v), string(x.of(v)))
	}
	require.Len(t, x.wide, wideTexts)
}

func TestMergerRefusesToBufferWithoutEnd(t *testing.T) {
	m := newMerger(&vcdSink{w: &bytes.Buffer{}}, 2)
	m.ahead = 1000
	go m.run()
	for i := range int64(20) {
		b := m.block()
		b.buf = append(b.buf, make([]byte, 100)...)
		b.close(i)
		b.src, b.upto = 0, i+1
		m.in <- b
	}
	m.in <- &block{src: 0, last: true, upto: never}
	m.in <- &block{src: 1, last: true, upto: never}
	<-m.done
	require.ErrorIs(t, *m.failed.Load(), errAhead)
}

// The last block of one kernel may be another's next.
func TestBlocksAreUsedAgain(t *testing.T) {
	m := newMerger(&vcdSink{w: &bytes.Buffer{}}, 2)
	b := m.block()
	b.buf = append(b.buf, 1)
	b.close(1)
	b.last = true
	m.free <- b
	require.Same(t, b, m.block())
	require.False(t, b.last)
	require.Empty(t, b.buf)
	require.Empty(t, b.parts)
}

// A writer that fails once is not written to again, and its error stays.
func TestMergerStopsAtTheFirstError(t *testing.T) {
	w := &failing{}
	m := newMerger(&vcdSink{w: w, out: make([]byte, writeSize)}, 1)
	go m.run()
	for i := range int64(3 * 64) {
		b := m.block()
		b.buf = append(b.buf, make([]byte, 64<<10)...)
		b.close(i)
		b.upto = i + 1
		m.in <- b
	}
	m.in <- &block{last: true, upto: never}
	<-m.done
	require.ErrorIs(t, *m.failed.Load(), errBroken)
	require.Equal(t, 1, w.calls)
}

var errBroken = errors.New("broken")

type failing struct{ calls int }

func (f *failing) Write([]byte) (int, error) {
	f.calls++
	return 0, errBroken
}
