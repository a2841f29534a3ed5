package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// program is the path of the program, built once.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "rnic")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "rnic")
	code := 1
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// call is a call of rnic in a folder, ended when it takes too long.
func call(t testing.TB, dir string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = dir
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	require.NoError(t, c.Start())
	timer := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
	err = c.Wait()
	timer.Stop()
	return o.String(), e.String(), err
}

// rnic runs the program to success, and gives what it printed. It is silent on
// standard error.
func rnic(t testing.TB, dir string, args ...string) string {
	t.Helper()
	stdout, stderr, err := call(t, dir, args...)
	require.NoError(t, err, stderr)
	require.Empty(t, stderr)
	return stdout
}

// refused runs the program to an error, and gives its one line.
func refused(t testing.TB, dir string, args ...string) string {
	t.Helper()
	stdout, stderr, err := call(t, dir, args...)
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Positive(t, exit.ExitCode(), "ended by a signal: %s", stderr)
	require.NotEqual(t, 2, exit.ExitCode(), "a panic: %s", stderr)
	require.Empty(t, stdout)
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	line, ok := strings.CutPrefix(stderr, "rnic: ")
	require.True(t, ok, stderr)
	return strings.TrimSuffix(line, "\n")
}

// random is a file of n bytes without a pattern.
func random(t testing.TB, dir string, n int) (path string, data []byte) {
	data = make([]byte, n)
	rng := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)})
	_, _ = rng.Read(data)
	path = filepath.Join(dir, "payload")
	require.NoError(t, os.WriteFile(path, data, 0o666))
	return path, data
}

func read(t testing.TB, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return b
}
