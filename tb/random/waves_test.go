package random

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/tb"
)

// TestWavesOfAFailure: a run that failed is done once more, and its waves are those
// around the failure, the same each time.
func TestWavesOfAFailure(t *testing.T) {
	draw := func() *Scenario {
		s := Draw(2, Options{})
		s.Setup = func(b *tb.Bench) {
			b.Hosts[1].SetFault(tb.Strikes(&tb.Strike{Name: "from the 31st on", Match: func(*roce.Packet) bool { return true }, Skip: 30, Times: 1 << 30}))
		}
		return s
	}
	rep, err := draw().Run()
	require.Error(t, err)
	var first []byte
	for range 2 {
		dir := t.TempDir()
		o := Options{Waves: dir}
		text := o.waves(2, draw(), rep.Cycles, err)
		require.True(t, strings.HasPrefix(text, "wrote "+filepath.Join(dir, "seed_2.fst")), text)
		vcd, err := os.ReadFile(filepath.Join(dir, "seed_2.fst"))
		require.NoError(t, err)
		require.Greater(t, len(vcd), 100_000)
		require.FileExists(t, filepath.Join(dir, "seed_2.gtkw"))
		if first != nil {
			require.Equal(t, first, vcd)
		}
		first = vcd
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	o := Options{Waves: file}
	require.Contains(t, o.waves(2, draw(), rep.Cycles, errors.New("x")), "no waves: ")
}
