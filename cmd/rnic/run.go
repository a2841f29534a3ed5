package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"rnic/tb"
)

// runCmd transfers a file. What it prints is the same for the same flags, but
// for the wall time.
type runCmd struct {
	File string `arg:"" optional:"" help:"File to send; without it a built-in payload of 16 KiB. A .yaml or .yml file is a scenario (docs/scenarios.md): it is run and judged, with --seed, --strict, --vcd, --fst, --pcap, --out and --json."`

	MTU     int    `default:"1024" help:"Path MTU in bytes: 256, 512, 1024, 2048 or 4096."`
	QPs     int    `name:"qps" default:"4" help:"Queue pairs, which take the messages in turn."`
	Op      string `default:"send" enum:"send,send-imm,write,write-imm,read,cas,faa" help:"Operation that carries the messages: ${enum}. A read has the file at host b and takes it to host a."`
	MsgSize *int   `help:"Bytes of a message; 4096, of cas and faa 8."`
	Depth   int    `default:"16" help:"Messages that a QP has posted at once."`
	NoPush  bool   `help:"Ring the doorbell only: the NIC fetches every WQE from memory."`
	Seed    uint64 `default:"1" help:"Seed of all that is drawn: the pages of memory, the first PSNs."`
	Strict  bool   `help:"Evaluate the blocks in random order, gate nothing, check every rule."`

	Fault    []string `sep:"none" placeholder:"SPEC" help:"A fault, as 'drop b nth=5' or 'drop 1%'; see above and docs/faults.md. Any number of them."`
	Timeout  *uint8   `help:"Time to wait for an acknowledgement: 4.096 us x 2^N; 14, with --fault a few round trips."`
	RetryCnt *uint8   `help:"Retries of a connection after a timeout or a sequence error, 0 to 7; 0, with --fault as many as the device does."`
	RNRRetry *uint8   `name:"rnr-retry" help:"Retries after an RNR NAK; as --retry-cnt."`

	timing    `embed:""`
	viewFlags `embed:""`

	VCD     bool          `help:"Write the waveforms as a VCD, and a GTKWave save file beside them."`
	FST     bool          `name:"fst" help:"Write the waveforms as an FST, with the save file: much smaller, opens at once."`
	Profile string        `default:"rich" enum:"rich,portable" help:"Dialect of the waveforms: ${enum}."`
	Pcap    bool          `help:"Write the packets of each port; with --story each with a comment: its WR, cycle and cause."`
	Story   bool          `help:"Write what happened, and why, as story.json, which rnic explain reads, and as rnic.log."`
	Out     string        `default:"out" help:"Folder for the files."`
	Scope   []string      `help:"Trace only these parts of the hierarchy, as host_a.nic.ack_gen."`
	From    time.Duration `help:"Trace from this simulated time on."`
	To      time.Duration `help:"Trace up to this simulated time."`
	Stats   bool          `help:"Print the counters of both NICs that are not 0."`
	All     bool          `help:"With --stats: all counters."`
	JSON    bool          `help:"Print the result as JSON."`
}

// Run does the transfer, or runs the scenario, and prints what came of it.
func (r *runCmd) Run() error {
	if isScenario(r.File) {
		return r.scenario()
	}
	c, err := r.config(r.Seed)
	if err != nil {
		return err
	}
	c.Strict = r.Strict
	if err := r.window(); err != nil {
		return err
	}
	data, file, err := payload(r.File)
	if err != nil {
		return err
	}
	defer file.Close()
	job, err := r.job(data)
	if err != nil {
		return err
	}
	if job.Faults, err = r.faults(); err != nil {
		return err
	}
	b, err := tb.New(c)
	if err != nil {
		return err
	}
	defer b.Close()
	out, err := r.open(b)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	update, done := progress(job.Messages())
	job.Progress = func(cycle uint64, received int) {
		if ctx.Err() != nil {
			b.Hosts[0].K.Stop()
		}
		update(cycle, received)
	}
	start := time.Now()
	res, err := job.Run(b)
	wall := time.Since(start)
	done()
	if err := out.finish(b.World.Now()); err != nil {
		return err // a full disk ends the run too, but this names the cause
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("interrupted after %d cycles", b.World.Now())
	}
	if err != nil {
		return faulty(r.explained(err, r.transferAgain(c, job)), job.Faults)
	}
	rep := newReport(res, wall, r.Seed, out.files)
	rep.Faults = faultLines(job.Faults)
	rep.Op = r.Op
	if r.Stats {
		rep.Counters = counters(&res, r.All)
	}
	if r.JSON {
		return rep.json(os.Stdout)
	}
	return rep.table(os.Stdout)
}
