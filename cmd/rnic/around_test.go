package main_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb"
	reader "rnic/waves/read"
	"rnic/waves/wavetest"
)

// lossy is a run of which the third packet to host b is lost.
var lossy = []string{"run", "--qps", "2", "--fault", "drop b nth=3", "--retry-cnt", "7", "--timeout", "5", "--out", "o"}

// Each event of a run has a window of waves around it, with a marker, as wide as asked
// for; so has one of a scenario.
func TestAround(t *testing.T) {
	dir := t.TempDir()
	for event, marker := range map[string]string{
		"nak":        `Anak: RC_ACK qp=2 psn=0x[0-9a-f]+ NAK_SEQUENCE msn=0`,
		"drop":       `Adrop: by a fault, lost: RC_SEND_MIDDLE qp=2 psn=0x[0-9a-f]+ 1024B`,
		"retry #1":   `Aretry #1: qp=2 again from psn=0x[0-9a-f]+`,
		"cycle 9000": `Acycle 9000`,
	} {
		out := rnic(t, dir, append(lossy, "--around", event, "--before", "100", "--after", "50")...)
		require.Contains(t, out, "o/around.fst")
		gtkw := string(read(t, dir, "o", "around.gtkw"))
		require.Regexp(t, `\[markername\] `+marker, gtkw)
		at, err := strconv.ParseInt(regexp.MustCompile(`\n\*\S+ -1 (\d+) -1`).FindStringSubmatch(gtkw)[1], 10, 64)
		require.NoError(t, err)
		f, err := reader.Open(filepath.Join(dir, "o", "around.fst"))
		require.NoError(t, err)
		require.True(t, f.Next())
		require.Equal(t, at-100*tb.PeriodPs, int64(f.Time()), event)
		last := f.Time()
		for f.Next() {
			last = f.Time()
		}
		require.NoError(t, f.Err())
		require.NoError(t, f.Close())
		require.InDelta(t, at+50*tb.PeriodPs, last, tb.PeriodPs, event)
	}
	lost, err := filepath.Abs("../../scenarios/lost_first.yaml")
	require.NoError(t, err)
	out := rnic(t, dir, "run", lost, "--around", "drop", "--out", "s")
	require.Contains(t, out, "s/around.fst")
}

// What never happens is an error that lists what did.
func TestAroundNothing(t *testing.T) {
	dir := t.TempDir()
	for event, want := range map[string]string{
		"timeout":           `rnic: --around "timeout": there was none; the run of \d+ cycles had \d+ x packet, 1 x nak, 1 x retry, 1 x drop\n`,
		"drop #2":           `rnic: --around "drop #2": there were only 1; `,
		"hang":              `there was none`,
		"cycle 9999999":     `there was none`,
		"qp 99 psn 1":       `there was none`,
		"nonsense":          `must be nak, rnr, retry, `,
		"nak #0":            `there is no such number`,
		"qp 99999999 psn 1": `QPN and PSN have 24 bits`,
	} {
		_, stderr, err := call(t, dir, append(lossy, "--around", event)...)
		require.Error(t, err)
		require.Regexp(t, want, stderr)
	}
}

// GTKWave loads every view without a message, from any folder.
func TestViews(t *testing.T) {
	wavetest.Need(t, "gtkwave")
	dir := t.TempDir()
	rnic(t, dir, append(lossy, "--fst")...)
	views, err := filepath.Glob(filepath.Join(dir, "o", "views", "*.gtkw"))
	require.NoError(t, err)
	require.Greater(t, len(views), 36)
	for _, v := range append([]string{filepath.Join(dir, "o", "rnic.gtkw")}, views[:3]...) {
		require.NotContains(t, string(read(t, v)), dir, "an absolute path")
		got := wavetest.GTKWave(t, `say "traces [expr [llength [gtkwave::getDisplayedSignals]] > 7] [lindex [gtkwave::getDisplayedSignals] 0]"`, v)
		require.Equal(t, "traces 1 host_a.wire.tx\n", got, v)
	}
	sucl := string(read(t, dir, "o", "rnic.sucl"))
	require.Contains(t, sucl, "variable_add host_a.wire.tx\n")
	require.NotContains(t, sucl, dir)
	require.Contains(t, string(read(t, dir, "o", ".surfer", "mappings", "abi_QPState")), "6[error] ERR\n")
}
