package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"rnic/tb"
)

// areaCmd adds up the storage of a NIC of default sizes.
type areaCmd struct {
	All bool `help:"One line a module instead of one a block."`
}

// Run prints flip-flop bits and RAM bits, and the sum.
func (a areaCmd) Run() error {
	b, err := tb.New(tb.Config{})
	if err != nil {
		return err
	}
	defer b.Close()
	const nic = "host_a.nic."
	type usage struct{ ff, ram int }
	var names []string
	blocks := map[string]*usage{}
	var sum usage
	for _, u := range b.Hosts[0].K.Area() {
		name, ok := strings.CutPrefix(u.Path, nic)
		if !ok {
			continue
		}
		if !a.All {
			name, _, _ = strings.Cut(name, ".")
		}
		if blocks[name] == nil {
			names, blocks[name] = append(names, name), &usage{}
		}
		blocks[name].ff += u.FlipFlopBits
		blocks[name].ram += u.RAMBits
		sum.ff += u.FlipFlopBits
		sum.ram += u.RAMBits
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "block\tflip-flops\tRAM bits\tRAM KiB\t")
	for _, n := range names {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f\t\n", n, blocks[n].ff, blocks[n].ram, float64(blocks[n].ram)/8192)
	}
	fmt.Fprintf(w, "all\t%d\t%d\t%.1f\t\n", sum.ff, sum.ram, float64(sum.ram)/8192)
	return w.Flush()
}
