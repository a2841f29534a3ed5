// Command compare times the design of package nic on hdl against the same one in
// Verilog under Verilator, both in turns in one run, and prints a table.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"rnic/bench/kernel/verilog"
)

func main() {
	rounds := flag.Int("rounds", 40, "runs of each, taken in turns")
	cycles := flag.Int("cycles", 20_000, "clock cycles a run; a tenth with VCD")
	flag.Parse()
	if err := compare(*rounds, *cycles); err != nil {
		fmt.Fprintln(os.Stderr, "bench-kernel:", err)
		os.Exit(1)
	}
}

func compare(rounds, cycles int) error {
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
			p.close()
		}
	}()
	for i, b := range builds {
		program, err := verilog.Build(filepath.Join(dir, fmt.Sprint(i)), b)
		if err != nil {
			return err
		}
		for _, load := range loads {
			p, err := newPair(program, b, load, dir)
			if err != nil {
				return err
			}
			pairs = append(pairs, p)
		}
	}
	for range rounds {
		for _, p := range pairs {
			if err := p.turn(cycles); err != nil {
				return err
			}
		}
	}
	print(os.Stdout, pairs, rounds, cycles)
	return nil
}
