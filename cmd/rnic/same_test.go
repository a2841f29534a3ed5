package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var outputs = []string{"rnic.vcd", "rnic.gtkw", "host_a.pcapng", "host_b.pcapng"}

// Same flags, same bytes in every file, whatever the folder, the zone, the number of
// processors and the order of evaluation.
func TestSameSeedSameFiles(t *testing.T) {
	dir := t.TempDir()
	file, _ := random(t, dir, 9000)
	job := []string{"run", file, "--fst", "--vcd", "--pcap", "--qps", "3", "--mtu", "512"}
	rnic(t, dir, append(job, "--out", "first")...)
	deep := filepath.Join(dir, "elsewhere", "of", "another depth")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "cwd"), 0o777))
	same := func(name, dir, out string, args ...string) {
		t.Helper()
		rnic(t, dir, append(append(job, "--out", out), args...)...)
		if !filepath.IsAbs(out) {
			out = filepath.Join(dir, out)
		}
		for _, f := range append([]string{"rnic.fst"}, outputs...) {
			require.True(t, bytes.Equal(read(t, dir0(t, dir), "first", f), read(t, out, f)), "%s: %s differs", name, f)
		}
	}
	same("relative", dir, "a/b/c/")
	same("absolute", dir, deep)
	same("another folder", filepath.Join(dir, "cwd"), "../second")
	same("again, over the old files", dir, "a/b/c/")
	same("strict", dir, "strict", "--strict")
	t.Setenv("TZ", "Asia/Kathmandu")
	t.Setenv("LANG", "de_DE.UTF-8")
	t.Setenv("GOMAXPROCS", "1")
	same("one processor, another zone", dir, "third")

	rnic(t, dir, append(job, "--out", "other", "--seed", "2")...)
	for _, f := range []string{"rnic.fst", "rnic.vcd", "host_a.pcapng", "host_b.pcapng"} {
		require.False(t, bytes.Equal(read(t, dir, "first", f), read(t, dir, "other", f)), "%s is that of another seed", f)
	}
	require.Equal(t, int64(9000), runJSON(t, dir, append(job[1:], "--seed", "2", "--out", "json")...).Bytes)
}

// dir0 is the folder of the test that a folder is in or is.
func dir0(t testing.TB, dir string) string {
	if filepath.Base(dir) == "cwd" {
		return filepath.Dir(dir)
	}
	return dir
}

// Nothing in a file tells of the machine or of the day.
func TestNothingOfTheMachineInTheFiles(t *testing.T) {
	dir := t.TempDir()
	rnic(t, dir, "run", "--fst", "--vcd", "--pcap", "--out", filepath.Join(dir, "out"))
	words := []string{dir, "linux", "amd64", "/tmp", time.Now().Format("2006-01"), strconv.FormatInt(time.Now().Unix()/1000, 10)}
	if name, err := os.Hostname(); err == nil && len(name) > 3 {
		words = append(words, name)
	}
	if wd, err := os.Getwd(); err == nil {
		words = append(words, wd)
	}
	if home := os.Getenv("HOME"); len(home) > 3 {
		words = append(words, home)
	}
	for _, f := range append([]string{"rnic.fst"}, outputs...) {
		b := read(t, dir, "out", f)
		require.NotEmpty(t, b)
		for _, w := range words {
			require.False(t, bytes.Contains(b, []byte(w)), "%s has %q", f, w)
		}
	}
}
