package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"rnic/tb/replay"
)

// table prints both sides beside each other.
func (res *replayed) table(out io.Writer, differing bool) error {
	w := &errWriter{w: out}
	fmt.Fprintf(w, "%s: %d frames, %s\n", res.Capture, res.Frames, res.transports)
	for _, n := range res.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	used := map[replay.Role]map[string]int{replay.AsResponder: {}, replay.AsRequester: {}}
	for i := range res.Conversations {
		c := &res.Conversations[i]
		fmt.Fprintf(w, "\n%d. %s: MTU %d, %d requests, %d answers\n", i+1, c.Name, c.MTU, c.Ask, c.Answer)
		for _, n := range c.Notes {
			fmt.Fprintf(w, "note: %s\n", n)
		}
		for k := range c.Results {
			c.Results[k].table(w, differing, used[c.Results[k].Role])
		}
	}
	for _, role := range []replay.Role{replay.AsResponder, replay.AsRequester} {
		for _, d := range replay.Differences {
			if n := used[role][d.Name]; n > 0 && d.Role == role {
				fmt.Fprintf(w, "\nlegal, %d times, model as %s: %s: %s.\n  %s", n, role, d.Name, d.What, d.Why)
				if d.Clause != "-" {
					fmt.Fprintf(w, " (IBTA %s)", d.Clause)
				}
				fmt.Fprintln(w, ".")
			}
		}
	}
	fmt.Fprintf(w, "\n%d same, %d legal, %d wrong", res.Same, res.Legal, res.Wrong)
	if res.Failed > 0 {
		fmt.Fprintf(w, ", %d not replayed", res.Failed)
	}
	fmt.Fprintln(w)
	for _, f := range res.Files {
		fmt.Fprintln(w, "wrote", f)
	}
	return w.err
}

// headings of the column of what the model is given.
var headings = map[replay.Role]string{replay.AsResponder: "REQUEST", replay.AsRequester: "POST OR ANSWER"}

func (r *result) table(out io.Writer, differing bool, used map[string]int) {
	fmt.Fprintf(out, "\n   the model as %s: ", r.Role)
	if r.Error != "" {
		fmt.Fprintf(out, "not replayed: %s\n", r.Error)
		return
	}
	fmt.Fprintf(out, "%d same, %d legal, %d wrong", r.Same, r.Legal, r.Wrong)
	if len(r.Done) > 0 {
		fmt.Fprintf(out, "; work requests: %s", strings.Join(r.Done, ", "))
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "   FRAME\t%s\tFRAME\tCAPTURED\tMODEL\t\n", headings[r.Role])
	for i := 0; i < len(r.Rows); i++ {
		row := r.Rows[i]
		for _, l := range row.Legal {
			used[l]++
		}
		if row.Given != "" && row.Lost == "" && row.Verdict == "" && i+1 < len(r.Rows) && r.Rows[i+1].Given == "" {
			given, frame := row.Given, row.GivenFrame
			i++
			row = r.Rows[i]
			row.Given, row.GivenFrame = given, frame
			for _, l := range row.Legal {
				used[l]++
			}
		}
		if !differing || row.Verdict == replay.Legal || row.Verdict == replay.Wrong {
			fmt.Fprintf(w, "   %s\t%s\t%s\t%s\t%s\t%s\n", frameNumber(row.GivenFrame), row.Given, frameNumber(row.Frame), row.Captured, row.Model, remark(&row))
		}
	}
	_ = w.Flush() // out remembers
	for _, f := range r.Faults {
		fmt.Fprintf(out, "   WRONG: %s\n", f)
	}
}

// remark is what is said of a row.
func remark(r *replay.Row) string {
	switch {
	case r.Lost != "":
		return "lost: " + r.Lost
	case r.Verdict == replay.Wrong:
		return "WRONG: " + r.Why
	case r.Verdict == replay.Legal:
		return "legal: " + strings.Join(r.Legal, ", ")
	}
	return string(r.Verdict)
}

// frameNumber is a number, and nothing for 0.
func frameNumber(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// errWriter writes lines without the blanks at their ends, and remembers the first
// error.
type errWriter struct {
	w   io.Writer
	buf bytes.Buffer // less than a line
	err error
}

func (w *errWriter) Write(b []byte) (int, error) {
	w.buf.Write(b)
	for w.err == nil {
		l, err := w.buf.ReadString('\n')
		if err != nil {
			w.buf.WriteString(l)
			break
		}
		_, w.err = io.WriteString(w.w, strings.TrimRight(l, " \n")+"\n")
	}
	return len(b), nil
}
