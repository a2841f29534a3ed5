package main_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/story"
)

// TestHangAndStory: of a packet both name the same cycles.
func TestHangAndStory(t *testing.T) {
	dir := t.TempDir()
	_, stderr, err := call(t, dir, "run", "--fault", "drop b last times=all", "--timeout", "31", "--qps", "1", "--story", "--out", "w")
	require.Error(t, err)
	s, err := story.Read(filepath.Join(dir, "w", "story.json"))
	require.NoError(t, err)
	list := regexp.MustCompile(`\n\tcycle (\d+) ([ab]) to [ab] QP \d+ PSN (0x[0-9a-f]+) (\w+) .*?(?:: lost by a fault in cycle (\d+))?\n`).FindAllStringSubmatch(strings.ReplaceAll(stderr, "\n\t", "\n\n\t"), -1)
	require.Len(t, list, len(s.Packets), stderr)
	for i, m := range list {
		p := s.Packets[i]
		require.Equal(t, fmt.Sprintf("%d %s %#x %s", p.Cycle, p.Host, p.PSN, p.Opcode), m[1]+" host_"+m[2]+" "+m[3]+" "+m[4])
		lost := ""
		if p.Fate == story.DroppedOnWire {
			lost = fmt.Sprint(p.Why[len(p.Why)-1].Cycle)
		}
		require.Equal(t, lost, m[5])
	}
}

// TestHang: a run whose last packets are lost, and whose timer is too long, is explained;
// its waves are there, and the command that it prints makes the same explanation and waves.
func TestHang(t *testing.T) {
	dir := t.TempDir()
	args := []string{"run", "--fault", "drop b last times=all", "--timeout", "31", "--qps", "1", "--out", "w"}
	stdout, stderr, err := call(t, dir, args...)
	require.Error(t, err)
	require.Empty(t, stdout)
	require.Regexp(t, `^rnic: the run does not go on since cycle \d+, noticed in cycle \d+: cycle limit reached`, stderr)
	require.Regexp(t, `host_a, QP 2: work request at WQE index 0 \(SEND, 4096 bytes, PSN 0x[0-9a-f]+ to 0x[0-9a-f]+\) to QP 2`, stderr)
	require.Regexp(t, `host_a\.wire: cycle \d+ a to b QP 2 PSN 0x[0-9a-f]+ RC_SEND_LAST 1024 bytes asks for an answer: lost by a fault`, stderr)
	require.Contains(t, stderr, "\nwrote w/hang.fst\nwrote w/hang.gtkw\nwrote w/hang.sucl\n")
	require.Contains(t, stderr, `fault "drop b last times=all" struck 1 of 1`)
	fst := read(t, filepath.Join(dir, "w", "hang.fst"))
	require.FileExists(t, filepath.Join(dir, "w", "hang.gtkw"))
	repeat := regexp.MustCompile(`repeat it, with these waves: rnic run --fault '(.*)' (--timeout 31 --qps 1 --out w) --fst --from (\d+)ns --to (\d+)ns\n`).FindStringSubmatch(stderr)
	require.NotNil(t, repeat, stderr)

	_, again, err := call(t, dir, append(args, "--fst", "--from", repeat[3]+"ns", "--to", repeat[4]+"ns")...)
	require.Error(t, err)
	require.Equal(t, stderr+"wrote w/rnic.fst\nwrote w/rnic.gtkw\nwrote w/rnic.sucl\n", again, "the flags of the waves are not said twice")
	require.Equal(t, fst, read(t, filepath.Join(dir, "w", "hang.fst")))
	require.FileExists(t, filepath.Join(dir, "w", "rnic.fst"))
}
