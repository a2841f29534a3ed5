// Command compare times the design of package nic on hdl against the same one in
// Verilog under Verilator, both in turns in one run, and prints a table.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"rnic/bench/kernel/verilog"
)

// plan is how much to run.
type plan struct {
	rounds int    // runs of each pair, taken in turns
	cycles int    // clock cycles a run
	files  string // directory for the files of waves; the null device if empty, of waves alone a temporary one
}

func main() {
	var p plan
	flag.IntVar(&p.rounds, "rounds", 20, "runs of each, taken in turns")
	flag.IntVar(&p.cycles, "cycles", 50_000, "clock cycles a run")
	flag.StringVar(&p.files, "files", "", "write VCD files, 65 KB a cycle in all, to this `directory`, not to the null device")
	onlyWaves := flag.Bool("waves", false, "compare the writing of waves: VCD and FST, speed and size")
	flag.Parse()
	run := compare
	if *onlyWaves {
		run = compareWaves
	}
	if err := run(os.Stdout, p); err != nil {
		fmt.Fprintln(os.Stderr, "bench-kernel:", err)
		os.Exit(1)
	}
}

func compare(w io.Writer, plan plan) (err error) {
	if plan.rounds < 1 || plan.cycles < 1 {
		return fmt.Errorf("%d rounds of %d cycles: at least 1 of 1", plan.rounds, plan.cycles)
	}
	if err := verilog.Missing(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-kernel-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	var pairs []*pair
	defer func() {
		for _, p := range pairs {
			if e := p.close(); err == nil {
				err = e
			}
		}
	}()
	for i, b := range builds {
		program, err := verilog.Build(filepath.Join(dir, fmt.Sprint(i)), b)
		if err != nil {
			return err
		}
		for _, load := range loads {
			p, err := newPair(program, b, load, plan.files)
			if err != nil {
				return err
			}
			pairs = append(pairs, p)
		}
	}
	for range plan.rounds {
		for _, p := range pairs {
			if err := p.turn(plan.cycles); err != nil {
				return err
			}
		}
	}
	table(w, pairs, plan)
	return nil
}
