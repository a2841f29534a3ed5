package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/fault"
)

// Faults that do no harm, and what the report says of them.
func TestFault(t *testing.T) {
	dir := t.TempDir()
	r := runJSON(t, dir, "--fault", "duplicate=3us b nth=5", "--fault", "pcie a read delay=2us 10%", "--seed", "3")
	require.Equal(t, 4, r.Messages)
	require.Equal(t, int64(16384), r.Bytes)
	require.Len(t, r.Faults, 2)
	require.Equal(t, faultOf{"duplicate=3us b nth=5", "b", 16, 1}, r.Faults[0])
	require.Equal(t, "pcie a read delay=2us 10%", r.Faults[1].Fault)
	require.Greater(t, r.Faults[1].Matched, r.Faults[1].Struck)

	out := rnic(t, dir, "run", "--fault", "delay=1us a 100%", "--fault", "drop 100% cnp")
	require.Regexp(t, `(?m)^fault +host +matched +struck
delay=1us a 100% +a +([1-9]) +[1-9]
drop cnp 100% +a +0 +0
drop cnp 100% +b +0 +0
$`, out)
	require.NotContains(t, rnic(t, dir, "run"), "fault")
}

// A fault that misses, and one that kills, are told in the error.
func TestFaultFails(t *testing.T) {
	dir := t.TempDir()
	fails := func(want string, args ...string) {
		stdout, stderr, err := call(t, dir, append([]string{"run"}, args...)...)
		require.Error(t, err)
		require.Empty(t, stdout)
		require.Equal(t, want, stderr)
	}
	fails(`rnic: fault "drop b nth=17" struck 0 of 1 times at host b, where 16 matched
fault "drop b nth=17" struck 0 of 16 that matched at host b
`, "--fault", "drop b nth=17")
	fails(`rnic: host_a: message 1: RETRY_EXC_ERR (NAK_SEQUENCE)
fault "drop b nth=5" struck 1 of 16 that matched at host b
`, "--fault", "drop b nth=5", "--retry-cnt", "0")
}

// What docs/faults.md and the help show can be said, and every word is there.
func TestFaultDoc(t *testing.T) {
	path := filepath.Join(docs, "faults.md")
	text := string(read(t, path))
	head, _, ok := strings.Cut(text, "<!-- tables -->\n")
	require.True(t, ok)
	if want := head + "<!-- tables -->\n" + fault.Tables() + "<!-- end -->\n"; *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o666))
	} else {
		require.Equal(t, want, text, "go test ./cmd/rnic -run FaultDoc -update")
	}
	n := 0
	check := func(spec string) {
		s, err := fault.Parse(spec)
		require.NoError(t, err)
		require.NotEmpty(t, s.String())
		n++
	}
	for _, m := range regexp.MustCompile(`--fault '([^']+)'`).FindAllStringSubmatch(head, -1) {
		check(m[1])
	}
	examples := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(head, -1)
	for _, m := range examples {
		check(m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^  (\S.*?)   `).FindAllStringSubmatch(fault.Help, -1) {
		check(m[1])
	}
	require.Equal(t, 4+20+12, n)
	require.Contains(t, rnic(t, t.TempDir(), "run", "--help"), "corrupt a ack byte=50")
	for _, m := range examples { // each meets something in a plain run
		op := "send"
		if strings.Contains(m[1], "read-response") {
			op = "read"
		}
		if !strings.Contains(m[1], "addr=") { // which addresses there are is drawn
			_, stderr, _ := call(t, t.TempDir(), "run", "--op", op, "--fault", m[1])
			require.NotContains(t, stderr, "where 0 matched")
		}
	}
}

// TestWrongByte: a byte that came out wrong is told with where to look for it: the queue,
// which of its messages, and the packet of that.
func TestWrongByte(t *testing.T) {
	_, stderr, err := call(t, t.TempDir(), "run", "--fault", "pcie b write ur nth=9")
	require.Error(t, err)
	require.Contains(t, stderr, "rnic: host_b: message 0, the 1st of QP 2: byte 2048, in its 3rd packet of 1024 bytes, is 0x00, sent 0x74\n")
}
