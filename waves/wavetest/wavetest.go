// Package wavetest lets tests look at waves with the tools that people use: GTKWave
// under a virtual screen, vcd2fst, tshark. A tool that is missing skips the test with
// a message, or fails it where the environment has CI set.
package wavetest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"rnic/waves/vcdnorm"
)

// Need skips the test, or fails it in CI, unless all tools are there.
func Need(t testing.TB, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is missing", tool)
		}
		t.Skipf("%s is missing", tool)
	}
}

// Tool runs a program to its end, in a folder, and gives what it printed.
func Tool(t testing.TB, dir string, env []string, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), env...)
	c.WaitDelay = time.Second
	timer := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
	defer timer.Stop()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Screen is a virtual screen until the test ends: the variable DISPLAY of it.
func Screen(t testing.TB) string {
	t.Helper()
	Need(t, "Xvfb")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1600x900x24", "-nolisten", "tcp")
	c.ExtraFiles = []*os.File{w}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		c.Process.Signal(os.Interrupt)
		c.Wait()
		r.Close()
	})
	n, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not start: %v", err)
	}
	return "DISPLAY=:" + strings.TrimSpace(n)
}

// usual is what GTKWave prints when nothing is wrong.
var usual = regexp.MustCompile(`^(|GTKWave Analyzer .*|\[\d+\] (start|end) time\.|GTKWAVE \| Executing Tcl script '.*'|Exiting\.|FSTLOAD \| (Processing|Built|Building|Sorting|Extracting) .*)$`)

// GTKWave loads files, of waves and perhaps a save file, in the folder of the first, and
// runs a Tcl script. It gives what the script printed and fails the test on any message
// of GTKWave's own. The script prints by the procedure say.
func GTKWave(t testing.TB, script string, files ...string) string {
	t.Helper()
	Need(t, "gtkwave")
	return GTKWaveOn(t, Screen(t), script, files...)
}

// GTKWaveOn is GTKWave on a screen that is there.
func GTKWaveOn(t testing.TB, screen, script string, files ...string) string {
	t.Helper()
	Need(t, "gtkwave")
	dir := t.TempDir()
	tcl := filepath.Join(dir, "script.tcl")
	const said = "said: "
	// Without the catch a wrong script would leave GTKWave running.
	text := fmt.Sprintf("proc say {s} { puts \"%s$s\" }\nif {[catch {%s} e]} { puts $e }\ngtkwave::/File/Quit\n", said, script)
	rc := filepath.Join(dir, "gtkwaverc")
	if err := os.WriteFile(tcl, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rc, []byte("splash_disable 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	out := Tool(t, filepath.Dir(files[0]), []string{screen, "NO_AT_BRIDGE=1"}, "gtkwave", append([]string{"-r", rc, "-S", tcl}, files...)...)
	var b strings.Builder
	for l := range strings.Lines(out) {
		l = strings.TrimRight(l, "\r\n")
		if s, ok := strings.CutPrefix(l, said); ok {
			b.WriteString(s + "\n")
		} else if !usual.MatchString(l) {
			t.Errorf("GTKWave says %q", l)
		}
	}
	return b.String()
}

// RoundTrip demands that a VCD survives vcd2fst and fst2vcd unchanged in content.
func RoundTrip(t testing.TB, vcd string) {
	t.Helper()
	Need(t, "vcd2fst", "fst2vcd")
	fst := filepath.Join(t.TempDir(), "round.fst")
	Tool(t, "", nil, "vcd2fst", "-v", vcd, "-f", fst)
	Same(t, vcd, fst)
}

// Same demands that a VCD and an FST show the same.
func Same(t testing.TB, vcd, fst string) {
	t.Helper()
	want, got := read(t, vcd), FST(t, fst)
	if a, b := want.Canon(), got.Canon(); a != b {
		t.Fatalf("%s is not what %s shows:\n%s", vcd, fst, difference(a, b))
	}
}

// FST is what an FST shows, by fst2vcd.
func FST(t testing.TB, path string) *vcdnorm.File {
	t.Helper()
	Need(t, "fst2vcd")
	vcd := filepath.Join(t.TempDir(), "back.vcd")
	if out := Tool(t, "", nil, "fst2vcd", "-f", path, "-o", vcd); out != "" {
		t.Fatalf("fst2vcd %s: %s", path, out)
	}
	return read(t, vcd)
}

func read(t testing.TB, vcd string) *vcdnorm.File {
	t.Helper()
	r, err := os.Open(vcd)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := vcdnorm.Read(r)
	if err != nil {
		t.Fatalf("%s: %v", vcd, err)
	}
	return f
}

// difference is the first line that differs.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("%.300s\n%.300s", x[i], y[i])
		}
	}
	return "one is longer"
}
