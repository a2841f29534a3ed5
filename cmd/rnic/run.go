package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"text/tabwriter"
	"time"

	"rnic/roce"
	"rnic/tb"
	"rnic/tb/transfer"
)

// runCmd transfers a file. What it prints is the same for the same flags, but
// for the wall time.
type runCmd struct {
	File string `arg:"" optional:"" help:"File to send; without it a built-in payload of 16 KiB."`

	MTU     int    `default:"1024" help:"Path MTU in bytes: 256, 512, 1024, 2048 or 4096."`
	QPs     int    `name:"qps" default:"4" help:"Queue pairs, which take the messages in turn."`
	MsgSize int    `default:"4096" help:"Bytes of a message."`
	Depth   int    `default:"16" help:"Messages that a QP has posted at once."`
	Seed    uint64 `default:"1" help:"Seed of all that is drawn: pages, PSNs, order of completions."`
	Strict  bool   `help:"Evaluate the blocks in random order, gate nothing, check every rule."`

	timing `embed:""`

	VCD     bool          `help:"Write the waveforms, and a GTKWave save file beside them."`
	Profile string        `default:"rich" enum:"rich,portable" help:"Dialect of the VCD: ${enum}."`
	Pcap    bool          `help:"Write the packets of each port."`
	Out     string        `default:"out" help:"Folder for the files."`
	Scope   []string      `help:"Trace only these parts of the hierarchy, as host_a.nic.ack_gen."`
	From    time.Duration `help:"Trace from this simulated time on."`
	To      time.Duration `help:"Trace up to this simulated time."`
	JSON    bool          `help:"Print the result as JSON."`
}

// timing is the world around the NICs.
type timing struct {
	LinkRate    int           `default:"100" help:"Rate of the wire in Gb/s."`
	LinkLatency time.Duration `default:"300ns" help:"Latency of the wire, one way."`
	PcieLatency time.Duration `default:"250ns" help:"Latency of PCIe, one way, for register accesses, reads and writes."`
}

// config is the bench that the flags describe.
func (t *timing) config(seed uint64) (tb.Config, error) {
	c := tb.Config{Seed: seed}
	switch {
	case t.LinkRate < 1 || t.LinkRate > 100:
		return c, fmt.Errorf("--link-rate %d: must be 1 to 100 Gb/s", t.LinkRate)
	case t.LinkLatency < 20*time.Nanosecond || t.LinkLatency > time.Second:
		return c, fmt.Errorf("--link-latency %v: must be 20ns to 1s", t.LinkLatency)
	case t.PcieLatency < 0 || t.PcieLatency > time.Second:
		return c, fmt.Errorf("--pcie-latency %v: must be 0 to 1s", t.PcieLatency)
	}
	c.SetLink(t.LinkRate, t.LinkLatency.Nanoseconds()*1000)
	c.SetPCIe(t.PcieLatency.Nanoseconds() * 1000)
	return c, nil
}

// builtin is the payload without a FILE.
func builtin() []byte {
	b := make([]byte, 16<<10)
	rng := rand.NewChaCha8([32]byte{'r', 'n', 'i', 'c'})
	_, _ = rng.Read(b) // never fails
	return b
}

// report is the JSON form of a run.
type report struct {
	Verified      bool     `json:"verified"`
	Messages      int      `json:"messages"`
	Packets       int      `json:"packets"`
	Bytes         int64    `json:"bytes"`
	Cycles        uint64   `json:"cycles"`
	SimNs         float64  `json:"sim_ns"`
	GoodputGbps   float64  `json:"goodput_gbps"`
	WireLimitGbps float64  `json:"wire_limit_gbps"`
	WallS         float64  `json:"wall_s"`
	CyclesPerS    float64  `json:"cycles_per_s"`
	Seed          uint64   `json:"seed"`
	Files         []string `json:"files"`

	nsPerMessage float64 // at the receiver, 0 for one message
}

// Run does the transfer and prints what came of it.
func (r *runCmd) Run() error {
	data := builtin()
	if r.File != "" {
		var err error
		if data, err = os.ReadFile(r.File); err != nil {
			return err
		}
	}
	mtu, ok := roce.MTUOf(r.MTU)
	if !ok {
		return fmt.Errorf("--mtu %d: must be 256, 512, 1024, 2048 or 4096", r.MTU)
	}
	c, err := r.config(r.Seed)
	if err != nil {
		return err
	}
	c.Strict = r.Strict
	job := transfer.Job{Data: data, MTU: mtu, QPs: r.QPs, MsgSize: r.MsgSize, Depth: r.Depth}
	if err := job.Check(); err != nil {
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
	update, done := progress(job.Messages())
	job.Progress = update
	start := time.Now()
	res, err := job.Run(b)
	done()
	if closeErr := out.close(); closeErr != nil {
		return closeErr // a full disk ends the run too, but this names the cause
	}
	if err != nil {
		return err
	}
	wall := time.Since(start).Seconds()
	rep := report{
		Verified: true, Messages: res.Messages, Packets: res.Packets, Bytes: res.Bytes, Cycles: res.Cycles,
		SimNs: float64(res.Cycles) * tb.PeriodPs / 1000, GoodputGbps: res.GoodputGbps, WireLimitGbps: res.WireLimitGbps,
		WallS: wall, CyclesPerS: float64(res.Cycles) / wall, Seed: r.Seed, Files: out.files,
		nsPerMessage: res.CyclesPerMessage * tb.PeriodPs / 1000,
	}
	if r.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(rep)
	}
	return rep.print()
}

func (p *report) print() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "messages\t%d, all verified at the far side\n", p.Messages)
	fmt.Fprintf(w, "packets\t%d\n", p.Packets)
	fmt.Fprintf(w, "bytes\t%d\n", p.Bytes)
	fmt.Fprintf(w, "cycles\t%d\n", p.Cycles)
	fmt.Fprintf(w, "simulated time\t%.3f us\n", p.SimNs/1000)
	fmt.Fprintf(w, "goodput\t%.2f Gb/s of %.2f that the wire allows\n", p.GoodputGbps, p.WireLimitGbps)
	if p.nsPerMessage > 0 {
		fmt.Fprintf(w, "time a message\t%.1f ns\n", p.nsPerMessage)
	}
	fmt.Fprintf(w, "wall time\t%.2f s, %.0f cycles/s\n", p.WallS, p.CyclesPerS)
	for _, f := range p.Files {
		fmt.Fprintf(w, "wrote\t%s\n", f)
	}
	return w.Flush()
}
