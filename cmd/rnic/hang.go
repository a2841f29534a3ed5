package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"rnic/tb"
	"rnic/tb/hang"
	"rnic/tb/transfer"
)

// repeater does a run once more, opens its bench before, and gives up when a cycle has
// passed: what it does after that is for nobody.
type repeater func(open func(*tb.Bench) error, last uint64)

// waves repeats the run for the waves of a window.
func (again repeater) waves(folder, name string, from, to uint64, markers map[string]uint64) ([]string, error) {
	return hang.Waves(folder, name, from, to, markers, func(open func(*tb.Bench) error) { again(open, to) })
}

// transferAgain repeats a transfer, which ends when a kernel is stopped.
func (r *runCmd) transferAgain(c tb.Config, job transfer.Job) repeater {
	return func(open func(*tb.Bench) error, _ uint64) {
		job.Faults, _ = r.faults() // there was no error before
		job.Progress = nil
		b, err := tb.New(c)
		if err != nil {
			return
		}
		defer b.Close()
		if open(b) == nil {
			_, _ = job.Run(b)
		}
	}
}

// explained adds to the error of a run that does not go on where its waves are: the
// run is done once more, by again, for the time around the end of its progress. Other
// errors are left alone.
func (r *runCmd) explained(err error, again repeater) error {
	var h *hang.Hang
	if !errors.As(err, &h) {
		return err
	}
	from, to := h.Window()
	files, e := again.waves(r.Out, "hang", from, to, h.Markers())
	if e != nil {
		return errors.Join(err, e)
	}
	for _, f := range files {
		h.Notes = append(h.Notes, "wrote "+f)
	}
	h.Notes = append(h.Notes, fmt.Sprintf("repeat it, with these waves: %s --fst --from %dns --to %dns", repeat(os.Args[1:]), from*tb.PeriodPs/1000, to*tb.PeriodPs/1000))
	return err
}

// repeat is a command line, quoted for a shell, without the flags that choose waves.
func repeat(args []string) string {
	l := []string{"rnic"}
	skip := false
	for _, a := range args {
		name, _, whole := strings.Cut(a, "=")
		switch {
		case skip:
			skip = false
		case name == "--vcd" || name == "--fst":
		case name == "--from" || name == "--to" || name == "--scope" || name == "--waves" || name == "--around" || name == "--before" || name == "--after":
			skip = !whole
		case strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,%+") == "" && a != "":
			l = append(l, a)
		default:
			l = append(l, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
		}
	}
	return strings.Join(l, " ")
}
