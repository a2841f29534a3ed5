package read_test

import (
	"bytes"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
	"rnic/waves/read"
	"rnic/waves/vcdnorm"
)

var update = flag.Bool("update", false, "write the golden files anew")

// phase is idle, busy or in its last.
type phase uint8

func (phase) Width() int       { return 2 }
func (p phase) String() string { return [...]string{"IDLE", "BUSY", "LAST PHASE"}[p] }

type nested struct {
	Count uint16
	Phase phase
}

// chip has a bit of everything.
type chip struct {
	hdl.Regs[struct {
		On    bool
		Phase phase
		Sum   uint64
		Part  nested
		Bytes [9]byte
	}]
}

func (c *chip) Eval() {
	c.D.On = !c.Q.On
	c.D.Sum = c.Q.Sum*6364136223846793005 + 1442695040888963407
	c.D.Bytes[c.Q.Sum%9] = byte(c.Q.Sum >> 32)
	if c.Q.On {
		c.D.Phase = (c.Q.Phase + 1) % 3
		c.D.Part = nested{c.Q.Part.Count + 1, c.Q.Phase}
	}
}

// kernel is a chip under a clock of 4 ns.
func kernel(t testing.TB) *hdl.Kernel {
	t.Helper()
	k, err := hdl.Elaborate("top", &chip{}, hdl.Options{PeriodPs: 4000})
	require.NoError(t, err)
	return k
}

// at writes anywhere in a buffer.
type at struct{ b []byte }

func (a *at) WriteAt(p []byte, off int64) (int, error) {
	if n := int(off) + len(p); n > len(a.b) {
		a.b = append(a.b, make([]byte, n-len(a.b))...)
	}
	return copy(a.b[off:], p), nil
}

// both are the VCD and the FST of so many cycles.
func both(t testing.TB, cycles uint64, p waves.Profile) (vcd, fst []byte) {
	t.Helper()
	k := kernel(t)
	var v bytes.Buffer
	a := &at{}
	o := waves.Options{Profile: p}
	one, err := waves.New(&v, o, k)
	require.NoError(t, err)
	two, err := waves.NewFST(a, o, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(cycles))
	require.NoError(t, one.Close())
	require.NoError(t, two.Close())
	return v.Bytes(), a.b
}

// Our VCD and our FST show the same, which is what another reader of VCD says.
func TestOurs(t *testing.T) {
	for _, p := range []waves.Profile{waves.Rich, waves.Portable} {
		for _, cycles := range []uint64{1, 20, 20_000} { // the last in several sections
			v, f := both(t, cycles, p)
			one, err := read.NewVCD("a.vcd", bytes.NewReader(v))
			require.NoError(t, err)
			two, err := read.NewFST("a.fst", bytes.NewReader(f), int64(len(f)))
			require.NoError(t, err)
			want, got := canon(t, one, true), canon(t, two, true)
			require.Equal(t, want, got)
			require.Empty(t, one.Notes())
			require.Empty(t, two.Notes())
			require.True(t, one.Dumping() && two.Dumping())

			n, err := vcdnorm.Check(bytes.NewReader(v))
			require.NoError(t, err)
			require.Equal(t, len(n.Vars), len(one.Vars))
			for i, x := range n.Vars {
				require.Equal(t, x.Path, one.Path(&one.Vars[i]))
				require.Contains(t, want, x.Path+" ")
				var b strings.Builder
				for _, c := range x.Changes {
					value := c.Value
					if x.Kind == "string" {
						value = strconv.Quote(value)
					}
					fmt.Fprintf(&b, " %d=%s", c.Time, value)
				}
				require.Contains(t, want, b.String()+"\n", x.Path)
			}
		}
	}
}

// Enums have their names in both formats; FST has them in both profiles.
func TestEnums(t *testing.T) {
	for _, p := range []waves.Profile{waves.Rich, waves.Portable} {
		v, b := both(t, 8, p)
		one, err := read.NewVCD("a.vcd", bytes.NewReader(v))
		require.NoError(t, err)
		two, err := read.NewFST("a.fst", bytes.NewReader(b), int64(len(b)))
		require.NoError(t, err)
		files := []*read.File{two}
		if p == waves.Rich {
			files = append(files, one)
		}
		for _, f := range files {
			n := 0
			for i := range f.Vars {
				x := &f.Vars[i]
				if x.Enum == nil {
					require.NotEqual(t, "phase", x.Name, f.Format)
					continue
				}
				n++
				require.Equal(t, "phase", x.Name)
				require.Equal(t, "IDLE", x.Enum.Of([]byte("00")))
				require.Equal(t, "BUSY", x.Enum.Of([]byte("01")))
				require.Equal(t, "", x.Enum.Of([]byte("11")))
				require.Equal(t, "", x.Enum.Of([]byte("xx")))
			}
			require.Equal(t, 2, n)
		}
	}
}

// What is not wanted stays as it is; what is wanted is as before.
func TestWant(t *testing.T) {
	_, b := both(t, 5000, waves.Rich)
	all, err := read.NewFST("a.fst", bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	some, err := read.NewFST("a.fst", bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	want := make([]bool, some.IDs)
	for i := 0; i < len(want); i += 3 {
		want[i] = true
	}
	some.Want(want)
	for all.Next() {
		require.True(t, some.Next())
		require.Equal(t, all.Time(), some.Time())
		for _, id := range some.Changed() {
			require.True(t, want[id])
		}
		for id := range want {
			if want[id] {
				require.Equal(t, all.Raw(int32(id)), some.Raw(int32(id)))
			}
		}
	}
	require.False(t, some.Next())
	require.NoError(t, some.Err())
}
