package waves_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
)

var update = flag.Bool("update", false, "write testdata anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile("testdata/"+name, []byte(got), 0o666))
	}
	want, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestGolden(t *testing.T) {
	golden(t, "rich.vcd", record(t, 50, waves.Options{}, hdl.Options{}))
	golden(t, "portable.vcd", record(t, 50, waves.Options{Profile: waves.Portable}, hdl.Options{}))
}

func TestStrictGivesTheSameBytes(t *testing.T) {
	fast := record(t, 3000, waves.Options{}, hdl.Options{})
	require.Equal(t, fast, record(t, 3000, waves.Options{}, hdl.Options{Strict: true, Order: 7}))
	require.Equal(t, fast, record(t, 3000, waves.Options{}, hdl.Options{Digest: true}))
	require.Greater(t, len(fast), 50000)
}

// world runs two kernels and gives their common file.
func world(t *testing.T, window uint64, o waves.Options) string {
	var b bytes.Buffer
	a := elaborate(t, "host_a", 20, hdl.Options{})
	c := elaborate(t, "host_b", 7, hdl.Options{PeriodPs: 3103})
	v, err := waves.New(&b, o, a, c)
	require.NoError(t, err)
	w := hdl.NewWorld(window, a, c)
	require.ErrorIs(t, w.Run(nil, 20000), hdl.ErrLimit)
	require.NoError(t, v.Close())
	return b.String()
}

func TestWorldIsMergedByTime(t *testing.T) {
	got := world(t, 75, waves.Options{})
	require.Equal(t, got, world(t, 13, waves.Options{}), "depends on the windows of the world")

	var b bytes.Buffer
	a := elaborate(t, "host_a", 20, hdl.Options{})
	c := elaborate(t, "host_b", 7, hdl.Options{PeriodPs: 3103})
	v, err := waves.New(&b, waves.Options{}, a, c)
	require.NoError(t, err)
	require.NoError(t, a.Run(20000))
	require.NoError(t, c.Run(20000))
	require.NoError(t, v.Close())
	require.Equal(t, got, b.String(), "one after the other is not the same")
}
