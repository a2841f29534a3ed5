package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"rnic/bench/kernel/verilog"
)

// countChanges is the value changes in a VCD: the lines after its header that are
// neither time stamps nor commands.
func countChanges(file string) (n int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	body := false
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return 0, err
		case !body:
			body = strings.HasPrefix(string(line), "$enddefinitions")
		case line[0] != '#' && line[0] != '$' && line[0] != '\n':
			n++
		}
	}
}

// wavesTable prints what waves cost, by load; ratios to the same simulator without
// waves. An FST has the changes of the VCD that shows the same.
func wavesTable(w io.Writer, byLoad [][]*recording, plan plan) {
	fmt.Fprintf(w, "%s\nwhole runs of %d cycles, files on a disk: the least of %d, in turns\n\n", verilog.Version(), plan.cycles, plan.rounds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "load\tsimulator\tshows\tas\tns/clock\ttimes none\twall ns/clock\tchanges/clock\tns/change\tMchanges/s\tB/clock\tVCD:size\tvcd2fst:size\t")
	for i, list := range byLoad {
		var none float64
		var vcd *recording
		for _, r := range list {
			least, wall := summary(r.spent).min, summary(r.lasted).min/float64(plan.cycles)
			fmt.Fprintf(t, "%s\t%s\t%s\t", loads[i].name, r.simulator, r.shows)
			if r.suffix == "" {
				none = least
				fmt.Fprintf(t, "-\t%.0f\t1.0\t%.0f\t\t\t\t\t\t\t\n", least/float64(plan.cycles), wall)
				continue
			}
			if r.suffix == "vcd" {
				vcd = r
			}
			n := float64(vcd.changes)
			fmt.Fprintf(t, "%s\t%.0f\t%.1f\t%.0f\t%.0f\t%.1f\t%.1f\t%.0f\t%.1f\t%.2f\t\n", r.suffix, least/float64(plan.cycles), least/none, wall,
				n/float64(plan.cycles), (least-none)/n, n*1e3/(least-none), float64(r.size)/float64(plan.cycles),
				float64(vcd.size)/float64(r.size), float64(vcd.packed)/float64(r.size))
		}
	}
	t.Flush()
	fmt.Fprintln(w, "\nns/clock is processor time, wall ns/clock what passes: hdl renders and packs on other processors than the kernel's.\nns/change and changes/s: what the run takes more than one without waves. VCD:size, vcd2fst:size: of the VCD\nthat shows the same, and of what vcd2fst -4 makes of it, to this file.")
}
