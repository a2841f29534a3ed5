package waves_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
)

// FuzzRow is any path, text and time of a row, and any name of a kernel: what is not
// refused is in a VCD of the strict dialect, and goes into an FST.
func FuzzRow(f *testing.F) {
	f.Add("top", "top.tx.what", "WRITE_FIRST 5\n", int64(9000))
	f.Add("a b", "a b.x:1.[3]", "$end\\", int64(0))
	f.Add("a", "a.b", "before there was time", int64(-19))
	f.Add("", ".größe", "\x00", int64(41_000))
	f.Fuzz(func(t *testing.T, name, path, text string, ps int64) {
		k := elaborate(t, name, 5, hdl.Options{})
		o := waves.Options{Rows: []*waves.Row{{Path: path}}}
		var b bytes.Buffer
		v, err := waves.New(&b, o, k)
		if err != nil {
			return
		}
		w, err := waves.NewFST(&tape{}, o, k)
		require.NoError(t, err)
		k.Go("teller", func(th *hdl.Thread) {
			th.Sleep(5)
			o.Rows[0].Set(ps, text)
		})
		err = k.Run(10)
		require.Equal(t, ps < 0 && ps < (5-waves.RowLag)*4000, err != nil, "%v", err)
		require.NoError(t, v.Close())
		require.NoError(t, w.Close())
		file := check(t, b.String())
		shown := ""
		if ps <= file.End && err == nil {
			shown = text
		}
		row := file.Vars[slices.IndexFunc(v.Vars, func(v *waves.Var) bool { return v.Row })]
		require.Equal(t, shown, row.Changes[len(row.Changes)-1].Value)
	})
}

// FuzzScopes is any patterns: what is not refused leaves a file of the strict dialect.
func FuzzScopes(f *testing.F) {
	f.Add("tx", "*.fire")
	f.Add("top.rx.[a-z]*", "\\")
	f.Fuzz(func(t *testing.T, a, b string) {
		k := elaborate(t, "top", 5, hdl.Options{})
		var out bytes.Buffer
		v, err := waves.New(&out, waves.Options{Scopes: []string{a, b}}, k)
		if err != nil {
			return
		}
		require.NoError(t, k.Run(10))
		require.NoError(t, v.Close())
		require.GreaterOrEqual(t, len(check(t, out.String()).Vars), 3)
	})
}
