package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// resize gives a terminal so many columns.
func resize(t testing.TB, screen *os.File, columns uint16) {
	t.Helper()
	size := [4]uint16{24, columns}
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size)))
	require.Zero(t, errno)
}

// On a terminal it is as wide as that.
func TestWaveOnATerminal(t *testing.T) {
	dir := t.TempDir()
	rnic(t, dir, "run", "--fst", "--out", ".")
	screen, tty := terminal(t)
	resize(t, screen, 64)
	c := exec.Command(program, "wave", filepath.Join(dir, "rnic.fst"), "-s", "host_a.clk", "--limit", "100")
	c.Stdout = tty
	require.NoError(t, c.Start())
	var b []byte
	buf := make([]byte, 4096)
	for !strings.Contains(string(b), "goes on") {
		n, err := screen.Read(buf)
		require.NoError(t, err)
		b = append(b, buf[:n]...)
	}
	require.NoError(t, c.Wait())
	widest := 0
	for l := range strings.Lines(string(b)) {
		if l = strings.TrimRight(l, "\r\n"); !strings.HasPrefix(l, "after") {
			widest = max(widest, utf8.RuneCountInString(l))
		}
	}
	require.LessOrEqual(t, widest, 64)
	require.Greater(t, widest, 58)
}
