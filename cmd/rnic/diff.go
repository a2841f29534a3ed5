package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"rnic/waves/diff"
)

// diffCmd compares two waveforms.
type diffCmd struct {
	A string `arg:"" help:"VCD (also .gz) or FST; - is standard input."`
	B string `arg:"" help:"Likewise."`

	Map    []string `sep:"none" placeholder:"A.B=C.D" help:"What is below a.b in the first file is below c.d in the second; either may be empty. Any number of them."`
	Ignore []string `placeholder:"GLOB" help:"Leave out signals, as clk or nic.**.count. * is within a name, ** any number of names."`
	From   string   `placeholder:"TIME" help:"Compare from this time on: 123ns, 1.5us, or c1234 for a cycle."`
	To     string   `placeholder:"TIME" help:"Compare up to this time."`
	Clk    string   `placeholder:"PATH" help:"Clock of the first file that counts cycles; else the nearest signal called clk or clock."`
	Last   int      `default:"5" help:"Changes of the signal to show before the difference."`
	JSON   bool     `help:"Print the result as JSON."`
}

// trouble is an error that is not to be taken for a difference.
type trouble struct{ error }

func (trouble) ExitCode() int { return 3 }

func (t trouble) Unwrap() error { return t.error }

// Run compares and prints.
func (d *diffCmd) Run() error {
	if d.Last < 0 || d.Last > 1000 {
		return trouble{fmt.Errorf("--last %d: must be 0 to 1000", d.Last)}
	}
	if d.A == "-" && d.B == "-" {
		return trouble{fmt.Errorf("only one file can be standard input")}
	}
	r, err := diff.Files(d.A, d.B, diff.Options{Map: d.Map, Ignore: d.Ignore, From: d.From, To: d.To, Clock: d.Clk, History: d.Last})
	if err != nil {
		return trouble{err}
	}
	if d.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	} else {
		_, err = os.Stdout.WriteString(r.String())
	}
	switch {
	case err != nil:
		return trouble{err}
	case r.First != nil:
		f := r.First
		return fmt.Errorf("%s and %s differ at %s in %s", d.A, d.B, f.Stamp(), strings.Join(names(f.Signals, 3), ", "))
	case !r.Equal():
		return fmt.Errorf("%s and %s differ in the width or kind of %s", d.A, d.B, r.Shapes[0].Path)
	}
	return nil
}

// names are those of the first signals.
func names(list []diff.Signal, most int) (out []string) {
	for i, s := range list {
		if i == most {
			return append(out, fmt.Sprintf("%d more", len(list)-most))
		}
		out = append(out, s.Path)
	}
	return out
}
