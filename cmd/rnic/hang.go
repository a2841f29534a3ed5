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

// explained adds to the error of a run that does not go on where its waves are: the
// run is done once more, for the time around the end of its progress. Other errors are
// left alone.
func (r *runCmd) explained(err error, c tb.Config, job transfer.Job) error {
	var h *hang.Hang
	if !errors.As(err, &h) {
		return err
	}
	plan, e := r.faults()
	if e != nil {
		return errors.Join(err, e)
	}
	b, e := tb.New(c)
	if e != nil {
		return errors.Join(err, e)
	}
	defer b.Close()
	job.Faults, job.Progress = plan, nil
	from, to := h.Window()
	files, e := hang.Waves(r.Out, "hang", from, to, h.Markers(), b, func() { _, _ = job.Run(b) })
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
		case name == "--from" || name == "--to" || name == "--scope":
			skip = !whole
		case strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,%+") == "" && a != "":
			l = append(l, a)
		default:
			l = append(l, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
		}
	}
	return strings.Join(l, " ")
}
