package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"rnic/tb"
	"rnic/tb/scenario"
	"rnic/tb/story"
)

// isScenario tells whether a FILE is one to be run rather than sent.
func isScenario(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".yaml" || ext == ".yml"
}

// scenario runs the scenario of FILE. What does not come out as expected is an error,
// told after the report.
func (r *runCmd) scenario() error {
	if err := r.foreign(); err != nil {
		return err
	}
	if err := r.window(); err != nil {
		return err
	}
	ev, err := r.around()
	if err != nil {
		return err
	}
	s, err := scenario.Load(r.File)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	again := repeater(func(open func(*tb.Bench) error, last uint64) {
		var bench *tb.Bench
		_, _ = s.Run(scenario.Options{
			Seed: r.Seed, Strict: r.Strict,
			Open: func(b *tb.Bench) error { bench = b; return open(b) },
			Stop: func() bool { return bench.World.Now() > last }, // a kernel that is stopped ends one of its phases only
		})
	})
	var out *outputs
	var bench *tb.Bench
	start := time.Now()
	rep, err := s.Run(scenario.Options{
		Seed: r.Seed, Strict: r.Strict, Stop: func() bool { return ctx.Err() != nil },
		Open: func(b *tb.Bench) (err error) {
			bench = b
			if out, err = r.open(b, len(s.QPs)); err != nil {
				return err
			}
			return ev.watch(b)
		},
	})
	if out != nil {
		var cycles uint64
		if rep != nil {
			cycles = rep.Cycles
		}
		failure := failureOf(rep, err)
		if errors.Is(err, scenario.ErrStopped) {
			failure = story.Interrupted(bench.World.Now())
		}
		if e := out.finish(cycles, failure); e != nil {
			return e // a full disk ends the run too, but this names the cause
		}
	}
	if errors.Is(err, scenario.ErrStopped) {
		return errors.Join(errors.New("interrupted"), out.wrote())
	}
	failed := err
	if failed == nil && rep.Hang != nil {
		failed = rep.Hang
	}
	files, e := r.show(ev, failed, again)
	if out != nil {
		out.files = append(out.files, files...)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", r.File, r.explained(err, again)), e, out.wrote())
	}
	if e != nil {
		return errors.Join(e, out.wrote())
	}
	rep.Files, rep.WallS = out.files, time.Since(start).Seconds()
	if r.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		err = e.Encode(rep)
	} else {
		err = rep.Table(os.Stdout)
	}
	switch {
	case err != nil || rep.Pass:
		return err
	case rep.Hang != nil:
		return fmt.Errorf("%s: %d of %d checks failed: %w", r.File, rep.Failed(), len(rep.Checks), r.explained(rep.Hang, again))
	}
	return fmt.Errorf("%s: %d of %d checks failed", r.File, rep.Failed(), len(rep.Checks))
}

// failureOf says what is wrong with a scenario that did not run, or did not come out as
// expected; "": nothing.
func failureOf(rep *scenario.Report, err error) string {
	if err != nil {
		return err.Error()
	}
	var l []string
	for _, c := range rep.Checks {
		if !c.Pass {
			l = append(l, fmt.Sprintf("%s, %s: expected %s; came %s", c.Group, c.What, c.Want, c.Got))
		}
	}
	if rep.Hang != nil {
		l = append(l, rep.Hang.Error())
	}
	return strings.Join(l, "\n")
}

// foreign demands that no flag is given that a scenario has a say in itself.
func (r *runCmd) foreign() error {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"mtu", r.MTU != 1024},
		{"qps", r.QPs != 4},
		{"transport", r.Transport != "rc"},
		{"srq", r.SRQ},
		{"ipv6", r.IPv6},
		{"vlan", r.VLAN != nil},
		{"op", r.Op != "send"},
		{"msg-size", r.MsgSize != nil},
		{"depth", r.Depth != 16},
		{"no-push", r.NoPush},
		{"fault", len(r.Fault) > 0},
		{"timeout", r.Timeout != nil},
		{"retry-cnt", r.RetryCnt != nil},
		{"rnr-retry", r.RNRRetry != nil},
		{"plug", r.Plug != ""},
		{"link-rate", r.LinkRate != 100},
		{"link-latency", r.LinkLatency != 300*time.Nanosecond},
		{"pcie-latency", r.PcieLatency != 250*time.Nanosecond},
		{"pcie-profile", r.PcieProfile != "constant"},
		{"stats", r.Stats},
	} {
		if f.set {
			return fmt.Errorf("--%s is for the transfer of a file: %s is a scenario, which says so itself", f.name, r.File)
		}
	}
	return nil
}
