// Command rnic runs the model of the RDMA NIC: transfers, benches, tables.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"
)

// cli is the command line.
type cli struct {
	Run     runCmd     `cmd:"" help:"Move a file from one host to the other and verify it."`
	Bench   benchCmd   `cmd:"" help:"Goodput, message rate and latency, in cycles of the model."`
	Replay  replayCmd  `cmd:"" help:"Play a capture of RoCEv2 to the model, and compare it packet by packet."`
	Connect connectCmd `cmd:"" help:"Run one host whose wire leads outside: to QEMU or a TAP device. Standard input drives its verbs."`
	Regs    regsCmd    `cmd:"" help:"List the registers, counters and doorbells of BAR0."`
	Area    areaCmd    `cmd:"" help:"Flip-flop and RAM bits of each block."`
	Diff    diffCmd    `cmd:"" help:"Find where two waveforms differ first, VCD or FST of any tool. Ends with 0 if they are equal, 1 if they differ, 3 after an error."`
	Explain explainCmd `cmd:"" help:"Explain a run that was told with --story: a work request, a QP, a packet, or where the time went."`
	Wave    waveCmd    `cmd:"" help:"Show signals of a waveform, VCD or FST of any tool, as text."`
}

func main() {
	var c cli
	k := kong.Must(&c,
		kong.Name("rnic"),
		kong.Description("A clock-accurate model of a RoCEv2 RDMA NIC with its driver, two hosts and the wire between them."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "help" {
		args = append(args[1:], "--help")
	}
	ctx, err := k.Parse(args)
	k.FatalIfErrorf(err)
	if err := ctx.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "rnic:", err)
		var code kong.ExitCoder
		if errors.As(err, &code) {
			os.Exit(code.ExitCode())
		}
		os.Exit(1)
	}
}
