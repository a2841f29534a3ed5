package waves_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
	"rnic/waves"
	"rnic/waves/vcdnorm"
	"rnic/waves/wavetest"
)

// told is what a row is told, and the changes that a file should show of it.
func told(sets []vcdnorm.Change, from, to int64) []vcdnorm.Change {
	l := []vcdnorm.Change{{Time: from}}
	for _, s := range sets {
		if s.Time > to {
			break
		}
		n := len(l)
		switch at := max(s.Time, from); {
		case l[n-1].Time == at:
			l[n-1].Value = s.Value
			if n > 1 && l[n-2].Value == s.Value {
				l = l[:n-1]
			}
		case l[n-1].Value != s.Value:
			l = append(l, vcdnorm.Change{Time: at, Value: s.Value})
		}
	}
	return l
}

// Rows of two kernels, told now, late and early, show what they were told, in both
// formats, whatever the window of the file.
func TestRows(t *testing.T) {
	for _, o := range []waves.Options{{}, {From: 3_000_000, To: 90_000_000}, {From: 3_000_001, Scopes: []string{"decoded"}}, {From: 20_000_000, To: 20_000_000 + 100}} {
		a := elaborate(t, "host_a", 20, hdl.Options{})
		b := elaborate(t, "host_b", 7, hdl.Options{PeriodPs: 3103})
		rows := []*waves.Row{{Path: "host_a.decoded.tx"}, {Path: "host_b.decoded.tx"}, {Path: "host_a.decoded.slow"}}
		o.Rows = rows
		sets := make([][]vcdnorm.Change, len(rows))
		set := func(i int, ps int64, text string) {
			rows[i].Set(ps, text)
			sets[i] = append(sets[i], vcdnorm.Change{Time: ps, Value: text})
		}
		for i, k := range []*hdl.Kernel{a, b} {
			k.Go("teller", func(th *hdl.Thread) {
				n := uint64(0)
				for ; ; n++ {
					now := int64(k.Cycle()) * k.PeriodPs()
					switch set(i, now+1, fmt.Sprintf("%d a\\b\n$end \x00ü", n)); n % 7 {
					case 2:
						set(i, now+1, "of the same instant")
					case 3:
						set(i, now+400, "") // ends by itself
					case 5:
						set(i, now+1, fmt.Sprintf("%d", n))
						set(i, now+1, fmt.Sprintf("%d a\\b\n$end \x00ü", n-1))
					}
					if i == 0 && n%50 == 40 {
						set(2, max(now-waves.RowLag*k.PeriodPs(), 0), fmt.Sprint("late ", n))
					}
					th.Sleep(1 + n*n%37)
				}
			})
		}
		vcd, fst := both(t, o, func() { require.ErrorIs(t, hdl.NewWorld(75, a, b).Run(nil, 30_000), hdl.ErrLimit) }, a, b)
		f := check(t, string(bytesOf(t, vcd)))
		require.Greater(t, len(sets[2]), 20)
		for i, r := range rows {
			require.Equal(t, told(sets[i], f.Start, f.End), f.Find(r.Path).Changes, "%s from %d to %d", r.Path, f.Start, f.End)
		}
		wavetest.Same(t, vcd, fst)
		rows[0].Set(0, "after the end") // nobody minds
	}
}

// A row is told of the oldest instant that may still be told of, and had been told of it
// before: the merger must not have that yet.
func TestRowsAtTheLimit(t *testing.T) {
	k := elaborate(t, "top", 20, hdl.Options{})
	row := &waves.Row{Path: "top.what"}
	var b bytes.Buffer
	v, err := waves.New(&b, waves.Options{Rows: []*waves.Row{row}}, k)
	require.NoError(t, err)
	k.Go("teller", func(th *hdl.Thread) {
		for c := int64(0); c < 3*waves.RowLag; c++ {
			if c >= waves.RowLag {
				row.Set((c-waves.RowLag)*4000, fmt.Sprint("late ", c))
				row.Set((c-waves.RowLag+1)*4000, fmt.Sprint("early ", c))
			}
			th.Sleep(1)
		}
	})
	require.NoError(t, k.Run(3*waves.RowLag+10))
	require.NoError(t, v.Close())
	changes := check(t, b.String()).Find("top.what").Changes
	require.Len(t, changes, 2*waves.RowLag+1)
	for i, c := range changes[:2*waves.RowLag] {
		require.Equal(t, vcdnorm.Change{Time: int64(i) * 4000, Value: fmt.Sprint("late ", i+waves.RowLag)}, c)
	}
}

