package main_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb"
	reader "rnic/waves/read"
	"rnic/waves/wavetest"
)

// lossy is a run of which the third packet to host b is lost.
var lossy = []string{"run", "--qps", "2", "--fault", "drop b nth=3", "--retry-cnt", "7", "--timeout", "5", "--out", "o"}

// Each event has a window of waves around it, with a marker, as wide as asked for and no
// wider, whether the run succeeds or not; so has one of a scenario.
func TestAround(t *testing.T) {
	shipped := func(name string) []string {
		path, err := filepath.Abs("../../scenarios/" + name + ".yaml")
		require.NoError(t, err)
		return []string{"run", path, "--out", "o"}
	}
	stuck := []string{"run", "--qps", "1", "--plug", "a keys stop=3", "--out", "o"}
	broken := []string{"run", "--qps", "1", "--plug", "a completions break=1", "--out", "o"}
	for _, c := range []struct {
		args          []string
		event, marker string
		fails         string // what the run says if it fails
	}{
		{lossy, "nak", `nak: RC_ACK qp=2 psn=0x[0-9a-f]+ NAK_SEQUENCE msn=0`, ""},
		{lossy, "drop", `drop: by a fault, lost: RC_SEND_MIDDLE qp=2 psn=0x[0-9a-f]+ 1024B`, ""},
		{lossy, "retry #1", `retry #1: qp=2 again from psn=0x[0-9a-f]+`, ""},
		{lossy, "cycle 9000", `cycle 9000`, ""},
		{lossy, "QP 2 PSN 0x986fc0", `QP 2 PSN 0x986fc0: RC_SEND_FIRST qp=2 psn=0x986fc0 1024B`, ""},
		{stuck, "hang", `hang`, `the run does not go on since cycle`},
		{broken, "assertion", `assertion: host_a.test.out: second Put in one cycle`, `^rnic: host_a.test: cycle \d+: host_a.test.out: second Put in one cycle\n`},
		{shipped("lost_first"), "drop", `drop: by a fault, lost: `, ""},
		{shipped("rnr_nak"), "rnr", `rnr: RC_ACK qp=\d+ psn=0x64 RNR_1 msn=0`, ""},
		{shipped("timeout_retry"), "timeout", `timeout: ACK timer of qp=2`, ""},
		{shipped("nak_remote_access"), "cqe-error", `cqe-error: qp=\d+ WRITE #0 64B psn=0x64 REM_ACCESS_ERR`, ""},
		{shipped("nak_remote_access"), "cqe-error #2", `cqe-error #2: qp=\d+ WRITE #1 64B psn=0x65 WR_FLUSH_ERR`, ""},
	} {
		dir := t.TempDir()
		stdout, stderr, err := call(t, dir, append(c.args, "--around", c.event, "--before", "100", "--after", "50")...)
		if c.fails == "" {
			require.NoError(t, err, stderr)
			require.Contains(t, stdout, "o/around.fst")
		} else {
			require.Error(t, err)
			require.Regexp(t, c.fails, stderr)
			require.Contains(t, stderr, "wrote o/around.fst\nwrote o/around.gtkw\nwrote o/around.sucl\n")
		}
		gtkw := string(read(t, dir, "o", "around.gtkw"))
		require.Regexp(t, `\[markername\] A`+c.marker, gtkw)
		at, err := strconv.ParseInt(regexp.MustCompile(`\n\*\S+ -1 (\d+) -1`).FindStringSubmatch(gtkw)[1], 10, 64)
		require.NoError(t, err)
		f, err := reader.Open(filepath.Join(dir, "o", "around.fst"))
		require.NoError(t, err)
		require.True(t, f.Next())
		require.Equal(t, at-100*tb.PeriodPs, int64(f.Time()), c.event)
		last := f.Time()
		for f.Next() {
			last = f.Time()
		}
		require.NoError(t, f.Err())
		require.NoError(t, f.Close())
		require.LessOrEqual(t, int64(last), at+51*tb.PeriodPs, c.event)
		if c.event != "assertion" { // where nothing can go on
			require.GreaterOrEqual(t, int64(last), at+49*tb.PeriodPs, c.event)
		}
		sucl := string(read(t, dir, "o", "around.sucl"))
		require.Contains(t, sucl, "variable_add host_a.")
		require.Contains(t, sucl, fmt.Sprintf("cursor_set %d\n", at))
		require.NotContains(t, sucl, dir)
		require.Contains(t, string(read(t, dir, "o", ".surfer", "mappings", "abi_QPState")), "6[error] ERR\n")
	}
}

