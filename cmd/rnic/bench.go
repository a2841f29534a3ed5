package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"rnic/tb"
)

// benchCmd measures rates and latencies. All of it is simulated time, and so the
// same on every machine.
type benchCmd struct {
	Seed uint64 `default:"1" help:"Seed of all that is drawn."`

	timing `embed:""`

	Sweep  bool   `help:"Also all sizes over all MTUs, all numbers of QPs, all PCIe profiles: a minute or more."`
	Stages bool   `help:"Only the way of one message of each kind, stage by stage."`
	Loss   bool   `help:"Only what lost packets cost, and how fast they are repaired: a minute or more."`
	CSV    string `name:"csv" placeholder:"DIR" help:"Write tables and pictures to this folder."`
	JSON   bool   `help:"Print the results as JSON."`
}

// row is one result. A rate has no latency, and a latency no rate. Both ways, the
// goodput is that of the slower one. Latency is the median.
type row struct {
	Name          string  `json:"name"`
	Op            string  `json:"op"`
	Size          int     `json:"size"`
	QPs           int     `json:"qps"`
	MTU           int     `json:"mtu"`
	GoodputGbps   float64 `json:"goodput_gbps"` // of atomics 0
	WireLimitGbps float64 `json:"wire_limit_gbps"`
	CyclesPerMsg  float64 `json:"cycles_per_msg"`
	Lost          int     `json:"lost"` // messages of UC and UD that the receiver had no room for
	LatencyNs     float64 `json:"latency_ns"`
	P99Ns         float64 `json:"p99_ns"` // of a sample
	P999Ns        float64 `json:"p99.9_ns"`
	Profile       string  `json:"pcie_profile"` // of a sample
}

const nsPerCycle = tb.PeriodPs / 1000.0

// results are what the bench prints.
type results struct {
	Rows   []row `json:"rows"`
	Stages []way `json:"stages"`
	// Traffic is of the sweep.
	Traffic []traffic `json:"traffic,omitempty"`

	samples []sample
}

// Run measures and prints.
func (c *benchCmd) Run() error {
	if c.Loss {
		return c.runLoss()
	}
	r, err := c.measure()
	if err != nil {
		return err
	}
	if c.CSV != "" {
		if err := r.write(c.CSV); err != nil {
			return err
		}
	}
	if c.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	if !c.Stages {
		if err := printRows(os.Stdout, r.Rows); err != nil {
			return err
		}
	}
	return printWays(os.Stdout, r.Stages)
}

// measure runs all loads and samples, with Stages none, and follows all ways.
func (c *benchCmd) measure() (results, error) {
	var res results
	cfg, err := c.config(c.Seed)
	if err != nil {
		return res, err
	}
	var ls []load
	if !c.Stages {
		ls, res.samples = loads(), c.samples()
	}
	if c.Sweep && !c.Stages {
		ls = append(ls, sweep()...)
	}
	for _, l := range ls {
		r, err := l.run(cfg)
		if err != nil {
			return res, err
		}
		res.Rows = append(res.Rows, r)
	}
	for i := range res.samples {
		s := &res.samples[i]
		if err := s.draw(cfg, c.roundTrip()); err != nil {
			return res, err
		}
		res.Rows = append(res.Rows, s.row())
	}
	if c.Sweep && !c.Stages {
		res.Traffic = traffics()
	}
	for i := range res.Traffic {
		if err := res.Traffic[i].run(cfg); err != nil {
			return res, err
		}
	}
	for _, f := range followed {
		w, err := follow(cfg, f.op, f.mode, 8)
		if err != nil {
			return res, fmt.Errorf("latency: %w", err)
		}
		res.Stages = append(res.Stages, w)
		res.Rows = append(res.Rows, row{Name: w.Name, Op: w.Op, Size: w.size, QPs: 1, MTU: 1024, LatencyNs: w.LatencyNs})
	}
	return res, nil
}

// printRows prints the table of all results.
func printRows(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "name\top\tbytes\tQPs\tMTU\tGb/s\tlimit\t%\tcycles/msg\tM msg/s\tlost\tlatency ns\tp99\tp99.9\tPCIe\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t", r.Name, r.Op, r.Size, r.QPs, r.MTU)
		switch {
		case r.P99Ns > 0:
			fmt.Fprintf(w, "\t\t\t\t\t\t%.0f\t%.0f\t%.0f\t%s\t\n", r.LatencyNs, r.P99Ns, r.P999Ns, r.Profile)
			continue
		case r.LatencyNs > 0:
			fmt.Fprintf(w, "\t\t\t\t\t\t%.0f\t\t\t\t\n", r.LatencyNs)
			continue
		case r.GoodputGbps > 0:
			fmt.Fprintf(w, "%.2f\t%.2f\t%.1f\t", r.GoodputGbps, r.WireLimitGbps, 100*r.GoodputGbps/r.WireLimitGbps)
		default:
			fmt.Fprint(w, "\t\t\t")
		}
		fmt.Fprintf(w, "%.2f\t%.2f\t%d\t\t\t\t\t\n", r.CyclesPerMsg, r.rate(), r.Lost)
	}
	return w.Flush()
}

// rate is in million messages a second.
func (r *row) rate() float64 { return 1000 / (r.CyclesPerMsg * nsPerCycle) }
