package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"text/tabwriter"

	"rnic/roce"
	"rnic/tb"
	"rnic/tb/latency"
	"rnic/tb/transfer"
)

// benchCmd measures rates and latencies. All of it is simulated time, and so the
// same on every machine.
type benchCmd struct {
	Seed uint64 `default:"1" help:"Seed of all that is drawn."`

	timing `embed:""`

	Stages bool `help:"Only the way of one message, stage by stage."`
	JSON   bool `help:"Print the results as JSON."`
}

// row is one result. A rate has no latency, and a latency no rate.
type row struct {
	Name          string  `json:"name"`
	Op            string  `json:"op"`
	Size          int     `json:"size"`
	QPs           int     `json:"qps"`
	MTU           int     `json:"mtu"`
	GoodputGbps   float64 `json:"goodput_gbps"`
	WireLimitGbps float64 `json:"wire_limit_gbps"`
	CyclesPerMsg  float64 `json:"cycles_per_msg"`
	LatencyNs     float64 `json:"latency_ns"`
}

// way is the stages of one latency.
type way struct {
	Name      string  `json:"name"`
	T         uint64  `json:"t_cycles"` // doorbell at the NIC to first bit on the wire, less PCIe reads
	X         uint64  `json:"x_cycles"` // last bit at the peer to the payload's write leaving
	PayloadNs float64 `json:"payload_ns"`
	CQENs     float64 `json:"cqe_ns"`
	SendCQENs float64 `json:"send_cqe_ns"`
	Stages    []stage `json:"stages"`
	Return    []stage `json:"return"` // from the payload's write to the sender's CQE

	cycles, size int
}

// stage is one line of a way.
type stage struct {
	Stage  string  `json:"stage"`
	Block  string  `json:"block"`
	Cycles uint64  `json:"cycles"`
	Ns     float64 `json:"ns"`
	Since  uint64  `json:"since_doorbell"` // its end, cycles
}

// load is a stream of SENDs to measure.
type load struct {
	name                   string
	size, qps, mtu         int
	messages, depth, batch int
}

// loads are what the bench runs.
func loads() []load {
	var ls []load
	for _, mtu := range []int{256, 512, 1024, 2048, 4096} {
		ls = append(ls, load{"goodput", 64 << 10, 1, mtu, 32, 8, 1})
	}
	for _, size := range []int{1, 63, 65} {
		ls = append(ls, load{"odd size", size, 16, 1024, 4000, 64, 8})
	}
	for _, size := range []int{1023, 1025} {
		ls = append(ls, load{"odd size", size, 4, 1024, 1000, 16, 4})
	}
	for _, size := range []int{4097, 65535, 65537} {
		ls = append(ls, load{"odd size", size, 1, 1024, max(32, 1<<20/size), 16, 4})
	}
	for _, qps := range []int{1, 2, 4, 8, 16, 64, 256} {
		ls = append(ls, load{"message rate", 64, qps, 1024, max(1000, min(200*qps, 8000)), 64, 8})
	}
	return ls
}

const nsPerCycle = tb.PeriodPs / 1000.0

// results are what the bench prints.
type results struct {
	Rows   []row `json:"rows"`
	Stages []way `json:"stages"`
}

