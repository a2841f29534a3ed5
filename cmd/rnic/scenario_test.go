package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scenarioFile is one of the shipped scenarios, with a text in the place of another.
func scenarioFile(t *testing.T, name, old, new string) (dir, file string) {
	dir = t.TempDir()
	b := string(read(t, filepath.Join(docs, "..", "scenarios", name)))
	require.Contains(t, b, old)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.Replace(b, old, new, 1)), 0o666))
	return dir, name
}

// A scenario is run and judged, and leaves the files that are asked for.
func TestScenario(t *testing.T) {
	dir, file := scenarioFile(t, "lost_first.yaml", "", "")
	out := rnic(t, dir, "run", file, "--vcd", "--pcap", "--out", "o", "--strict")
	require.Regexp(t, `(?m)^lost_first.yaml +PASS$`, out)
	require.Contains(t, out, "PASS  drop b send first")
	for _, f := range []string{"rnic.vcd", "rnic.gtkw", "host_a.pcapng", "host_b.pcapng"} {
		require.FileExists(t, filepath.Join(dir, "o", f))
	}
	var r struct {
		Pass    bool
		Checks  []struct{ Pass bool }
		Packets []struct{ Host, Packet string }
	}
	require.NoError(t, json.Unmarshal([]byte(rnic(t, dir, "run", file, "--json")), &r))
	require.True(t, r.Pass)
	require.Greater(t, len(r.Checks), 10)
	require.Equal(t, "send_first psn 100 (+0) 1024 bytes", r.Packets[0].Packet)
}

// What is otherwise than expected is told, and is an error.
func TestScenarioFails(t *testing.T) {
	dir, file := scenarioFile(t, "lost_first.yaml", "{from: a, count: 6}", "{from: a, count: 5}")
	out, stderr, err := call(t, dir, "run", file)
	require.Error(t, err)
	require.Regexp(t, `FAIL +a: packet \(line \d+\) +expected 5\n +came +6\n`, out)
	require.Contains(t, out, "nak_sequence msn 0")
	require.Regexp(t, `^rnic: lost_first.yaml: 1 of \d+ checks failed\n$`, stderr)

	dir, file = scenarioFile(t, "lost_first.yaml", "drop b send first", "drop b write")
	out, _, err = call(t, dir, "run", file)
	require.Error(t, err)
	require.Regexp(t, `FAIL +drop b write +expected that it strikes as often as it says\n +came +struck 0 of 0 at host b`, out)
}

// A wrong file and a flag that has no meaning are refused.
func TestScenarioWrong(t *testing.T) {
	dir, file := scenarioFile(t, "send.yaml", "size: 4KiB", "size: 4096")
	_, stderr, err := call(t, dir, "run", file)
	require.Error(t, err)
	require.Regexp(t, `^rnic: send.yaml:\d+:27: "4096": the unit is missing: must be bytes with a unit, as 64B, 4KiB or 1MiB\n`, stderr)
	_, stderr, err = call(t, dir, "run", file, "--op", "read")
	require.Error(t, err)
	require.Equal(t, "rnic: --op is for the transfer of a file: send.yaml is a scenario, which says so itself\n", stderr)
	require.Contains(t, rnic(t, dir, "run", "--help"), "docs/scenarios.md")
}

// TestScenarioHangs: one whose timer is too long is explained, with its waves.
func TestScenarioHangs(t *testing.T) {
	dir, file := scenarioFile(t, "lost_last.yaml", "timeout: 2", "timeout: 31")
	_, stderr, err := call(t, dir, "run", file, "--out", "w")
	require.Error(t, err)
	require.Regexp(t, `lost_last.yaml: 10 of 16 checks failed: the run does not go on since cycle \d+, noticed in cycle \d+: it has not ended within 1s`, stderr)
	require.Contains(t, stderr, "RC_SEND_LAST 452 bytes asks for an answer: lost by a fault")
	require.Contains(t, stderr, "repeat it, with these waves: rnic run lost_last.yaml --out w --fst --from")
	require.FileExists(t, filepath.Join(dir, "w", "hang.fst"))
	require.FileExists(t, filepath.Join(dir, "w", "hang.gtkw"))
}
