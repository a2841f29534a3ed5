package main_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/waves/diff"
)

// status is how a call ends: its code, and its line on standard error.
func status(t testing.TB, dir string, args ...string) (code int, stdout, line string) {
	t.Helper()
	stdout, stderr, err := call(t, dir, args...)
	if err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		code = exit.ExitCode()
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
	return code, stdout, strings.TrimSuffix(strings.TrimPrefix(stderr, "rnic: "), "\n")
}

// Both formats of a run are equal, also through vcd2fst's hands and gzip; another seed is not.
func TestDiff(t *testing.T) {
	dir := t.TempDir()
	rnic(t, dir, "run", "--vcd", "--fst", "--out", "one")
	rnic(t, dir, "run", "--fst", "--seed", "2", "--out", "two")
	code, out, line := status(t, dir, "diff", "one/rnic.vcd", "one/rnic.fst")
	require.Zero(t, code)
	require.Empty(t, line)
	require.Regexp(t, `\n\d+ signals are equal from 0 to 1\d\d\.\d+us\n$`, out)

	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := w.Write(read(t, dir, "one", "rnic.vcd"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "one.vcd.gz"), z.Bytes(), 0o666))
	code, _, _ = status(t, dir, "diff", "one.vcd.gz", "one/rnic.fst", "--to", "30us")
	require.Zero(t, code)

	code, out, line = status(t, dir, "diff", "one/rnic.vcd", "two/rnic.fst")
	require.Equal(t, 1, code)
	require.Regexp(t, `^one/rnic.vcd and two/rnic.fst differ at [\d.]+us, cycle \d+ in host_a\.nic\.`, line)
	code, js, _ := status(t, dir, "diff", "two/rnic.fst", "one/rnic.fst", "--json")
	require.Equal(t, 1, code)
	var r diff.Result
	require.NoError(t, json.Unmarshal([]byte(js), &r))
	require.Contains(t, out, r.First.Stamp()+": "+r.First.Signals[0].Path)
	require.Equal(t, r.First.Ticks, *r.First.Cycle*period)
	require.Equal(t, "host_a.clk", r.First.Clock)
	require.NotEmpty(t, r.First.Around)
	last := r.First.History[len(r.First.History)-1]
	require.Equal(t, r.First.Time, last.Time)

	// Up to there they are equal, and from there on they are not.
	code, _, _ = status(t, dir, "diff", "two/rnic.fst", "one/rnic.vcd", "--to", "c"+strconv.FormatUint(*r.First.Cycle-1, 10))
	require.Zero(t, code)
	code, _, _ = status(t, dir, "diff", "two/rnic.fst", "one/rnic.vcd", "--from", r.First.Time, "--to", r.First.Time)
	require.Equal(t, 1, code)
}

// A window of a run is equal to the whole within it.
func TestDiffOfAWindow(t *testing.T) {
	dir := t.TempDir()
	rnic(t, dir, "run", "--fst", "--out", "whole")
	rnic(t, dir, "run", "--vcd", "--from", "70us", "--to", "78us", "--scope", "nic.pkt_tx", "--out", "part")
	code, out, _ := status(t, dir, "diff", "whole/rnic.fst", "part/rnic.vcd", "--to", "78us")
	require.Zero(t, code, out)
	require.Contains(t, out, "part/rnic.vcd begins at 70us: compared from there\n")
	require.Contains(t, out, " signals are equal from 70us to 78us\n")
	code, _, line := status(t, dir, "diff", "whole/rnic.fst", "part/rnic.vcd")
	require.Equal(t, 1, code)
	require.Contains(t, line, "differ at 78.0")
}

func TestDiffErrors(t *testing.T) {
	dir := t.TempDir()
	rnic(t, dir, "run", "--vcd", "--fst", "--out", ".")
	b := read(t, dir, "rnic.vcd")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cut.vcd"), b[:len(b)/2], 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "late.vcd"), append(b[:len(b):len(b)], "#3\n"...), 0o666))
	f := read(t, dir, "rnic.fst")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cut.fst"), f[:len(f)-7], 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "none"), nil, 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text"), []byte("hello\n"), 0o666))
	for _, c := range []struct{ args, want string }{
		{"no.vcd rnic.fst", "open no.vcd: no such file or directory"},
		{". rnic.fst", "read .: is a directory"},
		{"none rnic.fst", "none: is empty"},
		{"text rnic.fst", `text: line 1: "hello" where a directive should begin`},
		{"late.vcd late.vcd", "late.vcd: line "},
		{"cut.fst cut.fst", "cut.fst: byte "},
		{"- -", "only one file can be standard input"},
		{"rnic.vcd rnic.fst --from x", `--from "x": must be as 123ns, 1.5us or c1234`},
		{"rnic.vcd rnic.fst --last=-1", "--last -1: must be 0 to 1000"},
		{"rnic.vcd rnic.fst --map a=b", "--map a=b: rnic.vcd has nothing below a"},
	} {
		code, out, line := status(t, dir, append([]string{"diff"}, strings.Fields(c.args)...)...)
		require.Equal(t, 3, code, c.args)
		require.Empty(t, out)
		require.True(t, strings.HasPrefix(line, c.want), "%s: %s", c.args, line)
	}
	code, _, line := status(t, dir, "diff", "rnic.vcd", "cut.vcd")
	require.NotZero(t, code, line)
}

// One side may come through a pipe; its history is not known then.
func TestDiffOfAPipe(t *testing.T) {
	dir := t.TempDir()
	rnic(t, dir, "run", "--vcd", "--out", ".")
	p := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(p, 0o666))
	w := exec.Command("sh", "-c", "sed 's/^0!$/1!/' rnic.vcd >fifo")
	w.Dir = dir
	require.NoError(t, w.Start())
	defer w.Process.Kill()
	code, out, line := status(t, dir, "diff", "fifo", "rnic.vcd")
	require.Equal(t, 1, code, line)
	require.Contains(t, out, "fifo is a pipe: what was before the difference is not known")
	require.Contains(t, line, "in host_a.clk")
}
