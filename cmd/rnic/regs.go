package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"rnic/abi"
)

// regsCmd lists what package abi describes. docs/registers.md says more.
type regsCmd struct{}

// Run prints registers with their fields, then the counters.
func (regsCmd) Run() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "OFFSET\tREGISTER\tACCESS\tRESET\tBITS\tFIELD\tMEANING")
	for _, r := range abi.Registers() {
		fmt.Fprintf(w, "%#06x\t%s\t%s\t0x%08x\t\t\t%s\n", r.Offset, r.Name, r.Access, r.Reset, r.Doc)
		for _, f := range r.Fields {
			if f.Reserved || len(r.Fields) == 1 {
				continue
			}
			fmt.Fprintf(w, "\t\t\t\t%s\t%s\t%s\n", span(f.BitOffset, f.Width), f.Name, f.Doc)
		}
	}
	fmt.Fprintln(w, "\nOFFSET\tCOUNTER\t\t\t\t\tMEANING")
	for _, c := range abi.Counters() {
		fmt.Fprintf(w, "%#06x\t%s\t\t\t\t\t%s\n", abi.CounterAddr(c), c, c.Doc())
	}
	fmt.Fprintf(w, "\n%#06x\tMSI-X table, %d vectors of 16 bytes; pending bits at %#x\n", abi.MSIXTableBase, abi.MSIXCount, abi.MSIXPBABase)
	fmt.Fprintf(w, "%#06x\t%d doorbell pages of %d bytes: doorbell at 0, pushed WQE at %#x\n", abi.UARBase, abi.UARPages, abi.PageSize, abi.PushOffset)
	return w.Flush()
}

// span is a bit range as data sheets write it.
func span(offset, width int) string {
	if width == 1 {
		return fmt.Sprintf("[%d]", offset)
	}
	return fmt.Sprintf("[%d:%d]", offset+width-1, offset)
}
