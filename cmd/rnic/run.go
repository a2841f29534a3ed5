package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"rnic/tb"
	"rnic/tb/hang"
	"rnic/tb/story"
)

// runCmd transfers a file. What it prints is the same for the same flags, but
// for the wall time.
type runCmd struct {
	File string `arg:"" optional:"" help:"File to send; without it a built-in payload of 16 KiB. A .yaml or .yml file is a scenario (docs/scenarios.md): it is run and judged; of the flags those of waves, captures and the story, --seed, --strict, --out and --json are for it too."`

	MTU       int     `default:"1024" help:"Path MTU in bytes: 256, 512, 1024, 2048 or 4096."`
	QPs       int     `name:"qps" default:"4" help:"Queue pairs, 1 to 512, which take the messages in turn."`
	Transport string  `default:"rc" enum:"rc,uc,ud" help:"Type of the queue pairs: ${enum}. Those of ud send to all of host b in turn. Of uc and ud messages may be lost."`
	SRQ       bool    `name:"srq" help:"The queue pairs of host b share one receive queue."`
	IPv6      bool    `name:"ipv6" help:"Packets are IPv6, else IPv4."`
	VLAN      *uint16 `name:"vlan" placeholder:"TCI" help:"Frames carry an 802.1Q tag of this tag control: priority x 8192 + DEI x 4096 + VLAN, 0 to 4094."`
	Op        string  `default:"send" enum:"send,send-imm,write,write-imm,read,cas,faa" help:"Operation that carries the messages: ${enum}; of uc the first four, of ud the first two. A read has the file at host b and takes it to host a."`
	MsgSize   *int    `help:"Bytes of a message, 1 to 67108864; 4096, of cas and faa 8, of ud the MTU, which is the most."`
	Depth     int     `default:"16" help:"Messages that a QP has posted at once."`
	NoPush    bool    `help:"Ring the doorbell only: the NIC fetches every WQE from memory."`
	Seed      uint64  `default:"1" help:"Seed of all that is drawn: the pages of memory, the first PSNs."`
	Strict    bool    `help:"Evaluate the blocks in random order, gate nothing, check every rule."`

	Fault    []string `sep:"none" placeholder:"SPEC" help:"A fault, as 'drop b nth=5' or 'drop 1%'; see above and docs/faults.md. Any number of them."`
	Timeout  *uint8   `help:"Time to wait for an acknowledgement: 4.096 us x 2^N; 14, with --fault a few round trips."`
	RetryCnt *uint8   `help:"Retries of a connection after a timeout or a sequence error, 0 to 7; 0, with --fault as many as the device does."`
	RNRRetry *uint8   `name:"rnr-retry" help:"Retries after an RNR NAK; as --retry-cnt."`
	Plug     string   `placeholder:"SPEC" help:"A module of a test between two blocks, as 'b payload stop=2', which takes nothing any more, loses a beat or breaks a rule; see docs/debugging.md."`

	timing    `embed:""`
	viewFlags `embed:""`

	VCD     bool     `help:"Write the waveforms as a VCD, and a GTKWave save file beside them."`
	FST     bool     `name:"fst" help:"Write the waveforms as an FST, with the save file: much smaller, opens at once."`
	Profile string   `default:"rich" enum:"rich,portable" help:"Dialect of the waveforms: ${enum}."`
	Waves   string   `default:"all" enum:"all,control" help:"What the waveforms have: ${enum}. Control is all but payload, which is what streams carry and arrays of over 40 bytes: a quarter of the FST of a small run, an eleventh of that of 3 MB."`
	Pcap    bool     `help:"Write the packets of each port; with --story each with a comment: its WR, cycle and cause."`
	Story   bool     `help:"Write what happened, and why, as story.json, which rnic explain reads, and as rnic.log."`
	Out     string   `default:"out" help:"Folder for the files."`
	Scope   []string `help:"Trace only these parts of the hierarchy, as host_a.nic.ack_gen."`
	From    *instant `placeholder:"TIME" help:"Trace from this simulated time on: 123ns, 1.5us, or c1234 for a cycle."`
	To      *instant `placeholder:"TIME" help:"Trace up to this simulated time."`
	Around  *string  `placeholder:"EVENT" help:"Run again with waves (FST) of a window around an event: nak, rnr, retry, timeout, cqe-error, drop, hang, assertion, 'qp 5 psn 0x12' or 'cycle 1000'; '#2' behind it asks for the second."`
	Before  uint64   `default:"2000" help:"With --around: cycles before the event."`
	After   uint64   `default:"500" help:"With --around: cycles after it."`
	Stats   bool     `help:"Print the counters of both NICs that are not 0."`
	All     bool     `help:"With --stats: all counters."`
	JSON    bool     `help:"Print the result as JSON."`
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
	if r.Plug != "" {
		if c.Insert, err = hang.ParsePlug(r.Plug); err != nil {
			return fmt.Errorf("--%w", err)
		}
	}
	if err := r.window(); err != nil {
		return err
	}
	ev, err := r.around()
	if err != nil {
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	out, err := r.open(b, job.QPs)
	if err != nil {
		return err
	}
	if err := ev.watch(b); err != nil {
		return errors.Join(err, out.close())
	}
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
	failure := ""
	switch {
	case err != nil && ctx.Err() != nil:
		failure = story.Interrupted(b.World.Now())
	case err != nil:
		failure = err.Error()
	}
	if err := out.finish(b.World.Now(), failure); err != nil {
		return err // a full disk ends the run too, but this names the cause
	}
	if err != nil && ctx.Err() != nil {
		return errors.Join(fmt.Errorf("interrupted after %d cycles", b.World.Now()), out.wrote())
	}
	files, e := r.show(ev, err, r.transferAgain(c, job))
	out.files = append(out.files, files...)
	if err != nil {
		return errors.Join(faulty(r.explained(err, r.transferAgain(c, job)), job.Faults), e, out.wrote())
	}
	if e != nil {
		return errors.Join(e, out.wrote())
	}
	rep := newReport(res, wall, r.Seed, out.files)
	rep.Faults = faultLines(job.Faults)
	rep.Op, rep.Transport = r.Op, r.Transport
	if r.Stats {
		rep.Counters = counters(&res, r.All)
	}
	if r.JSON {
		return rep.json(os.Stdout)
	}
	return rep.table(os.Stdout)
}
