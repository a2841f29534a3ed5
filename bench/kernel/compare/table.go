package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"rnic/bench/kernel/verilog"
)

func print(w io.Writer, pairs []*pair, rounds, cycles int) {
	fmt.Fprintf(w, "%s\nverilator %v; g++ %s\nns a clock, %d runs of each in turns, %d cycles a run\n\n", verilog.Version(), verilog.Flags, verilog.CFlags, rounds, cycles)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "load\tCRC\tVCD\thdl min\tmedian\tVerilator min\tmedian\tratio min\tmedian\t")
	for _, p := range pairs {
		a, b := summary(p.ours), summary(p.theirs)
		fmt.Fprintf(t, "%s\t%s\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.3f\t%.3f\t\n",
			p.load.name, yes(p.build.CRC), yes(p.build.Trace), a.min, a.median, b.min, b.median, a.min/b.min, a.median/b.median)
	}
	t.Flush()
	fmt.Fprintln(w, "\nratio: hdl to Verilator, below 1 where hdl is faster. Counts and checksums were equal after every run.")
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

type stats struct{ min, median float64 }

func summary(x []float64) stats {
	s := slices.Sorted(slices.Values(x))
	return stats{s[0], s[len(s)/2]}
}
