package waves_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
	"rnic/waves"
	"rnic/waves/vcdnorm"
)

func check(t require.TestingT, text string) *vcdnorm.File {
	f, err := vcdnorm.Check(strings.NewReader(text))
	require.NoError(t, err)
	return f
}

// A window shows at every instant what the whole file shows.
func TestWindowIsACutOfTheWhole(t *testing.T) {
	whole := check(t, record(t, 300, waves.Options{}, hdl.Options{}))
	rapid.Check(t, func(r *rapid.T) {
		from := rapid.Int64Range(0, 1_100_000).Draw(r, "from")
		if rapid.Bool().Draw(r, "on an edge") {
			from = from / 2000 * 2000
		}
		to := from + rapid.Int64Range(1, 200_000).Draw(r, "length")
		cut := check(r, record(t, 300, waves.Options{From: from, To: to}, hdl.Options{}))
		require.Equal(r, from, cut.Start)
		require.Equal(r, max(from, min(to, whole.End)), cut.End)
		for i, v := range cut.Vars {
			w := whole.Vars[i]
			require.Equal(r, w.Path, v.Path)
			for _, c := range v.Changes {
				require.Equal(r, whole.At(w.Path, c.Time), c.Value, "%s at %d", w.Path, c.Time)
			}
			for _, c := range w.Changes {
				if c.Time >= from && c.Time <= to {
					require.Equal(r, c.Value, cut.At(v.Path, c.Time), "%s at %d", v.Path, c.Time)
				}
			}
		}
	})
}

// The same for two kernels of different clocks.
func TestWindowOfAWorld(t *testing.T) {
	whole := check(t, world(t, 75, waves.Options{}))
	for _, from := range []int64{1, 3103, 59_999, 60_000, 31_030_000, 61_500_000} {
		cut := check(t, world(t, 75, waves.Options{From: from, To: from + 500_000}))
		require.Equal(t, from, cut.Start)
		for i, v := range cut.Vars {
			for _, at := range []int64{from, from + 1, from + 250_000, from + 500_000} {
				require.Equal(t, whole.At(whole.Vars[i].Path, min(at, whole.End)), cut.At(v.Path, min(at, cut.End)), "%s at %d", v.Path, at)
			}
		}
	}
}

// Attached late, a file begins where the kernel stands.
func TestAttachBetweenRuns(t *testing.T) {
	whole := check(t, record(t, 300, waves.Options{}, hdl.Options{}))
	for _, at := range []uint64{100, 101, 102, 103, 110} {
		k := elaborate(t, "top", 20, hdl.Options{})
		require.NoError(t, k.Run(at))
		var b bytes.Buffer
		v, err := waves.New(&b, waves.Options{}, k)
		require.NoError(t, err)
		require.NoError(t, k.Run(300))
		require.NoError(t, v.Close())
		cut := check(t, b.String())
		require.Equal(t, int64(at*4000), cut.Start)
		require.Equal(t, whole.End, cut.End)
		for _, v := range cut.Vars {
			if v.Path == "top.clk" {
				continue // of whether an edge led here the file knows nothing
			}
			for _, c := range v.Changes {
				require.Equal(t, whole.At(v.Path, c.Time), c.Value, "%s at %d", v.Path, c.Time)
			}
		}
	}
}

func TestWindowAfterTheRun(t *testing.T) {
	var b bytes.Buffer
	k := elaborate(t, "top", 20, hdl.Options{})
	v, err := waves.New(&b, waves.Options{From: 1_000_000}, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(100))
	err = v.Close()
	require.ErrorIs(t, err, waves.ErrWindow)
	require.EqualError(t, err, "waves: the run ended before the window began: it ended at 400000 ps, the window begins at 1000000 ps")
	require.Equal(t, int64(1_000_000), check(t, b.String()).Start)
}

func TestKernelThatNeverRuns(t *testing.T) {
	f := check(t, record(t, 0, waves.Options{}, hdl.Options{}))
	require.Equal(t, int64(0), f.End)
	require.Equal(t, "IDLE", f.At("top.tx.state_name", 0))
}

func paths(f *vcdnorm.File) string {
	var p []string
	for _, v := range f.Vars {
		p = append(p, v.Path)
	}
	return strings.Join(p, " ")
}

func TestScopes(t *testing.T) {
	for _, c := range []struct{ scopes, want string }{
		{"tx", "tx.state tx.state_name tx.psn tx.left tx.busy tx.out.ready tx.out.fire"},
		{"top.tx.out", "tx.out.ready tx.out.fire"},
		{"*.*.fire", "tx.out.fire rx.in.fire"},
		{"top.rx.s*.port_0 tx.st*", "tx.state tx.state_name rx.seen.port_0.addr rx.seen.port_0.read rx.seen.port_0.write"},
		{"rx.seen.port_1.addr", "rx.seen.port_1.addr"},
		{"tx.state_name rx.in.head.kind_name", "tx.state tx.state_name rx.in.head.kind rx.in.head.kind_name"},
	} {
		f := check(t, record(t, 100, waves.Options{Scopes: strings.Fields(c.scopes)}, hdl.Options{}))
		require.Equal(t, "clk reset "+c.want, strings.ReplaceAll(paths(f), "top.", ""))
	}
	whole := check(t, record(t, 300, waves.Options{}, hdl.Options{}))
	part := check(t, record(t, 300, waves.Options{Scopes: []string{"rx.seen.port_0.addr", "rx.in.head.kind_name"}}, hdl.Options{}))
	for _, v := range part.Vars {
		require.Equal(t, whole.Find(v.Path).Changes, v.Changes, v.Path)
	}
}

func TestWrongOptions(t *testing.T) {
	k := elaborate(t, "top", 20, hdl.Options{})
	for _, c := range []struct {
		o    waves.Options
		want string
	}{
		{waves.Options{Scopes: []string{"tx", "nic"}}, `waves: scope "nic" selects nothing below top`},
		{waves.Options{Scopes: []string{"[tx"}}, `waves: scope "[tx" is not a pattern`},
		{waves.Options{Scopes: []string{""}}, `waves: scope "" is not a pattern`},
		{waves.Options{From: -1}, "waves: a window from -1 ps to 9223372036854775807 ps"},
		{waves.Options{From: 5, To: 4}, "waves: a window from 5 ps to 4 ps"},
	} {
		_, err := waves.New(&bytes.Buffer{}, c.o, k)
		require.EqualError(t, err, c.want)
	}
	_, err := waves.New(&bytes.Buffer{}, waves.Options{})
	require.EqualError(t, err, "waves: no kernel")
	_, err = waves.Create(t.TempDir()+"/none/x.vcd", waves.Options{}, k)
	require.ErrorContains(t, err, "none/x.vcd: no such file or directory")
	require.NoError(t, k.Run(10), "a file that was refused is no observer")
}
