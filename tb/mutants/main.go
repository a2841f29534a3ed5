package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

type cli struct {
	Only string `help:"Only the faults whose whole name this regular expression matches."`
	List bool   `help:"Only name the faults and say what they are."`
	Jobs int    `short:"j" help:"Faults that are tried at once; as many as there are processors."`
}

func main() {
	var c cli
	kong.Parse(&c, kong.Name("mutants"), kong.Description("Small faults in the design, each of which the bench must catch."))
	if err := c.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func (c *cli) run(out io.Writer) error {
	only, err := regexp.Compile("^(?:" + c.Only + ")$")
	if err != nil {
		return err
	}
	all, err := Parse(list)
	if err != nil {
		return fmt.Errorf("faults.txt: %w", err)
	}
	var faults []Fault
	for _, f := range all {
		if c.Only != "" && !only.MatchString(f.Name) {
			continue
		}
		faults = append(faults, f)
		if c.List {
			fmt.Fprintf(out, "%-34s %s: %s (%s)\n", f.Name, strings.TrimPrefix(filepath.Dir(f.File), "rtl/"), f.Is, f.Clause)
		}
	}
	switch {
	case len(faults) == 0:
		return fmt.Errorf("no fault has the name %q", c.Only)
	case c.List:
		return nil
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if c.Jobs <= 0 {
		c.Jobs = runtime.GOMAXPROCS(0)
	}
	return tryAll(ctx, root, faults, judges, c.Jobs, out)
}

// moduleRoot is the folder of go.mod.
func moduleRoot() (string, error) {
	b, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(b))), nil
}

// tryAll tries faults, jobs at once, and writes a line for each in their order. It
// returns an error if one survives.
func tryAll(ctx context.Context, root string, faults []Fault, judges []Judge, jobs int, out io.Writer) error {
	bar := progress(len(faults) + 1)
	defer bar.Close()
	bar.Describe("without a fault")
	if err := sound(ctx, root, judges); err != nil {
		return err
	}
	_ = bar.Add(1) // only the screen is at stake, here and below
	type outcome struct {
		Result
		err error
	}
	done := make([]chan outcome, len(faults))
	slots := make(chan struct{}, jobs)
	for i := range done {
		done[i] = make(chan outcome, 1)
	}
	go func() {
		for i, f := range faults {
			slots <- struct{}{}
			go func() {
				r, err := try(ctx, root, f, judges)
				<-slots
				done[i] <- outcome{r, err}
			}()
		}
	}()
	var survivors []Result
	var errs []error
	for i := range faults {
		o := <-done[i]
		bar.Describe(o.Fault.Name)
		_ = bar.Clear()
		switch {
		case ctx.Err() != nil:
			return errors.New("interrupted")
		case o.err != nil:
			errs = append(errs, o.err)
			fmt.Fprintf(out, "%-34s ERROR\n", o.Fault.Name)
		case o.Judge == "":
			survivors = append(survivors, o.Result)
			fmt.Fprintf(out, "%-34s SURVIVES\n", o.Fault.Name)
		default:
			fmt.Fprintf(out, "%-34s %s, %.1f s: %s\n", o.Fault.Name, o.Judge, o.Took.Seconds(), o.Reason)
		}
		_ = bar.Add(1)
	}
	_ = bar.Clear()
	fmt.Fprintf(out, "%d faults, %d caught\n", len(faults), len(faults)-len(survivors)-len(errs))
	for _, r := range survivors {
		errs = append(errs, r.survives(judges))
	}
	return errors.Join(errs...)
}

// survives says what to look at when nobody has caught a fault.
func (r *Result) survives(judges []Judge) error {
	names := make([]string, len(judges))
	for i, j := range judges {
		names[i] = j.Name
	}
	f := &r.Fault
	return fmt.Errorf("fault %s survives: %s:%d, %s.\n\tRule: %s. Does %s come to this line? Then the acceptor (tb/accept) lacks the rule; else random traffic (tb/random) lacks the case",
		f.Name, f.File, r.Line, f.Is, f.Clause, strings.Join(names, " or "))
}

// progress is a bar on a terminal, else nothing.
func progress(n int) *progressbar.ProgressBar {
	w := io.Writer(os.Stderr)
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		w = io.Discard
	}
	return progressbar.NewOptions(n, progressbar.OptionSetWriter(w), progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(200*time.Millisecond))
}
