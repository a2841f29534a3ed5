package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/story"
	"rnic/waves/wavetest"
)

// told runs with --story and gives the folder.
func told(t *testing.T) string {
	dir := t.TempDir()
	rnic(t, dir, "run", "--story", "--pcap", "--fault", "drop b nth=5")
	return filepath.Join(dir, "out")
}

// TestStoryFiles: the same bytes each time, and comments that tshark reads.
func TestStoryFiles(t *testing.T) {
	one, two := told(t), told(t)
	for _, f := range []string{"story.json", "rnic.log", "host_a.pcapng", "host_b.pcapng"} {
		a, err := os.ReadFile(filepath.Join(one, f))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(two, f))
		require.NoError(t, err)
		require.Equal(t, string(a), string(b), f)
		require.NotContains(t, string(a), one)
	}
	log, err := os.ReadFile(filepath.Join(one, "rnic.log"))
	require.NoError(t, err)
	for _, l := range strings.Split(strings.TrimSpace(string(log)), "\n") {
		require.Regexp(t, `^\d+ [np]s host_[ab](\.\w+)+=\S+: .+$`, l)
	}
	wavetest.Need(t, "tshark")
	out, err := exec.Command("tshark", "-r", filepath.Join(one, "host_a.pcapng"), "-T", "fields", "-e", "frame.comment").Output()
	require.NoError(t, err)
	comments := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	s, err := story.Read(filepath.Join(one, "story.json"))
	require.NoError(t, err)
	have := map[string]bool{}
	for _, c := range comments {
		require.NotEmpty(t, c)
		have[c] = true
	}
	retries := 0
	for _, p := range s.Packets {
		if p.Host == "host_a" {
			require.True(t, have[p.Comment()], p.Comment())
			if p.Cause == story.AfterNAK {
				retries++
			}
		}
	}
	require.Equal(t, 4, retries)
}

// TestExplainCommand: text and JSON, and what is wrong is said.
func TestExplainCommand(t *testing.T) {
	dir := told(t)
	out := rnic(t, dir, "explain", ".", "--wr", "2")
	require.Contains(t, out, "retry after NAK because of packet 3")
	require.Regexp(t, `(?m)^  \d+ ns, cycle \d+: entered, \d+ cycles later\n      host_a\.nic\.retrans\.sent\.head\.first_psn = 0x[0-9a-f]+$`, out)
	out = rnic(t, dir, "explain", "story.json", "--qp", "a:3", "--json")
	var e story.Explanation
	require.NoError(t, json.Unmarshal([]byte(out), &e))
	require.Greater(t, len(e.Statements), 5)
	require.Contains(t, rnic(t, dir, "explain", "."), "1 dropped on the wire")
	bad := filepath.Join(t.TempDir(), "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte(`{"clock_ps":4000,"hosts":["a"],"wrs":[null]}`), 0o666))
	for _, args := range [][]string{
		{dir, "--wr", "99"}, {dir, "--packet", "-1"}, {dir, "--qp", "3"}, {dir, "--qp", "c:3"}, {dir, "--wr", "1", "--run"},
		{t.TempDir()}, {bad}, {filepath.Join(dir, "rnic.log")},
	} {
		refused(t, dir, append([]string{"explain"}, args...)...)
	}
}
