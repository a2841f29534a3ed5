package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"rnic/bench/kernel/verilog"
)

func table(w io.Writer, pairs []*pair, plan plan) {
	fmt.Fprintf(w, "%s\nverilator %s; g++ %s\n", verilog.Version(), strings.Join(verilog.Flags, " "), verilog.CFlags)
	fmt.Fprintf(w, "ns of processor time a clock: %d runs of each, in turns, of %d cycles\n\n", plan.rounds, plan.cycles)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
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