// Any texts at any times.
func TestRowsAtRandom(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		k := elaborate(t, "top", 20, hdl.Options{})
		row := &waves.Row{Path: "top.tx.what"}
		var b bytes.Buffer
		v, err := waves.New(&b, waves.Options{Rows: []*waves.Row{row}, Scopes: []string{"tx.what"}}, k)
		require.NoError(r, err)
		var sets []vcdnorm.Change
		last := int64(0)
		for c := uint64(0); c < 9000; {
			c += rapid.Uint64Range(1, 3000).Draw(r, "cycles")
			require.NoError(r, k.Run(c))
			now := int64(k.Cycle()) * 4000
			at := max(last, now+rapid.Int64Range(-min(now, waves.RowLag*4000), 10_000).Draw(r, "when"))
			last = at
			sets = append(sets, vcdnorm.Change{Time: at, Value: string(rapid.SliceOf(rapid.Byte()).Draw(r, "text"))})
			row.Set(at, sets[len(sets)-1].Value)
		}
		require.NoError(r, v.Close())
		f := check(r, b.String())
		require.Equal(r, told(sets, 0, f.End), f.Find("top.tx.what").Changes)
	})
}

// A row is in the file under its path, in scopes that the design has or not.
func TestWhereRowsAre(t *testing.T) {
	rows := []*waves.Row{{Path: "top.tx.what"}, {Path: "top.a b.c d"}, {Path: "top.tx.state"}, {Path: "top.what"}}
	f := check(t, record(t, 5, waves.Options{Rows: rows, Scopes: []string{"tx.what", "a_b", "tx.state_2", "what"}}, hdl.Options{}))
	require.Equal(t, "top.clk top.reset top.what top.tx.what top.tx.state_2 top.a_b.c_d", paths(f))
	f = check(t, record(t, 5, waves.Options{Rows: rows, Scopes: []string{"tx.psn"}}, hdl.Options{}))
	require.Equal(t, "top.clk top.reset top.tx.psn", paths(f))
	f = check(t, record(t, 5, waves.Options{Rows: rows, Profile: waves.Portable}, hdl.Options{}))
	require.Nil(t, f.Find("top.what"))
	rows[0].Set(0, "nobody listens")
}

func TestWrongRows(t *testing.T) {
	k := elaborate(t, "top", 20, hdl.Options{})
	for path, want := range map[string]string{
		"tx.what": `waves: row "tx.what" is below none of the kernels`, "": `waves: row "" is below none of the kernels`,
		"top": `waves: row "top" is below none of the kernels`, "top..x": `waves: row "top..x" has a part without a name`,
	} {
		_, err := waves.CreateFST(filepath.Join(t.TempDir(), "x"), waves.Options{Rows: []*waves.Row{{Path: path}}}, k)
		require.EqualError(t, err, want)
	}
	for _, c := range []struct {
		ps   int64
		want string
	}{
		{19_999, "row top.x is set at 19999 ps after 20000 ps"},
		{(6000-waves.RowLag)*4000 - 1, "row top.x is set at 7615999 ps, more than 4096 cycles late"},
	} {
		k := elaborate(t, "top", 20, hdl.Options{})
		row := &waves.Row{Path: "top.x"}
		v, err := waves.New(discard{}, waves.Options{Rows: []*waves.Row{row}}, k)
		require.NoError(t, err)
		k.Go("teller", func(th *hdl.Thread) {
			row.Set(20_000, "")
			th.Sleep(6000)
			row.Set(c.ps, "")
		})
		var f *hdl.Fault
		require.ErrorAs(t, k.Run(10_000), &f)
		require.Equal(t, c.want, f.Msg)
		require.NoError(t, v.Close())
	}
}
