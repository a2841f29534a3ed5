package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// terminal is the two ends of a pseudo terminal.
func terminal(t testing.TB) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	var n, unlocked int32
	for _, c := range []struct {
		request uintptr
		arg     *int32
	}{{syscall.TIOCSPTLCK, &unlocked}, {syscall.TIOCGPTN, &n}} {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), c.request, uintptr(unsafe.Pointer(c.arg)))
		require.Zero(t, errno)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { program.Close() })
	return screen, program
}

// A long run on a terminal shows how far it is. An interrupt ends it, with files that
// are whole.
func TestProgressAndInterrupt(t *testing.T) {
	dir := t.TempDir()
	file, _ := random(t, dir, 4<<20)
	screen, tty := terminal(t)
	c := exec.Command(program, "run", file, "--msg-size", "1", "--pcap", "--vcd", "--scope", "nic.mac.transmit.tx.fire")
	c.Dir = dir
	c.Stderr = tty
	var stdout bytes.Buffer
	c.Stdout = &stdout
	require.NoError(t, c.Start())
	timer := time.AfterFunc(time.Minute, func() { c.Process.Kill(); screen.Close() })
	defer timer.Stop()

	shown := make(chan string)
	go func() {
		var b []byte
		buf := make([]byte, 4096)
		told := false
		for {
			n, err := screen.Read(buf)
			b = append(b, buf[:n]...)
			if !told && bytes.Contains(b, []byte("cycles/s")) {
				told = true
				shown <- string(b)
			}
			if err != nil || bytes.Contains(b, []byte("host_b.pcapng")) {
				shown <- string(b)
				return
			}
		}
	}()
	require.Regexp(t, `\d+\.\d\d M cycles, \d+\.\d us simulated, \d+\.\d\d M cycles/s +\d+% \|.*/4194304`, strings.ReplaceAll(<-shown, "\r", "\n"))
	require.NoError(t, c.Process.Signal(os.Interrupt))
	last := <-shown
	require.Regexp(t, `rnic: interrupted after \d+ cycles\r?\nwrote +out/rnic.vcd(\r?\nwrote +out/.*)+host_b.pcapng\r?\n?$`, last)
	require.Error(t, c.Wait())
	require.Equal(t, 1, c.ProcessState.ExitCode())
	require.Empty(t, stdout.String())

	frames := capture(t, filepath.Join(dir, "out", "host_a.pcapng"))
	require.Greater(t, len(frames), 100)
	f := parse(t, dir, "out", "rnic.vcd")
	require.GreaterOrEqual(t, f.End, frames[len(frames)-1].ps)
	require.NotEmpty(t, read(t, dir, "out", "rnic.gtkw"))
}

// In a pipe nothing is shown, however long the run.
func TestNoProgressInAPipe(t *testing.T) {
	dir := t.TempDir()
	var took time.Duration
	for n := 40_000; took < 1500*time.Millisecond; n *= 2 { // long enough for a bar
		file, _ := random(t, dir, n)
		start := time.Now()
		rnic(t, dir, "run", file, "--msg-size", "1", "--strict", "--qps", "64")
		took = time.Since(start)
	}
}

// A short run on a terminal shows no bar.
func TestNoProgressOfAShortRun(t *testing.T) {
	screen, tty := terminal(t)
	c := exec.Command(program, "run")
	c.Stderr = tty
	require.NoError(t, c.Run())
	_, err := tty.WriteString("end")
	require.NoError(t, err)
	b := make([]byte, 100)
	n, err := screen.Read(b)
	require.NoError(t, err)
	require.Equal(t, "end", string(b[:n]))
}
