package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/transfer"
)

// traffic is a stream of messages whose CPUs poll: they come at random times at
// Share of the rate that the wire allows, or, of no Share, as fast as they can.
type traffic struct {
	Op       string  `json:"op"`
	Size     int     `json:"size"`
	QPs      int     `json:"qps"`
	Share    float64 `json:"offered_share"`
	Rate     float64 `json:"mmsg_per_s"`
	WireRate float64 `json:"wire_mmsg_per_s"` // the most that the wire allows
	P50Ns    float64 `json:"p50_ns"`          // due to completion seen; of no Share 0
	P99Ns    float64 `json:"p99_ns"`
	PCIe     [2]pcie `json:"pcie"` // of the requester and the responder

	op              abi.WQEOp
	messages, depth int
}

// pcie is what a message takes of a host's link, headers included.
type pcie struct {
	Up       float64 `json:"up_bytes_per_msg"`
	Down     float64 `json:"down_bytes_per_msg"`
	MaxReads int     `json:"max_reads"` // tags in flight
}

// traffics are those of the sweep: up to 95 % of what the NIC does of messages posted
// one by one, whose reads of WQEs and payloads take all 64 tags; all of the wire,
// which shows that limit; and all sizes as fast as they go.
func traffics() []traffic {
	var ts []traffic
	for _, percent := range []float64{7, 14, 21, 28, 35, 42, 49, 54, 58, 62, 65, 67, 100} {
		ts = append(ts, traffic{op: abi.OpWrite, Size: 64, QPs: 16, Share: percent / 100, messages: 4000, depth: 64})
	}
	for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpRead} {
		for n := 2; n <= 1<<20; n *= 2 {
			ts = append(ts, traffic{op: op, Size: n, QPs: 4, messages: max(16, min(1000, 1<<20/n)), depth: 16})
		}
	}
	return ts
}

// run measures it on a fresh bench.
func (x *traffic) run(c tb.Config) error {
	b, err := tb.New(c)
	if err != nil {
		return err
	}
	defer b.Close()
	data := make([]byte, x.Size*x.messages)
	_, _ = rand.NewChaCha8([32]byte{'r', 'n', 'i', 'c'}).Read(data) // never fails
	job := transfer.Job{
		Data: bytes.NewReader(data), Op: x.op, MTU: roce.MTU1024, QPs: x.QPs, MsgSize: x.Size, Depth: x.depth, Polled: true,
	}
	x.Op, x.WireRate = x.op.String(), wireLimit(c, x.op, x.Size, 1024)*1000/8/float64(x.Size)
	if x.Share > 0 {
		due := x.schedule(c.Seed)
		job.Due = func(i int) uint64 { return due[i] }
	}
	r, err := job.Run(b)
	if err != nil {
		return fmt.Errorf("%v of %d bytes, %d QPs, %.0f %% of the wire: %w", x.op, x.Size, x.QPs, 100*x.Share, err)
	}
	x.Rate = r.GoodputGbps * 1000 / 8 / float64(x.Size)
	if l := r.Latency; len(l) > 0 {
		slices.Sort(l)
		s := sample{cycles: l}
		x.P50Ns, x.P99Ns = s.quantile(500), s.quantile(990)
	}
	for i, p := range r.PCIe {
		x.PCIe[i] = pcie{float64(p.Up) / float64(x.messages), float64(p.Down) / float64(x.messages), p.MaxReads}
	}
	return nil
}

// schedule is when each message is due: the times between are drawn exponentially.
func (x *traffic) schedule(seed uint64) []uint64 {
	rng, mean, at := rand.New(rand.NewPCG(seed, 0)), 1000/(x.Share*x.WireRate*nsPerCycle), 0.0
	due := make([]uint64, x.messages)
	for i := range due {
		at += mean * rng.ExpFloat64()
		due[i] = uint64(math.Round(at))
	}
	return due
}

// writeTraffic writes the table of all traffic, if there was some.
func (r *results) writeTraffic(dir string) error {
	t := [][]string{{
		"op", "bytes", "qps", "offered_share", "mmsg_per_s", "wire_mmsg_per_s", "latency_p50_ns", "latency_p99_ns",
		"requester_up_bytes", "requester_down_bytes", "requester_max_reads", "responder_up_bytes", "responder_down_bytes", "responder_max_reads",
	}}
	for _, x := range r.Traffic {
		line := []string{
			x.Op, strconv.Itoa(x.Size), strconv.Itoa(x.QPs), number(x.Share), round(x.Rate), round(x.WireRate), number(x.P50Ns), number(x.P99Ns),
		}
		for _, p := range x.PCIe {
			line = append(line, round(p.Up), round(p.Down), strconv.Itoa(p.MaxReads))
		}
		t = append(t, line)
	}
	if len(t) == 1 {
		return nil
	}
	return writeCSV(dir, "traffic.csv", t)
}

func (r *results) latencyByLoad() *picture {
	p := newPicture("WRITE of 64 bytes, 16 QPs, posted one by one at random times; the most that the NIC does and the wire (dashed)", "million messages a second", "us, due to completion seen")
	var p50, p99 plotter.XYs
	var limits []float64
	most := 0.0
	for _, x := range r.Traffic {
		switch {
		case x.Share >= 1:
			limits = append(limits, x.Rate, x.WireRate)
		case x.Share > 0:
			p50 = append(p50, plotter.XY{X: x.Rate, Y: x.P50Ns / 1000})
			p99 = append(p99, plotter.XY{X: x.Rate, Y: x.P99Ns / 1000})
			most = max(most, x.P99Ns/1000)
		}
	}
	p.line("p50", 0, false, p50)
	p.line("p99", 1, false, p99)
	for i, limit := range limits {
		p.line("", 2+i, true, plotter.XYs{{X: limit, Y: 0}, {X: limit, Y: most}})
	}
	p.X.Min, p.Y.Min = 0, 0
	p.X.Max *= 1.02
	return p
}

// pcieBySize has a line for each operation and host, of what it gets from a host.
func (r *results) pcieBySize(title, y string, of func(pcie) float64) *picture {
	p := newPicture(title, "bytes of a message", y)
	p.logX(2, 1<<20)
	for i, op := range []string{"WRITE", "READ"} {
		for k, end := range []string{"requester", "responder"} {
			var pts plotter.XYs
			for _, x := range r.Traffic {
				if x.Share == 0 && x.Op == op {
					pts = append(pts, plotter.XY{X: float64(x.Size), Y: of(x.PCIe[k])})
				}
			}
			p.line(op+", "+end, 2*i+k, false, pts)
		}
	}
	return p
}

func (r *results) pcieBytes() *picture {
	p := r.pcieBySize("PCIe bytes, both directions of a host's link, headers included, with the payload (dashed)", "bytes a message",
		func(x pcie) float64 { return x.Up + x.Down })
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	var floor plotter.XYs
	for _, x := range r.Traffic {
		if x.Share == 0 && x.Op == "WRITE" {
			floor = append(floor, plotter.XY{X: float64(x.Size), Y: float64(x.Size)})
		}
	}
	p.line("", 4, true, floor)
	return p
}

func (r *results) pcieReads() *picture {
	p := r.pcieBySize("PCIe reads of the NIC in flight, the most at once", "tags", func(x pcie) float64 { return float64(x.MaxReads) })
	p.Y.Min, p.Y.Max = 0, 100 // room for the legend
	return p
}
