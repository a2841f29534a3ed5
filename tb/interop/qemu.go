package interop

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"rnic/tb/interop/image"
)

// Addresses of the guest.
const (
	guestMAC  = "52:54:00:00:00:02"
	guestIPv4 = "10.0.0.2"
)

// bootLimit is far more than a start takes, 3 s on an idle machine.
const bootLimit = 120 * time.Second

// Guest is a running virtual machine, reached by its control line.
type Guest struct {
	cmd     *exec.Cmd
	control net.Conn
	lines   chan string
	console string
	stderr  bytes.Buffer
}

// Boot starts the guest with its first network card at the unix socket wire, where
// somebody listens; its second reaches this machine's 127.0.0.1 as 10.0.2.2. What
// it says goes to logs. It returns when the guest takes commands.
func Boot(ctx context.Context, i image.Image, sockets, logs, wire string) (*Guest, error) {
	path := filepath.Join(sockets, "control")
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	g := &Guest{console: filepath.Join(logs, "console"), lines: make(chan string, 1024)}
	g.cmd = exec.CommandContext(ctx, "nice", "qemu-system-x86_64",
		"-M", "q35", "-accel", "tcg", "-cpu", "max", "-m", "256", "-smp", "1",
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-serial", "file:"+g.console,
		"-chardev", "socket,id=control,server=off,path="+path, "-serial", "chardev:control",
		"-netdev", "stream,id=n0,server=off,addr.type=unix,addr.path="+wire,
		"-device", "virtio-net-pci,netdev=n0,romfile=,mac="+guestMAC,
		"-netdev", "user,id=n1", "-device", "virtio-net-pci,netdev=n1,romfile=",
		"-kernel", i.Kernel, "-initrd", i.Initrd,
		"-append", "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check") // the host may be too busy for that check
	g.cmd.Stderr = &g.stderr
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	_ = l.(*net.UnixListener).SetDeadline(time.Now().Add(bootLimit))
	if g.control, err = l.Accept(); err != nil {
		return nil, fmt.Errorf("QEMU does not come up: %w: %s", err, g.Close())
	}
	go func() {
		defer close(g.lines)
		for s := bufio.NewScanner(g.control); s.Scan(); {
			g.lines <- strings.TrimRight(s.Text(), "\r")
		}
	}()
	if _, err := g.until("@ready", bootLimit); err != nil {
		return nil, fmt.Errorf("%w: %s", err, g.Close())
	}
	return g, nil
}

// Close ends the guest and returns what it said last.
func (g *Guest) Close() string {
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
	said, _ := os.ReadFile(g.console)
	said = append(said, g.stderr.Bytes()...)
	return string(said[max(0, len(said)-2000):])
}

// until collects lines up to one that begins with a mark, which comes last.
func (g *Guest) until(mark string, limit time.Duration) (out []string, err error) {
	t := time.NewTimer(limit)
	defer t.Stop()
	for {
		select {
		case l, ok := <-g.lines:
			if !ok {
				return out, fmt.Errorf("the guest has ended")
			}
			out = append(out, l)
			if strings.HasPrefix(l, mark) {
				return out, nil
			}
		case <-t.C:
			return out, fmt.Errorf("no %q from the guest within %v: %q", mark, limit, out)
		}
	}
}

// Shell runs a command of the guest's shell and returns what it printed. A status
// other than 0 is an error.
func (g *Guest) Shell(limit time.Duration, format string, args ...any) (string, error) {
	cmd := fmt.Sprintf(format, args...)
	if _, err := fmt.Fprintf(g.control, "{ %s; } </dev/null 2>&1; s=$?; echo; echo @status $s\n", cmd); err != nil {
		return "", err
	}
	out, err := g.until("@status ", limit)
	text := strings.TrimSpace(strings.Join(out[:max(0, len(out)-1)], "\n"))
	if err == nil && out[len(out)-1] != "@status 0" {
		err = fmt.Errorf("%s: %s: %s", cmd, out[len(out)-1], text)
	}
	return text, err
}