// The view of a window has all blocks; of a long one, that GTKWave would take long for, none,
// and says so. The waves have them.
func TestAroundLongWindow(t *testing.T) {
	for after, long := range map[string]bool{"5000": false, "5001": true} { // with 15000 before
		dir := t.TempDir()
		rnic(t, dir, "run", "--around", "cycle 25000", "--before", "15000", "--after", after, "--out", "o")
		gtkw := string(read(t, dir, "o", "around.gtkw"))
		require.Contains(t, gtkw, "+{host_a/wire/tx} host_a.wire.tx\n")
		require.Contains(t, gtkw, "+{host_a/driver/")
		require.Equal(t, !long, strings.Contains(gtkw, "host_a.nic.retrans.used"), after)
		require.Equal(t, long, strings.Contains(gtkw, "\n@200\n-blocks are left out: over 20000 cycles. They are in the tree (SST)\n"), after)
		require.Contains(t, rnic(t, dir, "wave", "o/around.fst", "--list", "-s", "host_a.nic.retrans.used"), "host_a.nic.retrans.used")
		t.Run("GTKWave", func(t *testing.T) {
			got := wavetest.GTKWave(t, `say "[expr [llength [gtkwave::getDisplayedSignals]] > 5000]"`, filepath.Join(dir, "o", "around.gtkw"))
			require.Equal(t, map[bool]string{false: "1\n", true: "0\n"}[long], got)
		})
	}
}

// The marker of an event is at the cycle of which the story tells, whose line names a
// signal that has that value then.
func TestAroundIsTheStorys(t *testing.T) {
	scene := func(name string) []string {
		path, err := filepath.Abs("../../scenarios/" + name + ".yaml")
		require.NoError(t, err)
		return []string{"run", path, "--out", "o"}
	}
	for _, c := range []struct {
		args        []string
		event, line string
	}{
		{lossy, "nak", `wire\.from_nic\.fire=1: packet \d+ .*NAK_SEQUENCE.* leaves`},
		{lossy, "retry", `is to send again from PSN`},
		{lossy, "drop", `lost by a fault`},
		{lossy, "drop #2", `qpc judges it`},
		{lossy, "qp 2 psn 0x986fc0", `wire\.from_nic\.fire=1: packet \d+ .* leaves`},
		{scene("timeout_retry"), "timeout", `TIMEOUT: QP \d+: the ACK timer has expired`},
		{scene("rnr_nak"), "rnr", `wire\.from_nic\.fire=1: packet \d+ .*RNR.* leaves`},
		{scene("rnr_wait"), "drop", `out_of_buffer: packet \d+: qpc judges it`},
		{scene("nak_remote_access"), "cqe-error", `dma\.write_2\.data\.fire=1: .*: cqe written`},
		{scene("nak_remote_access"), "cqe-error #2", `dma\.write_2\.data\.fire=1: .*: cqe written`},
	} {
		dir := t.TempDir()
		_, stderr, err := call(t, dir, append(slices.Clone(c.args), "--story", "--around", c.event, "--before", "100", "--after", "50")...)
		require.NoError(t, err, stderr)
		at, err := strconv.ParseInt(regexp.MustCompile(`\n\*\S+ -1 (\d+) -1`).FindStringSubmatch(string(read(t, dir, "o", "around.gtkw")))[1], 10, 64)
		require.NoError(t, err)
		var lines, shown []string
		for l := range strings.Lines(string(read(t, dir, "o", "rnic.log"))) {
			if rest, ok := strings.CutPrefix(l, fmt.Sprintf("%d ns ", at/1000)); ok {
				lines = append(lines, rest)
				if regexp.MustCompile(c.line).MatchString(rest) {
					signal, _, _ := strings.Cut(rest, "=")
					shown = append(shown, signal)
				}
			}
		}
		require.NotEmpty(t, shown, "%s at %d ns: %q", c.event, at/1000, lines)
		signal := shown[0]
		block, _, _ := strings.Cut(signal[:strings.LastIndex(signal, ".")], ".head")
		if strings.Contains(signal, "wire.to_nic") {
			continue // a frame that is lost does not come
		}
		fires := rnic(t, dir, "wave", "o/around.fst", "--at", fmt.Sprintf("%dps", at), "-s", block+".fire")
		require.Regexp(t, `fire +1\n`, fires, "%s: %s", c.event, shown[0])
	}
}

// What never happens is an error that lists what did.
func TestAroundNothing(t *testing.T) {
	dir := t.TempDir()
	for event, want := range map[string]string{
		"timeout":           `rnic: --around "timeout": there was none; the run of \d+ cycles had \d+ x packet, 1 x nak, 1 x retry, 2 x drop\n`,
		"drop #3":           `rnic: --around "drop #3": there were only 2; `,
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
	_, stderr, err := call(t, dir, append(lossy, "--around", "timeout", "--story")...)
	require.Error(t, err)
	require.Contains(t, stderr, "\nwrote o/story.json\n")
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