// Run measures and prints.
func (c *benchCmd) Run() error {
	r, err := c.measure()
	if err != nil {
		return err
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

// measure runs all loads, with Stages none, and all latencies.
func (c *benchCmd) measure() (results, error) {
	var res results
	cfg, err := c.config(c.Seed)
	if err != nil {
		return res, err
	}
	if !c.Stages {
		for _, l := range loads() {
			r, err := l.run(cfg)
			if err != nil {
				return res, fmt.Errorf("%s, %d bytes, %d QPs, MTU %d: %w", l.name, l.size, l.qps, l.mtu, err)
			}
			res.Rows = append(res.Rows, r)
		}
	}
	for _, m := range latency.Modes {
		w, err := follow(cfg, m, 8)
		if err != nil {
			return res, fmt.Errorf("latency: %w", err)
		}
		res.Stages = append(res.Stages, w)
		res.Rows = append(res.Rows, row{Name: w.Name, Op: "SEND", Size: w.size, QPs: 1, MTU: 1024, LatencyNs: w.CQENs})
	}
	return res, nil
}

// run does a load on a fresh bench.
func (l *load) run(c tb.Config) (row, error) {
	b, err := tb.New(c)
	if err != nil {
		return row{}, err
	}
	defer b.Close()
	mtu, _ := roce.MTUOf(l.mtu)
	data := make([]byte, l.size*l.messages)
	_, _ = rand.NewChaCha8([32]byte{'r', 'n', 'i', 'c'}).Read(data) // never fails
	job := transfer.Job{Data: bytes.NewReader(data), MTU: mtu, QPs: l.qps, MsgSize: l.size, Depth: l.depth, Batch: l.batch}
	r, err := job.Run(b)
	return row{
		Name: l.name, Op: "SEND", Size: l.size, QPs: l.qps, MTU: l.mtu,
		GoodputGbps: r.GoodputGbps, WireLimitGbps: r.WireLimitGbps, CyclesPerMsg: r.CyclesPerMessage,
	}, err
}

// follow measures the way of one message.
func follow(c tb.Config, m latency.Mode, size int) (way, error) {
	r, err := latency.Measure(c, m, size)
	if err != nil {
		return way{}, err
	}
	return way{
		Name: fmt.Sprintf("latency, %s", m), T: r.T, X: r.X,
		PayloadNs: float64(r.Payload) * nsPerCycle, CQENs: float64(r.CQE) * nsPerCycle, SendCQENs: float64(r.SendCQE) * nsPerCycle,
		Stages: stages(r.Stages), Return: stages(r.Return), cycles: int(r.CQE), size: size,
	}, nil
}

func stages(from []latency.Stage) []stage {
	var to []stage
	for _, s := range from {
		to = append(to, stage{s.Name, s.Block, s.Cycles, float64(s.Cycles) * nsPerCycle, s.Since})
	}
	return to
}

// printRows prints the table of all results.
func printRows(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "name\top\tbytes\tQPs\tMTU\tGb/s\tlimit\t%\tcycles/msg\tM msg/s\tlatency ns\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t", r.Name, r.Op, r.Size, r.QPs, r.MTU)
		if r.LatencyNs > 0 {
			fmt.Fprintf(w, "\t\t\t\t\t%.0f\t\n", r.LatencyNs)
			continue
		}
		fmt.Fprintf(w, "%.2f\t%.2f\t%.1f\t%.2f\t%.2f\t\t\n", r.GoodputGbps, r.WireLimitGbps,
			100*r.GoodputGbps/r.WireLimitGbps, r.CyclesPerMsg, 1000/(r.CyclesPerMsg*nsPerCycle))
	}
	return w.Flush()
}

// printWays prints the stages of each way, then what they come to.
func printWays(out io.Writer, ways []way) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, y := range ways {
		fmt.Fprintf(w, "\n%s: one SEND of %d bytes, doorbell to the receiver's CQE in memory\n", y.Name, y.size)
		fmt.Fprintln(w, "stage\tblock\tcycles\tns\tsince doorbell")
		for _, s := range y.Stages {
			fmt.Fprintf(w, "%s\t%s\t%d\t%.0f\t%d\n", s.Stage, s.Block, s.Cycles, s.Ns, s.Since)
		}
		fmt.Fprintf(w, "sum\t\t%d\t%.0f\t\n", y.cycles, y.CQENs)
		fmt.Fprintln(w, "and back from the payload's write to the sender's CQE\t\t\t\t")
		for _, s := range y.Return {
			fmt.Fprintf(w, "%s\t%s\t%d\t%.0f\t%d\n", s.Stage, s.Block, s.Cycles, s.Ns, s.Since)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nname\tpayload ns\tCQE ns\tsender's CQE ns\tT\tX\tT+X cycles\t")
	for _, y := range ways {
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.0f\t%d\t%d\t%d\t\n", y.Name, y.PayloadNs, y.CQENs, y.SendCQENs, y.T, y.X, y.T+y.X)
	}
	return w.Flush()
}
