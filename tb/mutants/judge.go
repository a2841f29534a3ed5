package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Judge is a program of the bench that fails when the design is wrong.
type Judge struct {
	Name string
	Pkg  string // package, from the root of the module
	Test bool   // it is a test, which runs in the folder of the package
	Args []string
}

// judges are asked in this order. Without a fault all must agree.
var judges = []Judge{
	{Name: "random", Pkg: "tb/mutants/judge", Args: []string{"random"}},
	{Name: "scenario", Pkg: "tb/mutants/judge", Args: []string{"scenario"}},
	{Name: "e2e", Pkg: "tb/e2e", Test: true, Args: []string{"-test.failfast"}},
}

// What a judge may take, far more than without a fault: processor time, so that it
// does not matter what else the machine does; and time, for one that sleeps.
const (
	maxSeconds = 200
	maxTime    = 20 * time.Minute
)

// build compiles a judge, with the files that the overlay puts in place of others.
func (j *Judge) build(ctx context.Context, root, overlay, out string) error {
	args := []string{"build", "-ldflags=-s -w", "-o", out}
	if j.Test {
		args = []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", out}
	}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	c := exec.CommandContext(ctx, "go", append(args, "./"+j.Pkg)...)
	c.Dir = root
	if b, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not compile: %w\n%s", j.Pkg, err, b)
	}
	return nil
}

// run asks a judge that was built, and returns what it has against the design, ""
// for nothing.
func (j *Judge) run(ctx context.Context, root, program string) (verdict string, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	dir := root
	if j.Test {
		dir = filepath.Join(root, j.Pkg)
	}
	limit := fmt.Sprintf(`ulimit -t %d; exec "$0" "$@"`, maxSeconds)
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", limit, program}, j.Args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOTRACEBACK=none")
	b, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() == context.Canceled:
		return "", ctx.Err()
	case !errors.As(err, &exit):
		return "", err
	case exit.ExitCode() < 0:
		return "it does not end", nil
	}
	return reason(string(b)), nil
}

var (
	accepted = regexp.MustCompile(`(?m)^.*(host_[ab], cycle \d+: .*)$`)
	failed   = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	wrong    = regexp.MustCompile(`(?m)^\s*Error:\s*(.*(?:\n\s*\t\s+\S.*)?)$`)
	seed     = regexp.MustCompile(`(?m)^seed \d+: `)
	spaces   = regexp.MustCompile(`\s+`)
)

// reason is the one line of a judge's output that says most: what the acceptor found,
// else the assertion that failed, else its first line.
func reason(out string) string {
	where := ""
	if m := failed.FindStringSubmatch(out); m != nil {
		where = m[1] + ": "
	}
	switch a, e := accepted.FindStringSubmatch(out), wrong.FindStringSubmatch(out); {
	case a != nil:
		return where + seed.FindString(out) + a[1]
	case e != nil:
		return where + spaces.ReplaceAllString(e[1], " ")
	}
	line, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	return where + line
}
